/** One project: its repository, runs, settings, and the state of its code graph. */

import { Network, Play, RotateCw, Settings, SquareKanban, Trash2, Users } from "lucide-react";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { refresh, usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { DeleteHistory } from "../../kit/delete-history.tsx";
import { useAdmin, useOwnId } from "../../session/session.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { FactRow } from "../../ui/facts.tsx";
import { pluralize, shellWord } from "../../ui/format.ts";
import { JobProgress } from "../../ui/job-progress.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Await } from "../../ui/note.tsx";
import { PageHeader, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Ago } from "../../ui/time.tsx";
import { Unconfirmed } from "../../ui/unconfirmed.tsx";
import { RunList } from "../runs/run-list.tsx";
import { ExportProject } from "./project-archive.tsx";
import { ProjectEnvironment } from "./project-environment.tsx";
import { EditProject } from "./project-form.tsx";
import { Workspace } from "./projects-page.tsx";
import { mayDo } from "./roles.ts";

type Project = Schemas["Project"];

export default function ProjectPage() {
  const { id = "" } = useParams<{ id: string }>();
  const query = api.useQuery("get", "/v1/projects/{id}", { params: { path: { id } } });
  return (
    <Await query={query} page="Project" list={["/projects", "Projects"]}>
      {(project) => <ProjectView project={project} />}
    </Await>
  );
}

function ProjectView({ project }: { project: Project }) {
  const [dialog, setDialog] = useState<"edit" | "delete" | "everything" | null>(null);
  const [force, setForce] = useState(false);
  const own = useOwnId();
  const [, navigate] = useLocation();
  const path = { params: { path: { id: project.id } } };
  const close = () => setDialog(null);
  return (
    <>
      <PageHeader
        title={project.name}
        crumbs={[["/projects", "Projects"]]}
        about={project.description}
        cli={`skep projects ${shellWord(project.name)}`}
        actions={
          <>
            {mayDo(project.role, "owner") && (
              <Button label="Delete" kind="danger" icon={Trash2} onClick={() => setDialog("delete")} />
            )}
            <ButtonLink label="Board" href={`/board?project=${project.id}`} icon={SquareKanban} />
            {own !== null && <ButtonLink label="Members" href={`/projects/${project.id}/members`} icon={Users} />}
            <ExportProject project={project} />
            {mayDo(project.role, "maintainer") && (
              <Button label="Edit" icon={Settings} onClick={() => setDialog("edit")} />
            )}
            {mayDo(project.role, "contributor") && (
              <ButtonLink
                label="Start a run"
                href={`/runs/new?project=${encodeURIComponent(project.name)}${project.default_pipeline_id ? `&pipeline=${project.default_pipeline_id}` : ""}`}
                kind="primary"
                icon={Play}
              />
            )}
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
          ["Added", <Ago key="added" at={project.created_at} sentence />],
        ]}
      />
      {project.outside !== null && <ConfirmProject project={project} />}
      {project.workspace.state === "failed" && <CloneAgain project={project} />}
      {project.workspace.state === "ready" && project.repository && mayDo(project.role, "contributor") && (
        <Fetch project={project} />
      )}
      <GraphSummary project={project} />
      {project.workspace.state === "ready" && (
        <ProjectEnvironment id={project.id} maySetUp={mayDo(project.role, "contributor")} />
      )}
      <ProjectRuns project={project} />
      {dialog === "edit" && <EditProject project={project} onClose={close} />}
      {dialog === "delete" && (
        <Confirm
          title={`Delete ${project.name}?`}
          word="Delete the project"
          onClose={close}
          changes={["/v1/projects"]}
          act={() => {
            const query = force ? { force: "true" as const } : {};
            return client.DELETE("/v1/projects/{id}", { params: { ...path.params, query } });
          }}
          leaveTo="/projects"
        >
          Its workspace with all branches of runs and its code graph are removed from this server. Runs and costs stay
          in the lists. This cannot be undone.
          <p className="mt-3">
            <Button kind="quiet" onClick={() => setDialog("everything")}>
              Delete its runs and their texts as well…
            </Button>
          </p>
          <label className="mt-3 flex items-center gap-2">
            <input type="checkbox" checked={force} onChange={(event) => setForce(event.target.checked)} />
            Also when runs have work that was not merged
          </label>
        </Confirm>
      )}
      {dialog === "everything" && (
        <DeleteHistory
          kind="projects"
          id={project.id}
          what={project.name}
          onClose={close}
          leave={() => navigate("/projects")}
        />
      )}
    </>
  );
}

/** Lets a person who has read the project's texts confirm them. */
function ConfirmProject({ project }: { project: Project }) {
  const action = useChange("/v1/projects");
  const confirm = () =>
    action.run(() => {
      const params = { path: { id: project.id } };
      return client.PUT("/v1/projects/{id}", { params, body: { trusted: true } });
    }, `${project.name} is confirmed.`);
  return (
    <Unconfirmed reason={project.outside} action={action} confirm={confirm}>
      Nobody has confirmed the description and vision of this project, so no system prompt holds them: they may repeat
      text from outside.
    </Unconfirmed>
  );
}

function CloneAgain({ project }: { project: Project }) {
  const action = useChange("/v1/projects");
  const cloneAgain = () =>
    action.run(() => client.POST("/v1/projects/{id}/clone", { params: { path: { id: project.id } } }));
  return (
    <div className="mb-4">
      <ProblemNote error={action.error} />
      <p className="mb-2 text-dim">
        Correct the address with Edit, which clones again. A private repository is reached by connecting the{" "}
        <TextLink href="/code-host">code host</TextLink>.
      </p>
      <Button label="Clone again" busy={action.busy} icon={RotateCw} onClick={cloneAgain} />
    </div>
  );
}

/** Updates the clone from its repository. */
function Fetch({ project }: { project: Project }) {
  const [job, setJob] = useState("");
  const admin = useAdmin();
  const action = useChange("/v1/projects");
  const start = () =>
    action.run(async () =>
      setJob((await must(client.POST("/v1/projects/{id}/fetch", { params: { path: { id: project.id } } }))).id),
    );
  const [resetting, setResetting] = useState(false);
  const again = <Button label="Fetch what is new" busy={action.busy} icon={RotateCw} onClick={start} />;
  return (
    <div className="mb-6">
      <ProblemNote error={action.error} />
      {job ? (
        <JobProgress
          key={job}
          id={job}
          about="Fetching."
          onEnd={() => refresh("/v1/projects")}
          renderEnd={({ state, error }) => (
            <p className="flex flex-wrap items-center gap-3">
              {again}
              <span role="status" className={error ? "text-bad" : "text-dim"}>
                {error?.message ?? (state === "succeeded" ? "It is up to date." : "It was stopped.")}
              </span>
              {error?.code === "upstream_rewritten" && admin && (
                <Button label="Reset to the fetched branch" onClick={() => setResetting(true)} />
              )}
            </p>
          )}
        />
      ) : (
        again
      )}
      {resetting && (
        <Confirm
          title="Reset to the fetched branch?"
          word="Reset the project"
          onClose={() => setResetting(false)}
          changes={["/v1/projects"]}
          act={async () => {
            await must(client.POST("/v1/projects/{id}/reset", { params: { path: { id: project.id } } }));
            setJob("");
          }}
        >
          The default branch loses merges that were not pushed. The branches of runs stay.
        </Confirm>
      )}
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
                {pluralize(nodes, "symbol")}, {pluralize(relationships, "relationship")} in {pluralize(files, "file")}
              </span>
            )}
            {indexed_at && (
              <span className="text-dim">
                indexed <Ago at={indexed_at} sentence />
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
  const mayStart = mayDo(project.role, "contributor");
  return (
    <Section title="Runs">
      <RunList
        query={query}
        empty={{
          text: mayStart
            ? "No run has worked here yet. Start one, or put a task on the board."
            : "No run has worked here yet.",
          action: mayStart && (
            <ButtonLink href={`/runs/new?project=${encodeURIComponent(project.name)}`}>Start a run</ButtonLink>
          ),
          cli: `skep run feature "…" --project ${shellWord(project.name)}`,
        }}
      />
    </Section>
  );
}
