/** One step: who does it, its attempts, what it was asked, what it said and did, and its outputs. */

import { ChevronRight, RotateCw } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { api, type Schemas } from "../../api/client.ts";
import { AgentName } from "../../session/actor.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { costText, count } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { Status } from "../../ui/status.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Took } from "../../ui/time.tsx";
import { Value } from "../../ui/value.tsx";
import { useMayDo } from "../projects/roles.ts";
import { Compare } from "./compare.tsx";
import { RestartDialog } from "./restart-dialog.tsx";
import { type Attempt, attemptsOf, childrenOf, latestOf, type Step, type StepPlan } from "./steps.ts";
import { Transcript } from "./transcript.tsx";

interface Props {
  run: Schemas["Run"];
  plan: StepPlan | undefined;
  /** All steps of the run. */
  steps: StepPlan[];
  /** The attempt that is shown. */
  attempt: Attempt | undefined;
  rows: Attempt[];
}

/** Loads one attempt with its inputs and outputs. @param id undefined: nothing is loaded. */
function useStep(run: string, id: string | undefined) {
  const path = { run_id: run, step_id: id ?? "" };
  return api.useQuery("get", "/v1/steps/{run_id}/{step_id}", { params: { path } }, { enabled: id !== undefined });
}

export function StepDetail({ run, plan, steps, attempt, rows }: Props) {
  const [restarting, setRestarting] = useState(false);
  const [compared, compare] = useParam("compare");
  const other = rows.find(({ id, step_id }) => id === compared && id !== attempt?.id && step_id === attempt?.step_id);
  const query = useStep(run.id, attempt?.id);
  const step = query.data;
  const others = useStep(run.id, other?.id);
  const may = useMayDo(run.project_id);
  if (!plan)
    return <Empty action={<ButtonLink href="?">See the steps</ButtonLink>}>The run's pipeline has no such step.</Empty>;
  return (
    <section aria-labelledby="step-name">
      <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 id="step-name" className="text-lg font-semibold tracking-tight">
          {plan.name}
        </h2>
        <Status status={attempt?.status ?? plan.status} />
        {step && <Figures step={step} />}
        {attempt && run.finished_at && may("contributor") && (
          <Button kind="quiet" icon={RotateCw} iconSize={13} onClick={() => setRestarting(true)}>
            Restart from here
          </Button>
        )}
      </div>
      {restarting && <RestartDialog run={run} from={plan.id} onClose={() => setRestarting(false)} />}
      {plan.description && <p className="mb-3 text-dim">{plan.description}</p>}
      <Attempts rows={attemptsOf(rows, plan.id)} shown={attempt} />
      <Attempts rows={childrenOf(rows, plan.id)} shown={attempt} items />
      {attempt ? (
        <Await query={query} rows={4}>
          {(data) =>
            others.data ? (
              <Compare {...inOrder(data, others.data)} onClose={() => compare("")} />
            ) : (
              <StepBody step={data} said={isSaidAbove(run, data, rows)} />
            )
          }
        </Await>
      ) : (
        <NotYet plan={plan} steps={steps} />
      )}
    </section>
  );
}

const inOrder = (a: Step, b: Step) => (a.attempt < b.attempt ? { before: a, after: b } : { before: b, after: a });

function NotYet({ plan, steps }: { plan: StepPlan; steps: StepPlan[] }) {
  const before = plan.needs.map((need) => steps.find(({ id }) => id === need)?.name ?? need);
  const after = before.length > 0 ? `after ${before.join(", ")}` : "first";
  return (
    <Empty>
      It begins {after}
      {plan.when && (
        <>
          , when <code className="font-mono">{plan.when}</code>
        </>
      )}
      .
    </Empty>
  );
}

/** Shorter waits are not mentioned. */
const QUEUED_SHOWN_MS = 1_000;

function Figures({ step }: { step: Step }) {
  return (
    <span className="flex flex-wrap gap-x-3 text-sm text-dim tabular-nums">
      {step.kind === "command" && <span>a command</span>}
      {step.agent_id && (
        <Link
          href={`/agents/${step.agent_id}`}
          className="inline-flex items-center hover:underline max-sm:-my-3 max-sm:min-h-11"
        >
          <AgentName id={step.agent_id} />
        </Link>
      )}
      {step.model && <span>{step.model}</span>}
      <Took from={step.started_at} to={step.finished_at} />
      {step.started_at && Date.parse(step.started_at) - Date.parse(step.queued_at) >= QUEUED_SHOWN_MS && (
        <span>
          queued <Took from={step.queued_at} to={step.started_at} />
        </span>
      )}
      {(step.cost_usd > 0 || step.tokens > 0) && (
        <>
          <span>{costText(step)}</span>
          <span>{count(step.tokens)} tokens</span>
        </>
      )}
    </span>
  );
}

/** Links to the attempts of a step, or to the items of a step that runs for each item. */
function Attempts({ rows, shown, items = false }: { rows: Attempt[]; shown: Attempt | undefined; items?: boolean }) {
  const [, setAttempt] = useParam("attempt");
  const [compared, compare] = useParam("compare");
  const at = rows.findIndex(({ id }) => id === shown?.id);
  const neighbour = rows[at - 1] ?? rows[at + 1];
  if (rows.length < (items ? 1 : 2)) return null;
  return (
    <nav aria-label={items ? "Items" : "Attempts"} className="mb-3 flex flex-wrap items-center gap-1">
      <span className="mr-1 text-sm text-faint">{items ? "Items" : "Attempts"}</span>
      {rows.map((row, at) => (
        <button
          key={row.id}
          type="button"
          aria-pressed={row.id === shown?.id}
          onClick={() => setAttempt(row.id)}
          className="inline-flex h-7 max-sm:h-11 items-center gap-1 rounded-md border border-line px-2 text-sm hover:bg-hover aria-pressed:border-accent aria-pressed:bg-accent-soft"
        >
          <Status status={row.status} bare />
          {items ? (row.index ?? 0) + 1 : at + 1}
          {items && row.attempt > 1 && <span className="text-faint">({row.attempt})</span>}
        </button>
      ))}
      {!items && neighbour && !compared && (
        <Button kind="quiet" onClick={() => compare(neighbour.id)}>
          Compare with {rows.indexOf(neighbour) + 1}
        </Button>
      )}
    </nav>
  );
}

/** Whether the error at the top of the run's page is that of this attempt. */
function isSaidAbove({ status, error }: Schemas["Run"], step: Step, rows: Attempt[]): boolean {
  return (
    status === "failed" &&
    error?.step_id === step.step_id &&
    error.message === step.error?.message &&
    latestOf(rows, step.step_id)?.id === step.id
  );
}

function StepBody({ step, said }: { step: Step; said: boolean }) {
  const { input, message, command, ...others }: Record<string, unknown> = step.inputs;
  return (
    <>
      {step.error && (
        // The error is already shown above, except on a phone, where a step has its own screen.
        <div
          role="alert"
          className={`mb-3 rounded-lg ${said ? "lg:hidden" : ""} border border-bad/40 bg-bad-soft px-3 py-2`}
        >
          <p className="whitespace-pre-wrap">{step.error.message}</p>
          <p className="mt-1 font-mono text-xs text-dim">{step.error.code}</p>
        </div>
      )}
      {/* A question that still waits is shown above, with its answers. */}
      {(input !== undefined || (message !== undefined && step.status !== "waiting")) && (
        <Fold title={message !== undefined ? "What is asked" : "What the agent was asked"} open={message !== undefined}>
          <Value value={input ?? message} />
        </Fold>
      )}
      {typeof command === "string" && (
        <Fold title="The command" open>
          <pre className="overflow-auto font-mono text-xs whitespace-pre-wrap">{command}</pre>
        </Fold>
      )}
      {Object.keys(others).length > 0 && (
        <Fold title="Inputs">
          <Value value={others} />
        </Fold>
      )}
      {Object.keys(step.outputs).length > 0 && (
        <Fold title="What it gave" open>
          <Value given value={step.outputs} />
        </Fold>
      )}
      {step.session_id && (
        <Transcript
          key={step.session_id}
          session={step.session_id}
          live={step.status === "running" || step.status === "queued"}
        />
      )}
    </>
  );
}

export function Fold({ title, open = false, children }: { title: string; open?: boolean; children: ReactNode }) {
  return (
    <details open={open} className="group mb-2 rounded-lg border border-line bg-panel">
      <summary className="flex min-h-9 items-center gap-1.5 px-3 text-sm font-medium max-sm:min-h-11">
        <ChevronRight aria-hidden size={14} className="text-faint transition-transform group-open:rotate-90" />
        {title}
      </summary>
      <div className="px-3 pb-3">{children}</div>
    </details>
  );
}
