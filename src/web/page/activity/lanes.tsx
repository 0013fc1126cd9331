/**
 * A day of all agents as a picture: one lane per agent, with what it worked on. The list below has the same content.
 */
import { ChevronLeft, ChevronRight } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { api, type Schemas } from "../../api/client.ts";
import { useAgentNames } from "../../session/actor.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { formatDuration, longDay, MINUTE_MS, pluralize, timeOfDay } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { Panel } from "../../ui/page.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { useNow } from "../../ui/time.tsx";
import { type Lane, lanesOf } from "./lane-rows.ts";

type Span = Schemas["AgentDay"]["items"][number];

const LANE = 26;
const TONE = { running: "var(--run)", succeeded: "var(--ok)", failed: "var(--bad)", cancelled: "var(--faint)" };
const WORD = { running: "at work", succeeded: "succeeded", failed: "failed", cancelled: "cancelled" };

/** Local midnight of the day `ago` days before today. */
function dayAt(ago: number): Date {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - ago);
}
const hrefOf = ({ run_id, step_id, kind, session_id, agent_id }: Span): string => {
  if (run_id) return `/runs/${run_id}${step_id ? `?step=${encodeURIComponent(step_id)}` : ""}`;
  return kind === "chat" ? `/chat/${session_id}` : `/agents/${agent_id}`;
};

export function Lanes() {
  const [ago, setAgo] = useParam("ago");
  const back = Math.min(365, Math.max(0, Math.floor(Number(ago)) || 0));
  const [from, to] = [dayAt(back), dayAt(back - 1)];
  const query = api.useQuery("get", "/v1/lifecycle/day", {
    params: { query: { from: from.toISOString(), to: to.toISOString() } },
  });
  return (
    <>
      <div className="mb-3 flex items-center gap-1">
        <IconButton label="The day before" onClick={() => setAgo(String(back + 1))} icon={ChevronLeft} iconSize={16} />
        <h2 className="min-w-44 text-center font-medium max-sm:min-w-0 max-sm:flex-1">{longDay(from)}</h2>
        <IconButton
          label="The day after"
          disabled={back === 0}
          onClick={() => setAgo(String(back - 1))}
          icon={ChevronRight}
          iconSize={16}
        />
        {back > 0 && <Button onClick={() => setAgo("")}>Today</Button>}
      </div>
      <Await query={query} rows={6}>
        {({ items, cut }) =>
          items.length === 0 ? (
            <Empty>No agent was at work on this day.</Empty>
          ) : (
            <>
              <Picture spans={items} from={from.getTime()} to={to.getTime()} />
              {cut && <p className="mt-2 text-sm text-dim">The day holds more: the latest {items.length} are drawn.</p>}
            </>
          )
        }
      </Await>
    </>
  );
}

/** Possible distances between the axis lines, in minutes. */
const STEPS = [5, 10, 15, 30, 60, 120, 180];
const LINES = 8;
/** Least width of a bar as a fraction of the axis, so that a short bar between others can still be pointed at. */
const LEAST = 0.01;

/** The part of the day that contains work, and where its axis lines are, in ms. */
function axisOf(spans: readonly Span[], from: number, to: number, now: number) {
  const first = Math.min(...spans.map(({ started_at }) => Date.parse(started_at)));
  const last = Math.max(...spans.map(({ finished_at }) => (finished_at ? Date.parse(finished_at) : now)));
  const length = Math.min(last, to) - Math.max(first, from);
  const step = MINUTE_MS * (STEPS.find((one) => length / (one * MINUTE_MS) <= LINES - 1) ?? STEPS.at(-1)!);
  // Axis lines are multiples of the step since local midnight.
  const begin = Math.max(from, from + Math.floor((first - from) / step) * step);
  const end = Math.min(to, Math.max(begin + step, from + Math.ceil((last - from) / step) * step));
  const lines = Array.from({ length: Math.floor((end - begin) / step) + 1 }, (_, at) => begin + at * step);
  return { begin, end, lines };
}

function Picture({ spans, from, to }: { spans: readonly Span[]; from: number; to: number }) {
  const now = useNow(spans.some(({ finished_at }) => finished_at === null));
  const nameOf = useAgentNames();
  const [, navigate] = useLocation();
  const [current, setCurrent] = useState<Span | null>(null);
  const { begin, end, lines: hours } = axisOf(spans, from, to, now);
  const lanes = useMemo(() => lanesOf(spans, (end - begin) * LEAST), [spans, begin, end]);
  const percent = (at: number) => `${(100 * (Math.min(end, Math.max(begin, at)) - begin)) / (end - begin)}%`;
  const all = lanes.flatMap(({ rows }) => rows.flat());
  const at = current ? all.findIndex((span) => span.execution_id === current.execution_id) : -1;
  const onKeyDown = (event: KeyboardEvent) => {
    const next = {
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (next !== undefined) setCurrent(all[Math.max(0, Math.min(all.length - 1, next))] ?? null);
    else if (event.key === "Enter" && current) navigate(hrefOf(current));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const describeSpan = (span: Span) => {
    const took = formatDuration((span.finished_at ? Date.parse(span.finished_at) : now) - Date.parse(span.started_at));
    const what = [span.title, span.step_id && `step ${span.step_name ?? span.step_id}`].filter(Boolean).join(", ");
    return `${nameOf(span.agent_id)}, ${timeOfDay(span.started_at)}, ${took}, ${WORD[span.status]}${what && `: ${what}`}`;
  };
  return (
    <Panel className="overflow-hidden">
      <div
        role="listbox"
        aria-label="Agents over the day. Arrow keys choose a piece of work, Enter opens it."
        aria-activedescendant={current ? current.execution_id : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onFocus={() => setCurrent((old) => old ?? all[0] ?? null)}
        className="-outline-offset-2"
      >
        {lanes.map((lane) => (
          <LaneRow key={lane.agent_id} lane={lane} name={nameOf(lane.agent_id)} hours={hours} percent={percent}>
            {lane.rows.flatMap((row, line) =>
              row.map((span) => (
                <div
                  key={span.execution_id}
                  id={span.execution_id}
                  role="option"
                  tabIndex={-1}
                  aria-selected={span.execution_id === current?.execution_id}
                  aria-label={describeSpan(span)}
                  onPointerEnter={() => setCurrent(span)}
                  onClick={() => navigate(hrefOf(span))}
                  className="absolute h-[18px] min-w-[3px] cursor-pointer rounded-sm aria-selected:outline-2 aria-selected:outline-offset-1 aria-selected:outline-focus"
                  style={{
                    top: line * LANE + 4,
                    left: percent(Date.parse(span.started_at)),
                    width: `calc(${percent(span.finished_at ? Date.parse(span.finished_at) : now)} - ${percent(Date.parse(span.started_at))})`,
                    background: TONE[span.status],
                  }}
                />
              )),
            )}
          </LaneRow>
        ))}
      </div>
      <div aria-hidden className="relative ml-32 h-6 text-xs text-faint max-sm:ml-24">
        {hours
          .filter((hour) => hour < end)
          .map((hour) => (
            <span key={hour} className="absolute pl-1" style={{ left: percent(hour) }}>
              {new Date(hour).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" })}
            </span>
          ))}
      </div>
      <p aria-hidden className="min-h-9 truncate border-t border-line px-3 py-2 text-sm">
        {current ? (
          describeSpan(current)
        ) : (
          <span className="text-dim">{pluralize(spans.length, "stretch", "stretches")} of work</span>
        )}
      </p>
    </Panel>
  );
}

interface LaneRowProps {
  lane: Lane<Span>;
  name: string;
  hours: number[];
  percent(at: number): string;
  children: ReactNode;
}

function LaneRow({ lane, name, hours, percent, children }: LaneRowProps) {
  return (
    <div role="presentation" className="flex border-b border-line">
      <span className="w-32 shrink-0 truncate px-3 py-1 text-sm max-sm:w-24" title={name} aria-hidden>
        {name}
      </span>
      <div role="presentation" className="relative flex-1 overflow-hidden" style={{ height: lane.rows.length * LANE }}>
        {hours.map((hour) => (
          <span
            key={hour}
            aria-hidden
            className="absolute inset-y-0 border-l border-line"
            style={{ left: percent(hour) }}
          />
        ))}
        {children}
      </div>
    </div>
  );
}
