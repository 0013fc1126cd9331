/** One task: its description, its dependencies, who works on it, its runs and its history. */

import { Pencil, Play, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link, useParams } from "wouter";
import { api, client, problemOf } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { Actor, AgentName } from "../../session/actor.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge, FactRow } from "../../ui/facts.tsx";
import { TextLink } from "../../ui/link.tsx";
import { MarkdownText } from "../../ui/markdown-text.tsx";
import { Await } from "../../ui/note.tsx";
import { PageHeader, Panel, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { More } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { Unconfirmed } from "../../ui/unconfirmed.tsx";
import { OVERRULED, PRIORITY, type Project, type Task, wordOf } from "../board/board.ts";
import { StartDialog } from "../board/start-dialog.tsx";
import { TaskDialog } from "../board/task-form.tsx";
import { mayDo } from "../projects/roles.ts";
import { RunList } from "../runs/run-list.tsx";

export default function TaskPage() {
  const { id = "", tid = "" } = useParams<{ id: string; tid: string }>();
  const project = api.useQuery("get", "/v1/projects/{id}", { params: { path: { id } } });
  const task = api.useQuery("get", "/v1/projects/{id}/tasks/{tid}", { params: { path: { id, tid } } });
  return (
    <Await query={task} page="Task" list={["/board", "Board"]} rows={6}>
      {(task) => (
        <Await query={project} page="Task" list={["/board", "Board"]}>
          {(project) => <TaskView task={task} project={project} />}
        </Await>
      )}
    </Await>
  );
}

const pathOf = (task: Task) => ({ params: { path: { id: task.project_id, tid: task.id } } });

function TaskView({ task, project }: { task: Task; project: Project }) {
  const [dialog, setDialog] = useState<"edit" | "start" | "delete" | null>(null);
  const close = () => setDialog(null);
  const mayChange = mayDo(project.role, "contributor");
  return (
    <>
      <PageHeader
        title={task.title}
        cli={`skep tasks ${task.id}`}
        crumbs={[
          [`/board?project=${project.id}`, "Board"],
          [`/projects/${project.id}`, project.name],
        ]}
        beside={<Badge tone={TONES[task.status] ?? "plain"}>{wordOf(task.status)}</Badge>}
        actions={
          mayChange && (
            <>
              <Button label="Delete" kind="danger" icon={Trash2} onClick={() => setDialog("delete")} />
              <Button label="Edit" icon={Pencil} onClick={() => setDialog("edit")} />
              {task.status !== "done" && (
                <Button label="Start agents" kind="primary" icon={Play} onClick={() => setDialog("start")} />
              )}
            </>
          )
        }
      />
      <FactRow
        facts={[
          ["Priority", PRIORITY[task.priority]],
          ["Kind", task.work_type ? wordOf(task.work_type) : "–"],
          ["Agent", <Claim key="agent" task={task} mayRelease={mayChange} />],
          ["Estimate", task.estimate_hours === null ? "–" : `${task.estimate_hours} h`],
          ["Added", <Ago key="added" at={task.created_at} sentence />],
          task.branch ? ["Branch", <code key="branch">{task.branch}</code>] : null,
          task.tags.length > 0 ? ["Tags", task.tags.join(", ")] : null,
        ]}
      />
      {task.outside !== null && <ConfirmTask task={task} mayConfirm={mayChange} />}
      {mayChange && <MoveTo task={task} />}
      {task.description && (
        <Panel className="mb-6 p-4">
          <MarkdownText text={task.description} />
        </Panel>
      )}
      <Related task={task} />
      <Runs task={task} />
      <History task={task} />
      {dialog === "edit" && <TaskDialog project={project} task={task} onClose={close} />}
      {dialog === "start" && <StartDialog task={task} onClose={close} />}
      {dialog === "delete" && (
        <Confirm
          title="Delete the task?"
          word="Delete the task"
          onClose={close}
          changes={["/v1/projects/{id}/tasks", "/v1/projects"]}
          act={() => client.DELETE("/v1/projects/{id}/tasks/{tid}", pathOf(task))}
          leaveTo={`/board?project=${project.id}`}
        >
          Its history goes with it; its runs stay. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

/** Lets a person who has read the task's text confirm it. */
function ConfirmTask({ task, mayConfirm }: { task: Task; mayConfirm: boolean }) {
  const action = useChange("/v1/projects/{id}/tasks", "/v1/projects");
  const confirm = () =>
    action.run(
      () => client.PUT("/v1/projects/{id}/tasks/{tid}", { ...pathOf(task), body: { trusted: true } }),
      "The task is confirmed.",
    );
  return (
    <Unconfirmed reason={task.outside} action={action} {...(mayConfirm ? { confirm } : {})}>
      Nobody has confirmed this task, so agents read its words as a quotation: they may repeat text from outside.
    </Unconfirmed>
  );
}

const TONES: Record<string, "ok" | "bad" | "wait" | "run"> = {
  done: "ok",
  failed: "bad",
  blocked: "wait",
  review: "wait",
  in_progress: "run",
};

/** Buttons for the statuses that may come next. If a rule refuses a move, it says why and can be overridden. */
function MoveTo({ task }: { task: Task }) {
  const action = useChange("/v1/projects/{id}/tasks", "/v1/projects");
  const [target, setTarget] = useState("");
  const plan = api.useQuery("post", "/v1/projects/{id}/tasks/{tid}/resolve-workflow", { ...pathOf(task), body: {} });
  const move = (status: string, force: boolean) => {
    setTarget(status);
    return action.run(() =>
      client.POST("/v1/projects/{id}/tasks/{tid}/transition", { ...pathOf(task), body: { status, force } }),
    );
  };
  const next = plan.data?.next_statuses ?? [];
  if (next.length === 0) return null;
  return (
    <div className="mb-6">
      <div className="flex flex-wrap items-center gap-1.5">
        <span className="mr-1 text-sm text-dim">Move to</span>
        {next.map((status) => (
          <Button label={wordOf(status)} key={status} busy={action.busy} onClick={() => move(status, false)} />
        ))}
      </div>
      <ProblemNote error={action.error} />
      {action.error !== undefined && OVERRULED.has(problemOf(action.error).code) && (
        <Button onClick={() => move(target, true)}>Move it anyway</Button>
      )}
    </div>
  );
}

function Claim({ task, mayRelease }: { task: Task; mayRelease: boolean }) {
  const action = useChange("/v1/projects/{id}/tasks", "/v1/projects");
  if (!task.assigned_agent) return "nobody";
  const release = () =>
    action.run(() => {
      const body = { agent_id: task.assigned_agent!, release: true };
      return client.POST("/v1/projects/{id}/tasks/{tid}/claim", { ...pathOf(task), body });
    });
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <TextLink href={`/agents/${task.assigned_agent}`}>
        <AgentName id={task.assigned_agent} />
      </TextLink>
      {task.lease_until && (
        <>
          <span className="text-sm text-dim">
            until <Ago at={task.lease_until} />
          </span>
          {mayRelease && (
            <button type="button" className="text-sm underline" disabled={action.busy} onClick={release}>
              Give back
            </button>
          )}
        </>
      )}
    </span>
  );
}

function TaskLink({ project, id }: { project: string; id: string }) {
  const task = api.useQuery("get", "/v1/projects/{id}/tasks/{tid}", { params: { path: { id: project, tid: id } } });
  return (
    <Link
      href={`/projects/${project}/tasks/${id}`}
      data-row
      className="flex items-center gap-2 px-3 py-2 hover:bg-hover"
    >
      <span className="min-w-0 flex-1 truncate">{task.data?.title ?? (task.error ? "A task that is gone" : "…")}</span>
      {task.data && <Badge tone={TONES[task.data.status] ?? "plain"}>{wordOf(task.data.status)}</Badge>}
    </Link>
  );
}

function Related({ task }: { task: Task }) {
  const below = usePages("/v1/projects/{id}/tasks", {
    path: { id: task.project_id },
    query: { parent_id: task.id, limit: 50 },
  });
  const lists: [string, string[]][] = [
    ["Depends on", task.depends_on],
    ["Part of", task.parent_id ? [task.parent_id] : []],
    ["Found while working on", task.discovered_from ? [task.discovered_from] : []],
    ["Subtasks", below.rows.map(({ id }) => id)],
  ];
  return lists
    .filter(([, ids]) => ids.length > 0)
    .map(([title, ids]) => (
      <Section key={title} title={title}>
        <Panel>
          {ids.map((id) => (
            <div key={id} className="border-b border-line last:border-0">
              <TaskLink project={task.project_id} id={id} />
            </div>
          ))}
        </Panel>
      </Section>
    ));
}

function Runs({ task }: { task: Task }) {
  const query = usePages("/v1/runs", { query: { task_id: task.id, limit: 20 } });
  return (
    <Section title="Runs">
      <RunList
        query={query}
        empty={{
          text: "No run has worked on it yet. Start agents on it, and their runs show here.",
          cli: `skep tasks execute ${task.id}`,
        }}
      />
    </Section>
  );
}

function History({ task }: { task: Task }) {
  const query = usePages("/v1/projects/{id}/tasks/{tid}/history", {
    path: { id: task.project_id, tid: task.id },
    query: { limit: 30 },
  });
  return (
    <Section title="History">
      <Await query={query}>
        {() => (
          <ol className="border-l border-line pl-4">
            {query.rows.map(({ id, at, actor, change, from_status, to_status, note }) => (
              <li key={id} className="mb-2 text-sm">
                <span className="text-faint">
                  <Ago at={at} sentence />
                </span>{" "}
                {to_status && from_status !== to_status ? (
                  <>
                    {from_status ? `${wordOf(from_status)} → ` : ""}
                    <b className="font-medium">{wordOf(to_status)}</b>
                  </>
                ) : (
                  wordOf(change)
                )}{" "}
                <span className="text-dim">
                  {note}{" "}
                  <span className="text-faint">
                    by <Actor id={actor} />
                  </span>
                </span>
              </li>
            ))}
          </ol>
        )}
      </Await>
      <More query={query} quiet className="">
        Earlier
      </More>
    </Section>
  );
}
