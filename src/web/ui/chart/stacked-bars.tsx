/**
 * A bar chart by day. Each bar is stacked from parts on a common axis. Pointing at a bar or choosing it with the arrow
 * keys shows its values; Enter or a click opens more.
 */
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";

export interface Bar {
  key: string;
  /** Name for people, such as a date. */
  title: string;
  /** In the order of the parts, stacked from the axis upwards. */
  values: readonly number[];
  /** Whether the value is only expected; such a bar is drawn as an outline. */
  expected?: boolean;
}

export interface Part {
  name: string;
  /** A CSS color. */
  color: string;
}

interface Props {
  label: string;
  bars: readonly Bar[];
  parts: readonly Part[];
  format(value: number): string;
  /** Further text about a bar, besides its parts. */
  about(bar: Bar): string;
  /** A line across the chart, such as a budget. */
  limit?: { value: number; name: string } | undefined;
  height?: number;
  onPick?: ((bar: Bar) => void) | undefined;
}

const LEFT = 52;
const BOTTOM = 20;
const TOP = 10;
const GAP = 0.25;

const sumOf = ({ values }: Bar): number => values.reduce((sum, value) => sum + value, 0);

/** Round axis marks from 0 to at least `most`. */
function ticksOf(most: number): number[] {
  if (!(most > 0)) return [0, 1];
  const rough = most / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((one) => one * power >= rough) ?? 10);
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, at) => at * step);
}

export function StackedBars({ label, bars, parts, format, about, limit, height = 200, onPick }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [current, setCurrent] = useState<number | null>(null);
  const [place, setPlace] = useState<number | null>(null);
  const id = useId();
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  // The arrow keys start at the last bar that has a value.
  const first = bars.findLastIndex((bar) => !bar.expected && sumOf(bar) > 0);
  const active = Math.min(place ?? (first < 0 ? bars.length - 1 : first), bars.length - 1);
  const ticks = ticksOf(Math.max(limit?.value ?? 0, ...bars.map(sumOf)));
  const most = ticks.at(-1)!;
  const room = Math.max(0, width - LEFT);
  const slot = bars.length > 0 ? room / bars.length : 0;
  const y = (value: number) => TOP + (height - TOP - BOTTOM) * (1 - value / most);
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowLeft: active - 1, ArrowRight: active + 1, Home: 0, End: bars.length - 1 }[event.key];
    const bar = bars[active];
    if (to !== undefined) {
      const next = Math.max(0, Math.min(bars.length - 1, to));
      setPlace(next);
      setCurrent(next);
    } else if (event.key === "Enter" && bar && onPick) onPick(bar);
    else if (event.key === "Escape" && current !== null) setCurrent(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const said = current === null ? undefined : bars[current];
  return (
    <div ref={box} className="relative" style={{ height }}>
      {width > 0 && (
        <svg aria-hidden width={width} height={height} className="block">
          {ticks.map((tick) => (
            <g key={tick}>
              <line x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} stroke="var(--line)" />
              <text x={LEFT - 8} y={y(tick) + 4} textAnchor="end" fontSize={11} fill="var(--faint)">
                {format(tick)}
              </text>
            </g>
          ))}
          {bars.map((bar, at) => (
            <g key={bar.key} opacity={current === null || current === at ? 1 : 0.55}>
              <Stack bar={bar} parts={parts} x={LEFT + at * slot} slot={slot} y={y} />
              {at % Math.max(1, Math.ceil(56 / Math.max(slot, 1))) === 0 && LEFT + (at + 0.5) * slot < width - 18 && (
                <text x={LEFT + (at + 0.5) * slot} y={height - 5} textAnchor="middle" fontSize={11} fill="var(--faint)">
                  {bar.title.split(",")[0]}
                </text>
              )}
            </g>
          ))}
          {limit && limit.value <= most && (
            <g>
              <line
                x1={LEFT}
                x2={width}
                y1={y(limit.value)}
                y2={y(limit.value)}
                stroke="var(--bad)"
                strokeWidth={1.5}
                strokeDasharray="5 4"
              />
              <text x={width} y={y(limit.value) - 4} textAnchor="end" fontSize={11} fill="var(--bad)">
                {limit.name}
              </text>
            </g>
          )}
        </svg>
      )}
      <div
        role="listbox"
        aria-label={`${label}. Arrow keys choose a bar${onPick ? ", Enter opens it" : ""}.`}
        aria-activedescendant={`${id}-${active}`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onFocus={() => setCurrent(active)}
        onBlur={() => setCurrent(null)}
        onPointerMove={(event) => {
          const { left } = event.currentTarget.getBoundingClientRect();
          const at = Math.floor((event.clientX - left) / Math.max(slot, 1));
          setCurrent(at >= 0 && at < bars.length ? at : null);
        }}
        onPointerLeave={() => setCurrent(null)}
        onClick={() => {
          const bar = current === null ? undefined : bars[current];
          if (bar && !bar.expected) onPick?.(bar);
        }}
        className={`absolute inset-y-0 right-0 rounded ${onPick ? "cursor-pointer" : ""}`}
        style={{ left: LEFT }}
      >
        {bars.map((bar, at) => (
          <div
            key={bar.key}
            id={`${id}-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === active}
            aria-label={wordsOf(bar, parts, format, about)}
            className="pointer-events-none absolute inset-y-0"
            style={{ left: at * slot, width: slot }}
          />
        ))}
      </div>
      {said && current !== null && (
        <Tip x={LEFT + (current + 0.5) * slot} width={width}>
          <div className="flex justify-between gap-4 font-medium">
            <span>{said.title}</span>
            <span className="tabular-nums">
              {said.expected ? "about " : ""}
              {format(sumOf(said))}
            </span>
          </div>
          {!said.expected &&
            parts
              .map((part, at) => ({ ...part, value: said.values[at] ?? 0 }))
              .filter(({ value }) => value > 0)
              .map(({ name, color, value }) => (
                <div key={name + color} className="flex items-center gap-2">
                  <span className="size-2.5 shrink-0 rounded-xs" style={{ background: color }} />
                  <span className="max-w-44 flex-1 truncate">{name}</span>
                  <span className="tabular-nums">{format(value)}</span>
                </div>
              ))}
          <div className="mt-0.5 text-dim">{about(said)}</div>
        </Tip>
      )}
    </div>
  );
}

/** A bar as text for screen readers: all that the tooltip shows. */
function wordsOf(bar: Bar, parts: readonly Part[], format: Props["format"], about: Props["about"]): string {
  const own = parts.flatMap(({ name }, at) => (bar.values[at] ? [`${name} ${format(bar.values[at])}`] : []));
  const more = [...(bar.expected ? ["expected"] : own.length > 1 ? own : []), about(bar)];
  return [`${bar.title}: ${format(sumOf(bar))}`, ...more].join(", ");
}

interface StackProps {
  bar: Bar;
  parts: readonly Part[];
  x: number;
  slot: number;
  y(value: number): number;
}

function Stack({ bar, parts, x, slot, y }: StackProps) {
  const inner = { x: x + (slot * GAP) / 2, width: Math.max(1, slot * (1 - GAP)) };
  if (bar.expected)
    return (
      <rect
        {...inner}
        y={y(sumOf(bar))}
        height={Math.max(0, y(0) - y(sumOf(bar)))}
        fill="none"
        stroke="var(--line-strong)"
        strokeDasharray="3 2"
      />
    );
  let base = 0;
  return parts.map((part, at) => {
    const value = bar.values[at] ?? 0;
    if (value <= 0) return null;
    const from = base;
    base += value;
    // Even a tiny amount is visible.
    const height = Math.max(from === 0 ? 1.5 : 0, y(from) - y(base));
    return <rect key={part.color} {...inner} y={y(from) - height} height={height} fill={part.color} />;
  });
}

/** The tooltip, beside the pointed-at bar and inside the chart. */
function Tip({ x, width, children }: { x: number; width: number; children: ReactNode }) {
  const side = x > width / 2 ? { right: width - x + 10 } : { left: x + 10 };
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute top-1 z-10 min-w-40 rounded-md border border-line-strong bg-panel px-2.5 py-1.5 text-xs shadow-md"
      style={side}
    >
      {children}
    </div>
  );
}

/** The meaning of the colors. */
export function Legend({ parts, onPick }: { parts: readonly Part[]; onPick?: (at: number) => void }) {
  return (
    <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-dim">
      {parts.map(({ name, color }, at) => {
        const inside = (
          <>
            <span aria-hidden className="size-2.5 shrink-0 rounded-xs" style={{ background: color }} />
            {name}
          </>
        );
        return (
          <li key={name + color} className="min-w-0">
            {onPick ? (
              <button
                type="button"
                onClick={() => onPick(at)}
                className="inline-flex min-h-6 items-center gap-1.5 hover:text-ink max-sm:min-h-11"
              >
                {inside}
              </button>
            ) : (
              <span className="inline-flex items-center gap-1.5">{inside}</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
