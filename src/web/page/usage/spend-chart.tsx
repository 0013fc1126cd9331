/** Spend over time as bars (uPlot). Its twin is a table for screen readers; a bar leads to its calls. */
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import type { Schemas } from "../../api/client.ts";
import { usd } from "../../ui/format.ts";

type Bucket = Schemas["UsageHistory"];
const HEIGHT = 200;

export default function SpendChart({ buckets, onPick }: { buckets: Bucket[]; onPick(startAt: string): void }) {
  const place = useRef<HTMLDivElement>(null);
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
            paths: uPlot.paths.bars?.({ size: [0.7, 48] }) as uPlot.Series.PathBuilder,
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
  const spent = buckets.filter(({ calls }) => calls > 0);
  return (
    <>
      <div
        ref={place}
        role="img"
        aria-label={`Spend over time, ${buckets.length} bars. The same as a table follows.`}
      />
      <table className="sr-only">
        <caption>Spend over time</caption>
        <tbody>
          {spent.map(({ start_at, cost_usd, calls }) => (
            <tr key={start_at}>
              <th scope="row">{start_at.slice(0, 16).replace("T", " ")}</th>
              <td>{usd(cost_usd)}</td>
              <td>{calls} calls</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
