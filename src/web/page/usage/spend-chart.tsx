/** Spend over time as bars (uPlot). A bar, clicked or chosen by keyboard, leads to its calls. */
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import uPlot from "uplot";
import type { Schemas } from "../../api/client.ts";
import { costText, plural, usd } from "../../ui/format.ts";

type Bucket = Schemas["UsageHistory"];
const HEIGHT = 200;

export default function SpendChart({ buckets, onPick }: { buckets: Bucket[]; onPick(startAt: string): void }) {
  const place = useRef<HTMLDivElement>(null);
  const id = useId();
  const [current, setCurrent] = useState(Number.POSITIVE_INFINITY);
  const pick = useRef(onPick);
  pick.current = onPick;
  useEffect(() => {
    const box = place.current;
    if (!box) return;
    const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const axis = { stroke: colour("--faint"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    const chart = new uPlot(
      {
        width: box.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, points: { show: false } },
        scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
        axes: [
          { ...axis, grid: { show: false } },
          { ...axis, size: 64, values: (_, ticks) => ticks.map((value) => usd(value)) },
        ],
        series: [
          {},
          {
            label: "Spend",
            fill: colour("--accent"),
            width: 0,
            paths: uPlot.paths.bars?.({ size: [0.7, 48] }),
            points: { show: false },
          },
        ],
      },
      [buckets.map(({ start_at }) => Date.parse(start_at) / 1_000), buckets.map(({ cost_usd }) => cost_usd)],
      box,
    );
    const click = () => {
      const bucket = buckets[chart.cursor.idx ?? -1];
      if (bucket) pick.current(bucket.start_at);
    };
    chart.over.addEventListener("click", click);
    const watch = new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height: HEIGHT }));
    watch.observe(box);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
  }, [buckets]);
  const most = buckets.reduce((highest, { cost_usd }) => Math.max(highest, cost_usd), 0);
  const spent = buckets.map((bucket, at) => ({ ...bucket, at })).filter(({ calls }) => calls > 0);
  const active = Math.min(current, spent.length - 1);
  const onKeyDown = (event: KeyboardEvent) => {
    const last = spent.length - 1;
    const to = { ArrowLeft: Math.max(0, active - 1), ArrowRight: Math.min(last, active + 1), Home: 0, End: last }[
      event.key
    ];
    if (to !== undefined) setCurrent(to);
    else if (event.key === "Enter" && spent[active]) onPick(spent[active].start_at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="relative">
      <div ref={place} aria-hidden />
      {/* The chart's twin for keyboards and screen readers: a place over each bar that has calls. */}
      {spent.length > 0 && (
        <div
          role="listbox"
          aria-label="Spend over time. Arrow keys choose a bar, Enter shows its calls."
          aria-activedescendant={`${id}-${active}`}
          tabIndex={0}
          onKeyDown={onKeyDown}
          className="group pointer-events-none absolute inset-y-0 right-0 left-16 rounded focus-visible:outline-2 focus-visible:outline-focus"
        >
          {spent.map(({ start_at, cost_usd, calls_without_price, calls, at }, place) => (
            <div
              key={start_at}
              id={`${id}-${place}`}
              role="option"
              tabIndex={-1}
              aria-selected={place === active}
              aria-label={`${start_at.slice(0, 16).replace("T", " ")}: ${costText({ cost_usd, calls_without_price })}, ${plural(calls, "call")}`}
              className={`absolute bottom-12 rounded-sm ${place === active ? "group-focus-visible:bg-focus/40" : ""}`}
              style={barAt(at, buckets.length, most > 0 ? cost_usd / most : 0)}
            />
          ))}
        </div>
      )}
    </div>
  );
}

/** Position of a bar, in percent of the drawing. Only accurate enough to show which bar has the focus. */
function barAt(at: number, count: number, height: number): { left: string; width: string; height: string } {
  const width = 100 / Math.max(1, count);
  return { left: `${at * width}%`, width: `${width}%`, height: `${Math.max(8, height * 70)}%` };
}
