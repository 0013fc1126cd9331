/**
 * The steps of a run over time: one row for each attempt, in the order in which they began, on a common time scale. It
 * is also the page's list of steps.
 */
import { memo, useEffect, useMemo, useRef, useState } from "react";
import type { Schemas } from "../../api/client.ts";
import { costText, formatDuration, pluralize } from "../../ui/format.ts";
import { useSlices } from "../../ui/slices.ts";
import { Status } from "../../ui/status.tsx";
import { useNow } from "../../ui/time.tsx";
import { type GanttRow, roundUp, rowsOf, type Span, spanOf, sumsOf, ticksOf } from "./spans.ts";
import type { Attempt, StepPlan } from "./steps.ts";

interface Props {
  run: Schemas["Run"];
  plan: StepPlan[];
  timeline: Schemas["RunTimeline"];
  /** The step that is shown, and which of its attempts. */
  step: string;
  attempt: string | undefined;
  /** @param attempt id of the attempt; empty for the latest one. */
  onPick(step: string, attempt: string): void;
}

/** Columns for name, picture, time and cost. */
const COLUMNS =
  "grid grid-cols-[8.75rem_minmax(0,1fr)_auto] items-center gap-x-2 px-2.5 max-sm:grid-cols-[8rem_minmax(0,1fr)_auto] 2xl:grid-cols-[13rem_minmax(0,1fr)_auto]";
const FIGURE = "inline-block text-right text-xs whitespace-nowrap tabular-nums";
const TOOK = `${FIGURE} w-[4.3rem]`;
/** Hidden on phones, where the step's own screen shows the cost. */
const COST = `${FIGURE} w-[3.6rem] max-sm:hidden`;
/** A filter is offered from this many rows on. */
const MANY = 15;

/** How many rows the first frame renders, and each frame after it. About 20 rows fit in a window. */
const AT_ONCE = { first: 20, slice: 10 };

const isPaid = ({ cost_usd, calls_without_price }: Attempt) => cost_usd > 0 || calls_without_price > 0;

const toPercent = (ms: number, whole: number): string => `${Math.min(100, Math.max(0, (ms / whole) * 100))}%`;

export function Gantt({ run, plan, timeline, step, attempt, onPick }: Props) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => rowsOf(plan, timeline.items, open), [plan, timeline.items, open]);
  const now = useNow(run.finished_at === null);
  const from = Date.parse(run.created_at);
  const elapsed = Math.max((run.finished_at ? Date.parse(run.finished_at) : now) - from, 1);
  const whole = run.finished_at ? elapsed : roundUp(elapsed);
  const latest = new Map(rows.filter((row) => row.attempt?.index == null).map(({ step, key }) => [step, key]));
  const current = attempt && rows.some(({ key }) => key === attempt) ? attempt : latest.get(step);
  const wanted = text.trim().toLowerCase();
  const shown = wanted ? rows.filter(({ name, note }) => `${name} ${note}`.toLowerCase().includes(wanted)) : rows;
  const drawn = useSlices(shown, AT_ONCE);
  const list = useRef<HTMLOListElement>(null);
  useKeepInSight(list, current, drawn.length);
  const pick = useRef(onPick);
  pick.current = onPick;
  const unfold = useRef((of: string) => setOpen((old) => new Set([...old, of])));
  const ticks = ticksOf(whole, 4);
  const costs = timeline.items.some(isPaid);
  return (
    <div className="flex min-h-0 flex-col rounded-lg border border-line bg-panel">
      {rows.length >= MANY && (
        <input
          type="search"
          aria-label="Filter the steps"
          placeholder="Filter the steps"
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="m-2 h-8 rounded-md border border-line-strong bg-panel px-2 text-sm placeholder:text-faint max-sm:h-11"
        />
      )}
      <Axis ticks={ticks} whole={whole} costs={costs} />
      <ol ref={list} aria-label="Steps" className="relative min-h-0 flex-1 overflow-x-hidden lg:overflow-y-auto">
        {drawn.map((row) => (
          <Row
            key={row.key}
            row={row}
            from={from}
            whole={whole}
            // Rows of ended attempts do not render again each second.
            now={row.attempt && row.attempt.finished_at === null ? now : 0}
            current={row.key === current}
            costs={costs}
            isLatest={latest.get(row.step) === row.key}
            pick={pick}
            unfold={unfold}
          />
        ))}
      </ol>
      <Legend timeline={timeline} elapsed={elapsed} from={from} now={now} />
    </div>
  );
}

/** Keeps the row of the shown step in sight. `scrollIntoView` is not used because it would also scroll the page. */
function useKeepInSight(list: { current: HTMLElement | null }, current: string | undefined, many: number): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: which row is marked depends on the current one.
  useEffect(() => {
    const row = list.current?.querySelector<HTMLElement>("[aria-current=step]")?.parentElement;
    const box = list.current;
    if (!row || !box) return;
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    if (top < box.scrollTop || bottom > box.scrollTop + box.clientHeight)
      box.scrollTop = top - (box.clientHeight - row.offsetHeight) / 2;
  }, [current, many]);
}

/** Beyond this fraction of the scale, a mark's label ends at the mark, so that it stays within the picture. */
const NEAR_END = 0.85;
/** If the last mark's label has more characters than this (`1 min 30 s`), there is no room for the mark before it. */
const LONG_MARK = 6;

function Axis({ ticks, whole, costs }: { ticks: number[]; whole: number; costs: boolean }) {
  const last = ticks.at(-1) ?? 0;
  const isCrowded = last / whole > NEAR_END && formatShort(last).length > LONG_MARK;
  const marks = ticks.filter((_, at) => !(isCrowded && at > 0 && at === ticks.length - 2));
  return (
    <div aria-hidden className={`${COLUMNS} border-b border-line py-1 text-xs text-faint`}>
      <span>Step</span>
      <span className="relative h-4">
        {marks.map((tick, at) => (
          <span
            key={tick}
            className={`absolute tabular-nums whitespace-nowrap ${at === 0 ? "" : tick / whole > NEAR_END ? "-translate-x-full" : "-translate-x-1/2"} ${at > 0 && at < marks.length - 1 ? "max-sm:hidden" : ""}`}
            style={{ left: toPercent(tick, whole) }}
          >
            {tick === 0 ? "0" : formatShort(tick)}
          </span>
        ))}
      </span>
      <span>
        <span className={TOOK}>Took</span>
        {costs && <span className={COST}>Cost</span>}
      </span>
    </div>
  );
}

/** A round time without its zeros: `5 s`, `2 min`. */
const formatShort = (ms: number): string =>
  formatDuration(ms)
    .replace(/ 00 s$/, "")
    .replace(/\.0 s$/, " s");

interface RowProps {
  row: GanttRow;
  from: number;
  whole: number;
  now: number;
  current: boolean;
  /** Whether there is a column for costs. */
  costs: boolean;
  isLatest: boolean;
  pick: { current: Props["onPick"] };
  unfold: { current(step: string): void };
}

/** Whether a row would look the same, so that it need not render again. */
const isSame = (one: RowProps, other: RowProps): boolean =>
  one.row.attempt === other.row.attempt &&
  one.row.status === other.row.status &&
  one.row.folded === other.row.folded &&
  SCALARS.every((name) => one[name] === other[name]);
const SCALARS = ["from", "whole", "now", "current", "costs", "isLatest"] as const;

const Row = memo(DrawnRow, isSame);

/** A row reserves its own height while it is out of sight, so that nothing moves when it comes into sight. */
const FOLDED_HEIGHT = "[contain-intrinsic-block-size:auto_5.5rem] lg:[contain-intrinsic-block-size:auto_4.25rem]";

function DrawnRow({ row, from, whole, now, current, costs, isLatest, pick, unfold }: RowProps) {
  const { key, step, name, note, status, inner, attempt, folded } = row;
  const span = attempt ? spanOf(attempt, from, now) : null;
  return (
    <li
      className={`row-block ${folded > 0 ? FOLDED_HEIGHT : "lg:[contain-intrinsic-block-size:auto_2.25rem]"} border-b border-line last:border-0`}
    >
      <button
        type="button"
        data-row
        aria-current={current ? "step" : undefined}
        onClick={() => pick.current(step, isLatest || !attempt ? "" : key)}
        className={`${COLUMNS} h-9 w-full -outline-offset-2 border-l-2 border-transparent text-left hover:bg-hover max-lg:h-11 aria-[current=step]:border-accent aria-[current=step]:bg-hover`}
      >
        <span className={`flex min-w-0 items-center gap-1.5 ${inner ? "pl-3.5" : ""}`}>
          <Status status={status} bare />
          <span className="min-w-0 truncate text-sm" title={note ? `${name}, ${note}` : name}>
            <span className={status === "pending" ? "text-dim" : "font-medium"}>{name}</span>
            {note && <span className="text-dim"> {note}</span>}
          </span>
        </span>
        <span aria-hidden className="relative h-3.5">
          {span && attempt && <Bar span={span} attempt={attempt} whole={whole} />}
        </span>
        <span className="text-dim">
          <span className={TOOK}>{span && attempt?.started_at && formatDuration(span.end - span.start)}</span>
          {costs && <span className={COST}>{attempt && isPaid(attempt) && costText(attempt)}</span>}
        </span>
      </button>
      {folded > 0 && (
        <button
          type="button"
          onClick={() => unfold.current(step)}
          className="h-8 w-full pl-11 text-left text-sm text-dim hover:bg-hover hover:text-ink max-lg:h-11"
        >
          {folded} more of {name}
        </button>
      )}
    </li>
  );
}

/**
 * How the time was spent: a thin line for queueing, stripes for a person, blue for the model, green for tools, commands
 * and set-up.
 */
function Bar({ span: { queued, start, end }, attempt, whole }: { span: Span; attempt: Attempt; whole: number }) {
  const isPerson = attempt.kind === "approval";
  // Only the total wait is known, not when it happened. A bar that is mostly waiting therefore has no color of work.
  const isMostlyWait = attempt.waited_ms * 2 > end - start;
  const tone = isPerson
    ? "bg-wait hatched"
    : !isMostlyWait && (attempt.kind === "agent" || attempt.kind === "command")
      ? "bg-tool"
      : "bg-line-strong";
  const long = Math.max(end - start, 1);
  const edge = attempt.status === "failed" ? "border-r-2 border-bad" : "";
  return (
    <>
      <span
        className="absolute top-1/2 h-0.5 -translate-y-1/2 bg-faint"
        style={{ left: toPercent(queued, whole), width: toPercent(start - queued, whole) }}
      />
      {attempt.started_at && (
        <span
          className={`absolute h-full min-w-1 overflow-hidden rounded-[3px] ${tone} ${edge} ${attempt.superseded ? "opacity-60" : ""}`}
          style={{ left: toPercent(start, whole), width: toPercent(end - start, whole) }}
        >
          {attempt.model_time.map(({ from_ms, to_ms }) => (
            <span
              key={from_ms}
              className="absolute h-full min-w-0.5 bg-run"
              style={{ left: toPercent(from_ms, long), width: toPercent(to_ms - from_ms, long) }}
            />
          ))}
        </span>
      )}
    </>
  );
}

/** Shorter queueing times are not mentioned. */
const QUEUED_SHOWN_MS = 1_000;

function Legend({
  timeline,
  elapsed,
  from,
  now,
}: {
  timeline: Schemas["RunTimeline"];
  elapsed: number;
  from: number;
  now: number;
}) {
  const { queue, person, model, tools, waited } = sumsOf(timeline, from, now);
  const parts: [name: string, look: string, ms: number][] = [
    ["Model", "h-2.5 bg-run", model],
    ["Tools and setup", "h-2.5 bg-tool", tools],
    ["A person", "h-2.5 bg-wait hatched", person],
    ["Waited for a provider or the machine", "h-2.5 bg-line-strong", waited >= QUEUED_SHOWN_MS ? waited : 0],
    ["In the queue", "h-0.5 bg-faint", queue >= QUEUED_SHOWN_MS ? queue : 0],
  ];
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-0.5 border-t border-line px-2.5 py-1.5 text-xs text-dim tabular-nums">
      <span className="font-medium">{formatDuration(elapsed)} in all</span>
      {parts
        .filter(([, , ms]) => ms > 0)
        .map(([name, look, ms]) => (
          <span key={name} className="inline-flex items-center gap-1.5">
            <span aria-hidden className={`w-3 rounded-sm ${look}`} />
            {name} {formatDuration(ms)}
          </span>
        ))}
      {timeline.left_out > 0 && <span>Not shown: {pluralize(timeline.left_out, "older attempt")}.</span>}
    </p>
  );
}
