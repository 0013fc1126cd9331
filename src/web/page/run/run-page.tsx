/** One run: what it does, where it is, what each step was asked, said and gave. */
import { ChevronLeft, ChevronRight, GitBranch, Play, RotateCw, Square } from "lucide-react";
import { type ReactNode, Suspense, useRef, useState } from "react";
import { Link, useLocation, useParams, useSearchParams } from "wouter";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useVerbs } from "../../shell/verbs.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { copyText } from "../../ui/copy.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { costText, count, usd } from "../../ui/format.ts";
import { lazy } from "../../ui/lazy.tsx";
import { Await, Loading } from "../../ui/note.tsx";
import { Outline } from "../../ui/outline.tsx";
import { CopyButton, PageHeader, Panel } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status } from "../../ui/status.tsx";
import { Tabs, useParam } from "../../ui/tabs.tsx";
import { Ago, Took } from "../../ui/time.tsx";
import { Unconfirmed } from "../../ui/unconfirmed.tsx";
import { Value } from "../../ui/value.tsx";
import { ApprovalCard } from "../runs/approval-card.tsx";
import { outlineRows } from "./outline.tsx";
import { RestartDialog } from "./restart-dialog.tsx";
import { StepDetail } from "./step-detail.tsx";
import { latestOf, openStep, type StepPlan } from "./steps.ts";
import { Timeline } from "./timeline.tsx";
import { useRunKeys } from "./use-run-keys.ts";

const RunGraph = lazy(() => import("./run-graph.tsx"));
const Changes = lazy(() => import("../changes/changes.tsx"));

type Run = Schemas["RunDetail"];
const ENDED = new Set(["succeeded", "failed", "cancelled"]);

export default function RunPage() {
  const { id = "" } = useParams<{ id: string }>();
  const run = api.useQuery("get", "/v1/runs/{id}", { params: { path: { id } } });
  return (
    <Await query={run} page="Run">
      {(data) => <RunView run={data} />}
    </Await>
  );
}

function RunView({ run }: { run: Run }) {
  const [tab] = useParam("tab");
  const [step] = useParam("step");
  // On a phone a step that was chosen is a screen of its own.
  const around = step && !tab ? "max-lg:hidden" : "";
  return (
    <>
      <Header run={run} around={around} />
      <div className={around}>
        <Facts run={run} />
        <RunError run={run} />
        {run.outside !== null && (
          <Unconfirmed reason={run.outside}>
            This run has read text from outside: what it leaves, as notes, skills and tasks, waits until somebody
            confirms it.
          </Unconfirmed>
        )}
      </div>
      <Waiting run={run} />
      <div className={around}>
        <Tabs
          label="Views of the run"
          tabs={[
            { id: "steps", title: "Steps" },
            { id: "graph", title: "Graph" },
            ...(run.project_id ? [{ id: "changes", title: "Changes" }] : []),
            { id: "timeline", title: "Timeline" },
            { id: "result", title: "Result" },
          ]}
        />
      </div>
      {tab === "changes" ? (
        <Suspense fallback={<Loading rows={6} />}>
          <Changes run={run} />
        </Suspense>
      ) : tab === "result" ? (
        <Result run={run} />
      ) : (
        <Work run={run} tab={tab} />
      )}
    </>
  );
}

/** @param around class of what is not the title. */
function Header({ run, around }: { run: Run; around: string }) {
  const [dialog, setDialog] = useState<"restart" | "cancel" | null>(null);
  const [, navigate] = useLocation();
  const ended = ENDED.has(run.status);
  const again = () => navigate(`/runs/new?again=${run.id}`);
  const isMergeable = run.status === "succeeded" && run.project_id !== null && run.branch !== null;
  useVerbs([
    ...(isMergeable
      ? [
          { label: "Merge", act: () => navigate(`/runs/${run.id}?tab=changes&merge=1`) },
          { label: "Review the changes", act: () => navigate(`/runs/${run.id}?tab=changes`) },
        ]
      : []),
    ...(ended && run.status !== "succeeded"
      ? [{ label: "Restart with another budget", words: ["raise the budget"], act: () => setDialog("restart") }]
      : []),
    { label: "Copy the run's id", act: () => void copyText(run.id) },
  ]);
  const [title = "", ...rest] = run.task_description.split("\n");
  return (
    <>
      <PageHeader
        title={title.length > 140 ? `${title.slice(0, 140)}…` : title}
        above={
          <>
            <Link href="/runs" className="hover:underline">
              Runs
            </Link>
            {" / "}
            <Link href={`/pipelines/${run.pipeline_id}`} className="hover:underline">
              {run.pipeline_id}
            </Link>
          </>
        }
        beside={<Status status={run.status} />}
        cli={`skep runs ${run.id}`}
        actions={
          <>
            {!ended && (
              <Button data-run-action icon={<Square aria-hidden size={13} />} onClick={() => setDialog("cancel")}>
                Cancel
              </Button>
            )}
            {ended && run.status !== "succeeded" && (
              <Button
                data-run-action
                kind="primary"
                icon={<RotateCw aria-hidden size={14} />}
                onClick={() => setDialog("restart")}
              >
                Restart
              </Button>
            )}
            {ended && (
              <Button icon={<Play aria-hidden size={14} />} onClick={again}>
                Run again
              </Button>
            )}
          </>
        }
      />
      {(title.length > 140 || rest.length > 0) && (
        <details className={`mb-4 rounded-md bg-sunken px-3 py-2 ${around}`}>
          <summary className="text-sm text-dim">The whole task</summary>
          <p className="mt-1 whitespace-pre-wrap">{run.task_description}</p>
        </details>
      )}
      <div className={around}>
        <Inputs inputs={run.inputs} />
      </div>
      {dialog === "restart" && <RestartDialog run={run} onClose={() => setDialog(null)} />}
      {dialog === "cancel" && (
        <Confirm
          title="Cancel the run?"
          word="Cancel the run"
          onClose={() => setDialog(null)}
          act={async () => {
            await must(client.POST("/v1/runs/{id}/cancel", { params: { path: { id: run.id } } }));
            await refresh("/v1/runs", "/v1/steps", "/v1/approvals");
          }}
        >
          What is at work stops. What was done stays, and the run can be restarted from where it was.
        </Confirm>
      )}
    </>
  );
}

/** What the pipeline asked for beside the task; only the first lines of what is long. */
function Inputs({ inputs }: { inputs: Run["inputs"] }) {
  if (Object.keys(inputs).length === 0) return null;
  return (
    <section aria-label="Inputs" className="mb-4">
      <h2 className="mb-0.5 text-xs text-faint">Inputs</h2>
      <Value value={inputs} />
    </section>
  );
}

function Facts({ run }: { run: Run }) {
  const facts: [string, ReactNode][] = [
    ["Steps", `${run.steps_done} of ${run.steps_total}`],
    ["Took", <Took key="took" from={run.started_at} to={run.finished_at} />],
    ["Cost", `${costText(run)}${run.budget_usd === null ? "" : ` of ${usd(run.budget_usd)}`}`],
    ["Tokens", count(run.tokens)],
    ["Started", <Ago key="started" at={run.created_at} sentence />],
  ];
  if (run.project_id)
    facts.push([
      "Project",
      <Link key="project" href={`/projects/${run.project_id}`} className="hover:underline">
        {run.project_name}
      </Link>,
    ]);
  if (run.branch)
    facts.push([
      "Branch",
      <span key="branch" className="inline-flex items-center gap-1 font-mono text-sm">
        <GitBranch aria-hidden size={13} />
        {run.branch}
        <CopyButton text={run.branch} label="Copy the branch" />
      </span>,
    ]);
  return (
    <dl className="mb-4 flex flex-wrap gap-x-8 gap-y-2">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="text-xs text-faint">{name}</dt>
          <dd className="tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function RunError({ run }: { run: Run }) {
  if (!run.error || run.status !== "failed") return null;
  const { code, message, step_id } = run.error;
  return (
    <div role="alert" className="mb-4 rounded-lg border border-bad/40 bg-bad-soft px-4 py-3">
      <p className="whitespace-pre-wrap">
        {step_id && (
          <Link href={`?step=${step_id}`} className="font-semibold underline">
            {step_id}
          </Link>
        )}{" "}
        failed: {message}
      </p>
      <p className="mt-1 font-mono text-xs text-dim">{code}</p>
    </div>
  );
}

function Waiting({ run }: { run: Run }) {
  const { data } = api.useQuery(
    "get",
    "/v1/approvals",
    { params: { query: { limit: 200 } } },
    { enabled: run.status === "waiting" || run.status === "running" },
  );
  const own = (data?.items ?? []).filter(({ run_id }) => run_id === run.id);
  return own.map((approval) => (
    <div key={approval.id} className="mb-4">
      <ApprovalCard approval={approval} bare />
    </div>
  ));
}

function Work({ run, tab }: { run: Run; tab: string }) {
  const path = { path: { id: run.id } };
  const plan = api.useQuery("get", "/v1/runs/{id}/plan", { params: path });
  const steps = api.useQuery("get", "/v1/steps/{run_id}", {
    params: { path: { run_id: run.id }, query: { limit: 200 } },
  });
  const [params, setParams] = useSearchParams();
  const chosen = params.get("step") ?? "";
  const attempt = params.get("attempt") ?? "";
  const detailBox = useRef<HTMLDivElement>(null);
  /** @param step empty leads back to the list, on a phone. */
  const pick = (step: string) => {
    const narrow = isNarrow();
    setParams(
      (old) => {
        const next = new URLSearchParams(old);
        for (const name of ["attempt", "compare", ...(step ? [] : ["step"])]) next.delete(name);
        if (step) next.set("step", step);
        return next;
      },
      // A screen of its own is left by going back.
      { replace: !narrow },
    );
    // What is shown now begins where the eye is, however far the step before was read.
    if (narrow) scrollTo(0, 0);
    else if ((detailBox.current?.getBoundingClientRect().top ?? 0) < 0) detailBox.current?.scrollIntoView();
  };
  const rows = steps.data?.items ?? [];
  const current = chosen || openStep(plan.data?.steps ?? [], run);
  useRunKeys(plan.data?.steps ?? [], current, pick);
  const error = plan.error ?? steps.error;
  const problem = <ProblemNote error={error} retry={() => Promise.all([plan.refetch(), steps.refetch()])} />;
  // A question that was answered before and fails now leaves what is shown, and what is typed in a dialog.
  if (!plan.data || !steps.data) return error ? problem : <Loading rows={5} />;
  const shown = rows.find(({ id }) => id === attempt) ?? latestOf(rows, current);
  const detail = (
    <StepDetail run={run} plan={plan.data.steps.find(({ id }) => id === current)} step={shown} rows={rows} />
  );
  if (tab === "timeline")
    return (
      <>
        {problem}
        <Timeline run={run} plan={plan.data.steps} rows={rows} />
      </>
    );
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[15.5rem_minmax(0,1fr)]">
      <div className="empty:hidden lg:col-span-2">{problem}</div>
      <div className={`lg:sticky lg:top-4 ${tab === "graph" || chosen ? "max-lg:hidden" : ""}`}>
        <Outline label="Steps" rows={outlineRows(plan.data.steps, rows)} current={current} onPick={pick} />
      </div>
      <div ref={detailBox} className={`min-w-0 scroll-mt-4 ${chosen || tab === "graph" ? "" : "max-lg:hidden"}`}>
        {tab !== "graph" && <StepBar steps={plan.data.steps} current={current} pick={pick} />}
        {tab === "graph" && (
          <div className="mb-6">
            <Suspense fallback={<Loading rows={6} />}>
              <RunGraph steps={plan.data.steps} current={current} onPick={pick} />
            </Suspense>
          </div>
        )}
        {detail}
      </div>
    </div>
  );
}

const isNarrow = () => !matchMedia("(min-width: 64rem)").matches;

/** On a phone: back to the list, and to the steps before and after. */
function StepBar({ steps, current, pick }: { steps: StepPlan[]; current: string; pick(step: string): void }) {
  const at = steps.findIndex(({ id }) => id === current);
  const [before, after] = [steps[at - 1], steps[at + 1]];
  return (
    <nav aria-label="Steps" className="mb-3 flex items-center gap-1 lg:hidden">
      <Button icon={<ChevronLeft aria-hidden size={14} />} onClick={() => pick("")}>
        All steps
      </Button>
      <span className="mr-auto ml-2 text-sm text-dim tabular-nums">
        {at + 1} of {steps.length}
      </span>
      <IconButton label="Step before" disabled={!before} onClick={() => before && pick(before.id)}>
        <ChevronLeft aria-hidden size={16} />
      </IconButton>
      <IconButton label="Next step" disabled={!after} onClick={() => after && pick(after.id)}>
        <ChevronRight aria-hidden size={16} />
      </IconButton>
    </nav>
  );
}

function Result({ run }: { run: Run }) {
  return (
    <Panel className="p-4">
      <Value value={run.outputs} />
      {run.human_context && (
        <>
          <h2 className="mt-6 mb-1 text-sm font-semibold">Guidance it was given</h2>
          <p className="whitespace-pre-wrap text-dim">{run.human_context}</p>
        </>
      )}
    </Panel>
  );
}
