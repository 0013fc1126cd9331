/** One swarm: its tasks as a graph and as a list, with what each was asked, did and returned. */

import { RotateCw, Square } from "lucide-react";
import { useState } from "react";
import { Link, useParams } from "wouter";
import { api, client } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { AgentName, useAgentNames } from "../../session/actor.tsx";
import { Button } from "../../ui/button.tsx";
import { FactRow } from "../../ui/facts.tsx";
import { costText, count, formatUsd } from "../../ui/format.ts";
import { lazy } from "../../ui/lazy.tsx";
import { Await, Loading, Warning } from "../../ui/note.tsx";
import { Outline, type OutlineRow } from "../../ui/outline.tsx";
import { PageHeader, Panel, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status, statusWord } from "../../ui/status.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Took } from "../../ui/time.tsx";
import { Value } from "../../ui/value.tsx";
import { ChangesLink } from "../changes/work-changes.tsx";
import { useMayDo } from "../projects/roles.ts";
import { Fold } from "../run/step-detail.tsx";
import { Transcript } from "../run/transcript.tsx";
import { NewSwarm } from "../swarms/new-swarm.tsx";
import { isLive, planText, type Swarm, type SwarmTask, stepsOf } from "../swarms/plan.ts";

const RunGraph = lazy(() => import("../run/run-graph.tsx"), <Loading rows={4} />);

export default function SwarmPage() {
  const { id = "" } = useParams<{ id: string }>();
  const params = { path: { id } };
  const swarm = api.useQuery("get", "/v1/swarm/{id}", { params });
  // A swarm has at most 50 tasks, so one page has all of them.
  const tasks = usePages("/v1/swarm/{id}/tasks", { ...params, query: { limit: 200 } });
  return (
    <Await query={swarm} page="Swarm" list={["/swarms", "Swarms"]}>
      {(data) => (
        <>
          <Header swarm={data} tasks={tasks.rows} />
          <Facts swarm={data} />
          <Await query={tasks} rows={6}>
            {() => <Tasks swarm={data} tasks={tasks.rows} />}
          </Await>
        </>
      )}
    </Await>
  );
}

function Header({ swarm, tasks }: { swarm: Swarm; tasks: SwarmTask[] }) {
  const [dialog, setDialog] = useState<"cancel" | "again" | null>(null);
  const mayStart = useMayDo(swarm.project_id)("contributor");
  return (
    <>
      <PageHeader
        title={swarm.title}
        crumbs={[["/swarms", "Swarms"]]}
        beside={
          <>
            <Status status={swarm.status} />
            <ChangesLink id={swarm.id} project={swarm.project_id} />
          </>
        }
        cli={`skep swarm show ${swarm.id} --outputs`}
        actions={
          swarm.status === "running" ? (
            <Button label="Cancel" icon={Square} iconSize={13} onClick={() => setDialog("cancel")} />
          ) : (
            mayStart && (
              <Button disabled={tasks.length === 0} icon={RotateCw} onClick={() => setDialog("again")}>
                Run again
              </Button>
            )
          )
        }
      />
      {swarm.error && (
        <Warning>
          {swarm.error.message} <code className="text-xs">{swarm.error.code}</code>
        </Warning>
      )}
      {dialog === "cancel" && (
        <Confirm
          title="Cancel the swarm?"
          word="Cancel it"
          onClose={() => setDialog(null)}
          changes={["/v1/swarm"]}
          act={() => client.POST("/v1/swarm/{id}/cancel", { params: { path: { id: swarm.id } } })}
        >
          Its tasks end within a second, with all that they started. What has succeeded stays readable.
        </Confirm>
      )}
      {dialog === "again" && <NewSwarm text={planText(swarm, tasks)} onClose={() => setDialog(null)} />}
    </>
  );
}

function Facts({ swarm }: { swarm: Swarm }) {
  const counts = Object.entries(swarm.counts).filter(([, many]) => many > 0);
  return (
    <FactRow
      facts={[
        ["Tasks", counts.map(([status, many]) => `${many} ${statusWord(status).toLowerCase()}`).join(", ")],
        ["Took", <Took key="took" from={swarm.created_at} to={swarm.finished_at} />],
        ["Cost", swarm.budget_usd === null ? costText(swarm) : `${costText(swarm)} of ${formatUsd(swarm.budget_usd)}`],
        ["Tokens", count(swarm.tokens)],
        ["At once", swarm.max_concurrent],
        ["A task fails", swarm.on_failure === "cancel_all" ? "all end" : "others continue"],
      ]}
    />
  );
}

function Tasks({ swarm, tasks }: { swarm: Swarm; tasks: SwarmTask[] }) {
  const nameOf = useAgentNames();
  const [picked, pick] = useParam("task");
  const first = ["failed", "running", "succeeded"]
    .map((state) => tasks.find(({ status }) => status === state))
    .find(Boolean);
  const task = tasks.find(({ key }) => key === picked) ?? first ?? tasks[0];
  return (
    <>
      <Section title="Tasks">
        <RunGraph steps={stepsOf(tasks)} {...(task ? { current: task.key } : {})} onPick={pick} />
      </Section>
      <div className="grid items-start gap-4 lg:grid-cols-[19rem_minmax(0,1fr)]">
        <Outline label="Tasks" rows={tasks.map((one) => outlineRow(one, nameOf))} current={task?.key} onPick={pick} />
        {task && <TaskDetail key={task.key} swarm={swarm} task={task} />}
      </div>
    </>
  );
}

const outlineRow = (
  { key, agent_id, depends_on, ...rest }: SwarmTask,
  nameOf: (agent: string) => string,
): OutlineRow => ({
  ...rest,
  id: key,
  detail: nameOf(agent_id) + (depends_on.length > 0 ? ` · after ${depends_on.join(", ")}` : ""),
});

const UNDONE = new Set(["failed", "cancelled", "skipped"]);

function TaskDetail({ swarm, task }: { swarm: Swarm; task: SwarmTask }) {
  const mayRetry = useMayDo(swarm.project_id)("contributor");
  const action = useChange("/v1/swarm");
  const retry = () =>
    action.run(() =>
      client.POST("/v1/swarm/{id}/tasks/{key}/retry", { params: { path: { id: swarm.id, key: task.key } } }),
    );
  return (
    <Panel className="min-w-0 p-3">
      <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-1">
        <h2 className="min-w-0 font-semibold wrap-anywhere">{task.title}</h2>
        <Status status={task.status} />
        <Link href={`/agents/${task.agent_id}`} className="text-dim hover:underline">
          <AgentName id={task.agent_id} />
        </Link>
        <span className="text-dim">{costText(task)}</span>
        {mayRetry && UNDONE.has(task.status) && (
          <Button busy={action.busy} icon={RotateCw} onClick={retry} title="What depends on it follows">
            Do it again
          </Button>
        )}
      </div>
      <ProblemNote error={action.error} />
      {task.error && (
        <div role="alert" className="mb-3 rounded-lg border border-bad/40 bg-bad-soft px-3 py-2">
          <p className="break-words whitespace-pre-wrap">{task.error.message}</p>
          <p className="mt-1 font-mono text-xs text-dim">{task.error.code}</p>
        </div>
      )}
      <Fold title="What the agent was asked">
        <Value value={task.prompt} />
      </Fold>
      {(task.output || Object.keys(task.outputs).length > 0) && (
        <Fold title="What it gave" open>
          {task.output && <p className="mb-2 break-words whitespace-pre-wrap">{task.output}</p>}
          {Object.keys(task.outputs).length > 0 && <Value given value={task.outputs} />}
        </Fold>
      )}
      {task.session_id ? (
        <Transcript session={task.session_id} live={isLive(task.status)} />
      ) : (
        <p className="text-dim">
          {isLive(task.status) ? "It waits for the tasks before it, or for a place." : "It was not started."}
        </p>
      )}
    </Panel>
  );
}
