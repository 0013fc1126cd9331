/** Every attempt on one scale of time, in the order they began. */
import { Link } from "wouter";
import type { Schemas } from "../../api/client.ts";
import { duration } from "../../ui/format.ts";
import { Empty } from "../../ui/note.tsx";
import { Panel } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { useNow } from "../../ui/time.tsx";
import type { Step, StepPlan } from "./steps.ts";

const TONE: Record<string, string> = {
  succeeded: "bg-ok",
  failed: "bg-bad",
  running: "bg-run",
  waiting: "bg-wait",
};

/** Shorter waits are drawn without a label. */
const QUEUED_SHOWN_MS = 1_000;

export function Timeline({ run, plan, rows }: { run: Schemas["Run"]; plan: StepPlan[]; rows: Step[] }) {
  const names = new Map(plan.map(({ id, name }) => [id, name]));
  const now = useNow(run.finished_at === null);
  const started = rows.filter(({ started_at }) => started_at !== null);
  if (started.length === 0)
    return (
      <Empty cli={`skep runs ${run.id} --follow`}>No step has started. What each waits for is among the steps.</Empty>
    );
  const from = Date.parse(run.created_at);
  const to = run.finished_at ? Date.parse(run.finished_at) : now;
  const whole = Math.max(to - from, 1);
  const waited = started.reduce((sum, one) => sum + Date.parse(one.started_at!) - Date.parse(one.queued_at), 0);
  const part = (ms: number) => `${Math.min(100, Math.max(0, (ms / whole) * 100))}%`;
  return (
    <Panel className="overflow-hidden">
      <ol>
        {started.map((step) => {
          const queued = Math.max(0, Date.parse(step.queued_at) - from);
          const start = Date.parse(step.started_at!) - from;
          const end = (step.finished_at ? Date.parse(step.finished_at) : to) - from;
          return (
            <li key={step.id} className="border-b border-line last:border-0">
              <Link
                href={`?step=${step.step_id}&attempt=${step.id}`}
                data-row
                className="grid grid-cols-[9rem_minmax(0,1fr)_5rem] items-center gap-3 px-3 py-2 hover:bg-hover max-sm:min-h-11 max-sm:grid-cols-[6rem_minmax(0,1fr)_4rem]"
              >
                <span className="flex min-w-0 items-center gap-2">
                  <Status status={step.status} bare />
                  <span className="line-clamp-1 text-sm">
                    {names.get(step.step_id) ?? step.step_id}
                    {step.index !== null && ` ${step.index + 1}`}
                    {step.attempt > 1 && ` (${step.attempt})`}
                  </span>
                </span>
                <span aria-hidden className="relative h-4">
                  <span
                    className="absolute top-1/2 h-1 -translate-y-1/2 bg-line-strong"
                    style={{ left: part(queued), width: part(start - queued) }}
                  />
                  <span
                    className={`absolute h-full min-w-0.5 rounded-sm ${TONE[step.status] ?? "bg-line-strong"}`}
                    style={{ left: part(start), width: part(end - start) }}
                  />
                </span>
                <span className="text-right text-sm text-dim tabular-nums">
                  {duration(end - start)}
                  {start - queued >= QUEUED_SHOWN_MS && (
                    <span className="block text-xs text-faint">queued {duration(start - queued)}</span>
                  )}
                </span>
              </Link>
            </li>
          );
        })}
      </ol>
      <p className="border-t border-line px-3 py-2 text-sm text-dim">
        {duration(whole)} in all. The thin line before a bar is time in the queue: {duration(waited)} of all attempts
        together.
      </p>
    </Panel>
  );
}
