/** Projects: a repository each, cloned in the background, with what was done in it. */
import { FolderGit2, Plus } from "lucide-react";
import type { Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { type Column, Table, TwoLines } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { AddProject } from "./project-form.tsx";

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
  const [adding, setAdding] = useParam("new");
  const query = usePages("/v1/projects", { query: { limit: 50 } });
  const add = (
    <Button kind="primary" icon={<Plus aria-hidden size={15} />} onClick={() => setAdding("1")}>
      Add a project
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Projects"
        cli="skep projects"
        actions={
          <>
            <ButtonLink href="/onboarding">Onboard a project</ButtonLink>
            {add}
          </>
        }
      />
      <Await query={query} rows={5}>
        {() =>
          query.rows.length === 0 ? (
            <Empty action={add} cli="skep projects add --repository URL">
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
      {adding && <AddProject onClose={() => setAdding("")} />}
    </>
  );
}
