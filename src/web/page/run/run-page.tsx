/** One run: its steps over time, its graph, its changes and its result. */
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useRef, useState } from "react";
import { Link, useParams, useSearchParams } from "wouter";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { lazy } from "../../ui/lazy.tsx";
import { Await, Loading } from "../../ui/note.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { ProviderWaitNote } from "../../ui/provider-wait.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Unconfirmed } from "../../ui/unconfirmed.tsx";
import { useMayDo } from "../projects/roles.ts";
import { ApprovalCard } from "../runs/approval-card.tsx";
import { PermissionCard } from "../runs/permission-card.tsx";
import { Gantt } from "./gantt.tsx";
import { NetworkAccess } from "./network-access.tsx";
import { Previews } from "./previews.tsx";
import { Result } from "./result.tsx";
import { RunHeader } from "./run-header.tsx";
import { RunServices } from "./services.tsx";
import { StepDetail } from "./step-detail.tsx";
import { latestOf, openStep, type StepPlan } from "./steps.ts";
import { useRunKeys } from "./use-run-keys.ts";
import { useChangedFiles, viewOf, workOfRun } from "./what-next.ts";

const RunGraph = lazy(() => import("./run-graph.tsx"), <Loading rows={6} part />);
const Changes = lazy(() => import("../changes/changes.tsx"), <Loading rows={6} part />);

type Run = Schemas["RunDetail"];

export default function RunPage() {
  const { id = "" } = useParams<{ id: string }>();
  const run = api.useQuery("get", "/v1/runs/{id}", { params: { path: { id } } });
  return (
    <Await query={run} page="Run" list={["/runs", "Runs"]}>
      {(data) => <RunView key={data.id} run={data} />}
    </Await>
  );
}

/**
 * The status that the run had when its page was opened, or when it started again. The view thus does not change under
 * the reader when the run succeeds.
 */
function useOpenedStatus(status: Run["status"]): Run["status"] {
  const [opened, setOpened] = useState(status);
  if (opened === "succeeded" && status !== "succeeded") setOpened(status);
  return opened;
}

function RunView({ run }: { run: Run }) {
  const [params] = useSearchParams();
  const step = params.get("step") ?? "";
  const opened = useOpenedStatus(run.status);
  const may = useMayDo(run.project_id);
  const view = viewOf(params.get("tab") ?? "", step, opened);
  const stats = useChangedFiles(run).data?.stats;
  // On a phone, the chosen step has its own screen.
  const around = step && view === "steps" ? "max-lg:hidden" : "";
  const tabs = [
    { id: "steps", title: "Steps" },
    { id: "graph", title: "Graph" },
    ...(run.project_id ? [{ id: "changes", title: "Changes", count: stats?.files }] : []),
  ];
  const result = { id: "result", title: "Result" };
  return (
    <div data-wide>
      <RunHeader run={run} files={stats?.files} tab={view} around={around} />
      <div className={around}>
        <RunError run={run} />
        <ProviderWaitNote
          wait={run.provider_wait}
          mayAsk={may("contributor")}
          tryNow={async () => {
            await must(client.POST("/v1/runs/{id}/try-now", { params: { path: { id: run.id } } }));
            await refresh("/v1/runs");
          }}
        />
        <Previews runId={run.id} />
        {run.project_id !== null && <RunServices runId={run.id} ended={run.finished_at !== null} />}
        <NetworkAccess runId={run.id} projectId={run.project_id} />
        {run.outside !== null && (
          <Unconfirmed reason={run.outside}>
            This run has read text from outside: what it leaves, as notes, skills and tasks, waits until somebody
            confirms it.
          </Unconfirmed>
        )}
        <Tabs
          label="Views of the run"
          tabs={opened === "succeeded" ? [result, ...tabs] : [...tabs, result]}
          current={view}
        />
      </div>
      {view === "changes" ? (
        <>
          <Waiting run={run} />
          <Changes work={workOfRun(run)} run={run} />
        </>
      ) : (
        <Work run={run} view={view} />
      )}
    </div>
  );
}

function RunError({ run }: { run: Run }) {
  const plan = api.useQuery("get", "/v1/runs/{id}/plan", { params: { path: { id: run.id } } });
  if (!run.error || run.status !== "failed") return null;
  const { code, message, step_id } = run.error;
  const step = plan.data?.steps.find(({ id }) => id === step_id);
  return (
    <div role="alert" className="mb-4 rounded-lg border border-bad/40 bg-bad-soft px-4 py-3">
      <p className="whitespace-pre-wrap">
        {step_id && (
          <Link href={`?step=${step_id}`} className="font-semibold underline">
            {step?.name ?? step_id}
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
      {approval.kind === "step" ? (
        <ApprovalCard approval={approval} bare />
      ) : (
        <PermissionCard request={approval} bare />
      )}
    </div>
  ));
}

function Work({ run, view }: { run: Run; view: string }) {
  const path = { path: { id: run.id } };
  const plan = api.useQuery("get", "/v1/runs/{id}/plan", { params: path });
  const timeline = api.useQuery("get", "/v1/runs/{id}/timeline", { params: path });
  const [params, setParams] = useSearchParams();
  const chosen = params.get("step") ?? "";
  const attempt = params.get("attempt") ?? "";
  const detailBox = useRef<HTMLDivElement>(null);
  /** @param step empty to return to the list, on a phone. */
  const pick = (step: string, of = "") => {
    const narrow = isNarrow();
    setParams(
      (old) => {
        const next = new URLSearchParams(old);
        for (const name of ["attempt", "compare", ...(step ? [] : ["step"])]) next.delete(name);
        if (step) next.set("step", step);
        if (of) next.set("attempt", of);
        if (view === "steps" && next.get("tab") === null && run.status === "succeeded") next.set("tab", "steps");
        return next;
      },
      // On a phone the step's screen is a history entry of its own, so that going back leaves it.
      { replace: !narrow },
    );
    // Show the new step from its beginning, however far the previous one was scrolled.
    if (narrow) scrollTo(0, 0);
    else if (detailBox.current) detailBox.current.scrollTop = 0;
  };
  const rows = timeline.data?.items ?? [];
  const current = chosen || openStep(plan.data?.steps ?? [], run);
  useRunKeys(plan.data?.steps ?? [], current, pick);
  const error = plan.error ?? timeline.error;
  const problem = <ProblemNote error={error} retry={() => Promise.all([plan.refetch(), timeline.refetch()])} />;
  // If a later request fails, keep what is shown and what is typed in a dialog.
  if (!plan.data || !timeline.data) return error ? problem : <Loading rows={5} />;
  const { steps } = plan.data;
  if (view === "result")
    return (
      <>
        {problem}
        <Waiting run={run} />
        <Result run={run} plan={steps} timeline={rows} />
      </>
    );
  const shown = rows.find(({ id }) => id === attempt) ?? latestOf(rows, current);
  const detail = (
    <StepDetail run={run} plan={steps.find(({ id }) => id === current)} steps={steps} attempt={shown} rows={rows} />
  );
  if (view === "graph")
    return (
      <>
        {problem}
        <Waiting run={run} />
        <RunGraph steps={steps} attempts={rows} current={current} onPick={pick} />
        <div className="mt-5">{detail}</div>
      </>
    );
  const aside = chosen ? "max-lg:hidden" : "";
  return (
    <>
      {problem}
      <div className="grid items-start gap-x-6 gap-y-4 lg:grid-cols-[29rem_minmax(0,1fr)] lg:grid-rows-[auto_minmax(0,1fr)] 2xl:grid-cols-[40rem_minmax(0,1fr)]">
        <div className="empty:hidden lg:col-start-2">
          <Waiting run={run} />
        </div>
        <div className={`pane flex min-w-0 flex-col lg:col-start-1 lg:row-span-2 lg:row-start-1 ${aside}`}>
          <Gantt run={run} plan={steps} timeline={timeline.data} step={current} attempt={shown?.id} onPick={pick} />
        </div>
        <div
          ref={detailBox}
          data-pane
          className={`pane min-w-0 lg:col-start-2 lg:overflow-y-auto ${chosen ? "" : "max-lg:hidden"}`}
        >
          <StepBar steps={steps} current={current} pick={pick} />
          {detail}
        </div>
      </div>
    </>
  );
}

const isNarrow = () => !matchMedia("(min-width: 64rem)").matches;

/** The bar of a step's screen on a phone: back to the list, previous step, next step. */
function StepBar({ steps, current, pick }: { steps: StepPlan[]; current: string; pick(step: string): void }) {
  const at = steps.findIndex(({ id }) => id === current);
  const [before, after] = [steps[at - 1], steps[at + 1]];
  return (
    <nav aria-label="Steps" className="mb-3 flex items-center gap-1 lg:hidden">
      <Button label="All steps" icon={ChevronLeft} onClick={() => pick("")} />
      <span className="mr-auto ml-2 text-sm text-dim tabular-nums">
        {at + 1} of {steps.length}
      </span>
      <IconButton
        label="Step before"
        disabled={!before}
        onClick={() => before && pick(before.id)}
        icon={ChevronLeft}
        iconSize={16}
      />
      <IconButton
        label="Next step"
        disabled={!after}
        onClick={() => after && pick(after.id)}
        icon={ChevronRight}
        iconSize={16}
      />
    </nav>
  );
}
