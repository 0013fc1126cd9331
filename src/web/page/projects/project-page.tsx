/** One project: its repository, its runs, its code graph's state, its settings. */
import { Network, Play, RotateCw, Settings, SquareKanban, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { api, client, fieldError, must, type Schemas } from "../../api/client.ts";
import { refresh, usePages } from "../../api/queries.ts";
import { useAdmin } from "../../shell/session.tsx";
import { useAction } from "../../ui/action.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { FactRow } from "../../ui/facts.tsx";
import { Field, Input, Select, TextArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Await, Empty, ProblemNote } from "../../ui/note.tsx";
import { PageHeader, Section } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { RUN_COLUMNS } from "../runs/run-columns.tsx";
import { Workspace } from "./projects-page.tsx";

type Project = Schemas["Project"];

export default function ProjectPage() {
  const { id = "" } = useParams<{ id: string }>();
  const query = api.useQuery("get", "/v1/projects/{id}", { params: { path: { id } } });
  return <Await query={query}>{(project) => <ProjectView project={project} />}</Await>;
}

function ProjectView({ project }: { project: Project }) {
  const [dialog, setDialog] = useState<"edit" | "delete" | null>(null);
  const [force, setForce] = useState(false);
  const admin = useAdmin();
  const [, navigate] = useLocation();
  const path = { params: { path: { id: project.id } } };
  const close = () => setDialog(null);
  return (
    <>
      <PageHeader
        title={project.name}
        above={
          <Link href="/projects" className="hover:underline">
            Projects
          </Link>
        }
        about={project.description}
        actions={
          <>
            <ButtonLink href={`/board?project=${project.id}`} icon={<SquareKanban aria-hidden size={14} />}>
              Board
            </ButtonLink>
            <Button icon={<Settings aria-hidden size={14} />} onClick={() => setDialog("edit")}>
              Edit
            </Button>
            {admin && (
              <Button kind="danger" icon={<Trash2 aria-hidden size={14} />} onClick={() => setDialog("delete")}>
                Delete
              </Button>
            )}
            <ButtonLink
              href={`/runs/new?project=${encodeURIComponent(project.name)}${project.default_pipeline_id ? `&pipeline=${project.default_pipeline_id}` : ""}`}
              kind="primary"
              icon={<Play aria-hidden size={14} />}
            >
              Start a run
            </ButtonLink>
          </>
        }
      />
      <FactRow
        facts={[
          ["Repository", project.repository ?? "none"],
          ["Branch", project.default_branch ?? "its own"],
          ["Workspace", <Workspace key="workspace" project={project} />],
          ["Head", project.workspace.head ? <code key="head">{project.workspace.head.slice(0, 12)}</code> : "–"],
          ["State", project.status],
          ["Added", <Ago key="added" at={project.created_at} />],
        ]}
      />
      {project.workspace.state === "failed" && <CloneAgain project={project} />}
      <GraphSummary project={project} />
      <ProjectRuns project={project} />
      {dialog === "edit" && <EditProject project={project} onClose={close} />}
      {dialog === "delete" && (
        <Confirm
          title={`Delete ${project.name}?`}
          word="Delete the project"
          onClose={close}
          act={async () => {
            const query = force ? { force: "true" as const } : {};
            await must(client.DELETE("/v1/projects/{id}", { params: { ...path.params, query } }));
            navigate("/projects");
            await refresh("/v1/projects");
          }}
        >
          Its workspace with all branches of runs and its code graph are removed from this server. Runs and costs stay
          in the lists. This cannot be undone.
          <label className="mt-3 flex items-center gap-2">
            <input type="checkbox" checked={force} onChange={(event) => setForce(event.target.checked)} />
            Also when the work of runs was merged nowhere
          </label>
        </Confirm>
      )}
    </>
  );
}

function CloneAgain({ project }: { project: Project }) {
  const action = useAction();
  const again = () =>
    action.run(async () => {
      await must(client.POST("/v1/projects/{id}/clone", { params: { path: { id: project.id } } }));
      await refresh("/v1/projects");
    });
  return (
    <div className="mb-4">
      <ProblemNote error={action.error} />
      <Button busy={action.busy} icon={<RotateCw aria-hidden size={14} />} onClick={again}>
        Clone again
      </Button>
    </div>
  );
}

function GraphSummary({ project }: { project: Project }) {
  const status = api.useQuery("get", "/v1/projects/{id}/knowledge-graph/status", {
    params: { path: { id: project.id } },
  });
  if (project.workspace.state !== "ready") return null;
  return (
    <Section title="Code graph">
      <Await query={status} rows={1}>
        {({ state, nodes, relationships, files, indexed_at }) => (
          <Link
            href={`/projects/${project.id}/graph`}
            className="flex flex-wrap items-center gap-x-6 gap-y-1 rounded-lg border border-line bg-panel px-4 py-3 hover:bg-hover"
          >
            <Network aria-hidden size={17} className="text-dim" />
            <span className="font-medium">{GRAPH_STATES[state]}</span>
            {nodes > 0 && (
              <span className="text-dim tabular-nums">
                {nodes.toLocaleString()} symbols, {relationships.toLocaleString()} relationships in{" "}
                {files.toLocaleString()} files
              </span>
            )}
            {indexed_at && (
              <span className="text-dim">
                indexed <Ago at={indexed_at} />
              </span>
            )}
          </Link>
        )}
      </Await>
    </Section>
  );
}

const GRAPH_STATES: Record<Schemas["ProjectGraphStatus"]["state"], string> = {
  not_indexed: "Not indexed yet",
  indexing: "Indexing…",
  ready: "Up to date",
  stale: "Older than the code",
  failed: "The last index failed",
};

function ProjectRuns({ project }: { project: Project }) {
  const query = usePages("/v1/runs", { query: { project_id: project.id, limit: 20 } });
  return (
    <Section title="Runs">
      <Await query={query}>
        {() =>
          query.rows.length === 0 ? (
            <Empty cli={`skep run feature "…" --project ${project.name}`}>
              No run has worked here yet. Start one, or put a task on the board.
            </Empty>
          ) : (
            <Table
              label="Runs"
              rows={query.rows}
              columns={RUN_COLUMNS}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => `/runs/${id}`}
              more={query}
            />
          )
        }
      </Await>
    </Section>
  );
}

function EditProject({ project, onClose }: { project: Project; onClose(): void }) {
  const action = useAction();
  const pipelines = api.useQuery("get", "/v1/pipelines", { params: { query: { limit: 200 } } });
  return (
    <Dialog title={`Edit ${project.name}`} onClose={onClose}>
      <Form
        action={action}
        word="Save"
        onCancel={onClose}
        submit={async ({ text }) => {
          const body = {
            name: text("name"),
            description: text("description"),
            repository: text("repository") || null,
            default_branch: text("default_branch") || null,
            default_pipeline_id: text("default_pipeline_id") || null,
            check: text("check").trim() || null,
            status: text("status") as Project["status"],
          };
          await must(client.PUT("/v1/projects/{id}", { params: { path: { id: project.id } }, body }));
          await refresh("/v1/projects");
          onClose();
        }}
      >
        <Field label="Name" error={fieldError(action.error, "name")}>
          <Input name="name" required defaultValue={project.name} />
        </Field>
        <Field label="Description" error={fieldError(action.error, "description")}>
          <TextArea name="description" rows={2} defaultValue={project.description} />
        </Field>
        <Field label="Repository" hint="A new address is cloned again." error={fieldError(action.error, "repository")}>
          <Input name="repository" defaultValue={project.repository ?? ""} spellCheck={false} />
        </Field>
        <Field label="Branch" error={fieldError(action.error, "default_branch")}>
          <Input name="default_branch" defaultValue={project.default_branch ?? ""} spellCheck={false} />
        </Field>
        <Field label="Pipeline used first" error={fieldError(action.error, "default_pipeline_id")}>
          <Select
            key={pipelines.data ? "ready" : "asking"}
            name="default_pipeline_id"
            defaultValue={project.default_pipeline_id ?? ""}
          >
            <option value="">None</option>
            {(pipelines.data?.items ?? []).map(({ id, name }) => (
              <option key={id} value={id}>
                {name || id}
              </option>
            ))}
          </Select>
        </Field>
        <Field
          label="Check"
          hint="Command whose exit code says whether the code works, e.g. npm test."
          error={fieldError(action.error, "check")}
        >
          <Input name="check" defaultValue={project.check ?? ""} spellCheck={false} />
        </Field>
        <Field label="State">
          <Select name="status" defaultValue={project.status}>
            <option value="active">active</option>
            <option value="paused">paused</option>
            <option value="archived">archived</option>
          </Select>
        </Field>
      </Form>
    </Dialog>
  );
}
