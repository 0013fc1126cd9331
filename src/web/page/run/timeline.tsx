/** Every attempt on one scale of time, in the order they began. */
import { Link } from "wouter";
import type { Schemas } from "../../api/client.ts";
import { costText, duration } from "../../ui/format.ts";
import { Empty } from "../../ui/note.tsx";
import { Panel } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { useNow } from "../../ui/time.tsx";
import { type Span, spansOf, ticksOf } from "./spans.ts";
import type { Step, StepPlan } from "./steps.ts";

const TONE: Record<string, string> = {
  succeeded: "bg-ok",
  failed: "bg-bad",
  running: "bg-run",
  waiting: "bg-wait",
};

/** Shorter waits are drawn without a label. */
const QUEUED_SHOWN_MS = 1_000;
const COLUMNS =
  "grid grid-cols-[11rem_minmax(0,1fr)_5.5rem] items-center gap-3 px-3 max-sm:grid-cols-[6rem_minmax(0,1fr)_4.5rem]";

export function Timeline({ run, plan, rows }: { run: Schemas["Run"]; plan: StepPlan[]; rows: Step[] }) {
  const names = new Map(plan.map(({ id, name }) => [id, name]));
  const now = useNow(run.finished_at === null);
  const from = Date.parse(run.created_at);
  const { spans, whole, waited } = spansOf(rows, from, run.finished_at ? Date.parse(run.finished_at) : now);
  if (spans.length === 0)
    return (
      <Empty cli={`skep runs ${run.id} --follow`}>No step has started. What each waits for is among the steps.</Empty>
    );
  const ticks = ticksOf(whole);
  return (
    <Panel className="overflow-hidden">
      <Axis ticks={ticks} whole={whole} />
      <ol>
        {spans.map((span) => (
          <Row
            key={span.step.id}
            span={span}
            name={names.get(span.step.step_id) ?? span.step.step_id}
            ticks={ticks}
            whole={whole}
          />
        ))}
      </ol>
      <p className="border-t border-line px-3 py-2 text-sm text-dim">
        {duration(whole)} in all
        {waited >= QUEUED_SHOWN_MS && (
          <>, of which steps waited {duration(waited)} for a free place, together: the thin lines before the bars</>
        )}
        . A striped bar is time that a person took.
      </p>
    </Panel>
  );
}

const part = (ms: number, whole: number): string => `${Math.min(100, Math.max(0, (ms / whole) * 100))}%`;

function Axis({ ticks, whole }: { ticks: number[]; whole: number }) {
  return (
    <div aria-hidden className={`${COLUMNS} border-b border-line py-1 text-xs text-faint`}>
      <span>Step</span>
      <span className="relative h-4">
        {ticks.map((tick, at) => (
          <span
            key={tick}
            className={`absolute tabular-nums whitespace-nowrap ${at === 0 ? "" : "-translate-x-1/2"} ${at % 2 ? "max-sm:hidden" : ""}`}
            style={{ left: part(tick, whole) }}
          >
            {tick === 0 ? "0" : duration(tick)}
          </span>
        ))}
      </span>
      <span className="text-right">Took</span>
    </div>
  );
}

function Row({ span, name, ticks, whole }: { span: Span<Step>; name: string; ticks: number[]; whole: number }) {
  const { step, queued, start, end } = span;
  const tone = TONE[step.status] ?? "bg-line-strong";
  return (
    <li className="border-b border-line last:border-0">
      <Link
        href={`?step=${step.step_id}&attempt=${step.id}`}
        data-row
        className={`${COLUMNS} py-2 -outline-offset-2 hover:bg-hover max-sm:min-h-11`}
      >
        <span className={`flex min-w-0 items-center gap-2 ${step.attempt > 1 || step.index !== null ? "pl-4" : ""}`}>
          <Status status={step.status} bare />
          <span className="line-clamp-1 text-sm">
            {name}
            {step.index !== null && ` ${step.index + 1}`}
            {step.attempt > 1 && ` (${step.attempt})`}
          </span>
        </span>
        <span aria-hidden className="relative h-4">
          {ticks.map((tick) => (
            <span key={tick} className="absolute -inset-y-2 w-px bg-line" style={{ left: part(tick, whole) }} />
          ))}
          <span
            className="absolute top-1/2 h-1 -translate-y-1/2 bg-line-strong"
            style={{ left: part(queued, whole), width: part(start - queued, whole) }}
          />
          <span
            className={`absolute h-full min-w-0.5 rounded-sm ${tone} ${step.kind === "approval" ? "hatched" : ""}`}
            style={{ left: part(start, whole), width: part(end - start, whole) }}
          />
        </span>
        <span className="text-right text-sm text-dim tabular-nums">
          {duration(end - start)}
          {(step.cost_usd > 0 || step.calls_without_price > 0) && (
            <span className="block text-xs text-faint">{costText(step)}</span>
          )}
          {start - queued >= QUEUED_SHOWN_MS && (
            <span className="block text-xs text-faint">queued {duration(start - queued)}</span>
          )}
        </span>
      </Link>
    </li>
  );
}
