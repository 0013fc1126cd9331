/** Projects: a repository each, cloned in the background, with what was done in it. */
import { FolderGit2, Plus } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, client, fieldError, must, type Schemas } from "../../api/client.ts";
import { refresh, usePages } from "../../api/queries.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Field, Input, Select, TextArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { type Column, Table, TwoLines } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";

type Project = Schemas["Project"];

export function Workspace({ project }: { project: Project }) {
  const { state, error } = project.workspace;
  if (state === "ready") return <Badge tone="ok">Cloned</Badge>;
  if (state === "cloning") return <Badge tone="run">Cloning…</Badge>;
  if (state === "failed") return <Badge tone="bad">{`Clone failed: ${error ?? ""}`}</Badge>;
  return <Badge>No repository</Badge>;
}

const COLUMNS: Column<Project>[] = [
  {
    title: "Project",
    className: "w-1/2 min-w-40",
    cell: ({ name, description, repository }) => <TwoLines first={name} second={description || repository} />,
  },
  { title: "Repository", cell: (project) => <Workspace project={project} /> },
  { title: "State", wide: true, cell: ({ status }) => <Badge>{status}</Badge> },
  { title: "Changed", wide: true, align: "right", cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

export default function ProjectsPage() {
  const [adding, setAdding] = useState(false);
  const query = usePages("/v1/projects", { query: { limit: 50 } });
  const add = (
    <Button kind="primary" icon={<Plus aria-hidden size={15} />} onClick={() => setAdding(true)}>
      Add a project
    </Button>
  );
  return (
    <>
      <PageHeader title="Projects" cli="skep projects" actions={add} />
      <Await query={query} rows={5}>
        {() =>
          query.rows.length === 0 ? (
            <Empty action={add}>
              <FolderGit2 aria-hidden className="mx-auto mb-2 text-faint" />A project is a repository that agents work
              in, each run on a branch of its own.
            </Empty>
          ) : (
            <Table
              label="Projects"
              rows={query.rows}
              columns={COLUMNS}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => `/projects/${id}`}
              more={query}
            />
          )
        }
      </Await>
      {adding && <AddProject onClose={() => setAdding(false)} />}
    </>
  );
}

function AddProject({ onClose }: { onClose(): void }) {
  const action = useAction();
  const [, navigate] = useLocation();
  const pipelines = api.useQuery("get", "/v1/pipelines", { params: { query: { limit: 200 } } });
  return (
    <Dialog title="Add a project" onClose={onClose}>
      <Form
        action={action}
        word="Add"
        onCancel={onClose}
        submit={async ({ text }) => {
          const body = {
            name: text("name"),
            description: text("description"),
            repository: text("repository") || null,
            default_branch: text("default_branch") || null,
            default_pipeline_id: text("default_pipeline_id") || null,
          };
          const project = await must(client.POST("/v1/projects", { body }));
          void refresh("/v1/projects");
          navigate(`/projects/${project.id}`);
        }}
      >
        <Field label="Name" error={fieldError(action.error, "name")}>
          <Input name="name" required autoFocus />
        </Field>
        <Field
          label="Repository"
          hint="https or ssh, without credentials in the address. Left empty, agents work in an empty folder."
          error={fieldError(action.error, "repository")}
        >
          <Input name="repository" placeholder="https://example.org/web.git" spellCheck={false} />
        </Field>
        <Field
          label="Branch"
          hint="Left empty: the repository's own."
          error={fieldError(action.error, "default_branch")}
        >
          <Input name="default_branch" spellCheck={false} />
        </Field>
        <Field label="Pipeline used first" error={fieldError(action.error, "default_pipeline_id")}>
          <Select name="default_pipeline_id" defaultValue="">
            <option value="">None</option>
            {(pipelines.data?.items ?? []).map(({ id, name }) => (
              <option key={id} value={id}>
                {name || id}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Description" error={fieldError(action.error, "description")}>
          <TextArea name="description" rows={2} />
        </Field>
      </Form>
    </Dialog>
  );
}
