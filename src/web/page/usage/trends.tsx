/** Run outcomes above spend, day by day. The spend is stacked by model, agent or project. */
import { api, type Schemas } from "../../api/client.ts";
import { useAgentNames } from "../../session/actor.tsx";
import { type Bar, Legend, type Part, StackedBars } from "../../ui/chart/stacked-bars.tsx";
import { FilterSelect } from "../../ui/filter.tsx";
import { costText, DAY_MS, formatUsd, pluralize } from "../../ui/format.ts";
import { Await } from "../../ui/note.tsx";
import { Panel, Section } from "../../ui/page.tsx";
import { useParam } from "../../ui/tabs.tsx";

type Trend = Schemas["UsageTrend"];
type By = Trend["by"];
type Budget = Schemas["Usage"]["budgets"][number];

const STACKS = [
  { value: "", label: "By model" },
  { value: "agent", label: "By agent" },
  { value: "project", label: "By project" },
];
const OUTCOMES: Part[] = [
  { name: "Succeeded", color: "var(--series-3)" },
  { name: "Failed", color: "var(--series-5)" },
  { name: "Cancelled", color: "var(--series-9)" },
];
const OTHERS = "var(--series-9)";

interface Props {
  period: { from: string; user_id?: string };
  /** Shows hours instead of days; hours are not split into parts. */
  hourly: boolean;
  budgets: readonly Budget[];
  /** Expected cost of each remaining day of the month; 0 draws no such days. */
  perDay: number;
  pick: Record<"day" | "model" | "agent", (value: string) => void>;
}

const dayText = (at: string): string =>
  new Date(at).toLocaleDateString(undefined, { month: "short", day: "numeric", timeZone: "UTC" });
const hourText = (at: string): string =>
  new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });

export default function Trends({ hourly, ...props }: Props) {
  return hourly ? <Hours {...props} /> : <Days {...props} />;
}

function Hours({ period, pick }: Omit<Props, "hourly">) {
  const query = { ...period, granularity: "hour" as const };
  const history = api.useQuery("get", "/v1/usage/history", { params: { query } });
  return (
    <Section title="Spend">
      <Panel className="p-3">
        <Await query={history}>
          {({ items }) => (
            <StackedBars
              label="Spend by hour"
              bars={items.map(({ start_at, cost_usd }) => ({
                key: start_at,
                title: hourText(start_at),
                values: [cost_usd],
              }))}
              parts={[{ name: "Spend", color: "var(--series-1)" }]}
              format={formatUsd}
              about={(bar) => callsOf(items.find(({ start_at }) => start_at === bar.key))}
              onPick={(bar) => pick.day(bar.key.slice(0, 10))}
            />
          )}
        </Await>
      </Panel>
    </Section>
  );
}

const callsOf = (item: { calls: number; calls_without_price: number } | undefined): string => {
  if (!item) return "if it continues like the last seven days";
  const unknown = item.calls_without_price > 0 ? `, ${item.calls_without_price} without a price` : "";
  return `${pluralize(item.calls, "call")}${unknown}`;
};

function Days({ period, budgets, perDay, pick }: Omit<Props, "hourly">) {
  const [by, setBy] = useParam<By>("by");
  const agentName = useAgentNames();
  const trend = api.useQuery("get", "/v1/usage/trend", {
    params: { query: { ...period, ...(by ? { by } : {}) } },
  });
  const nameOf = ({ key, name, others }: Trend["series"][number]): string => {
    if (others) return "Others";
    if (by === "project") return name ?? (key === "" ? "No project" : "A deleted project");
    return by === "agent" ? agentName(key) : key;
  };
  return (
    <Await query={trend} rows={6}>
      {({ series, items, runs }) => {
        const parts = series.map((one, at) => ({
          name: nameOf(one),
          color: one.others ? OTHERS : `var(--series-${(at % 8) + 1})`,
        }));
        const days = items.map(({ start_at, costs_usd }) => ({
          key: start_at,
          title: dayText(start_at),
          values: costs_usd,
        }));
        const coming = daysLeft(items.at(-1)?.start_at, perDay);
        const findDay = (bar: Bar) => items.find(({ start_at }) => start_at === bar.key);
        const ended = runs.succeeded + runs.failed + runs.cancelled;
        const pickPart = (at: number) => {
          const one = series[at];
          if (!one || one.others || by === "project") return;
          pick[by === "agent" ? "agent" : "model"](one.key);
        };
        return (
          <>
            {ended > 0 && (
              <Section title="Runs">
                <Panel className="p-3">
                  <StackedBars
                    label="Runs by outcome and day"
                    height={120}
                    bars={[
                      ...items.map((item) => ({
                        key: item.start_at,
                        title: dayText(item.start_at),
                        values: [item.runs.succeeded, item.runs.failed, item.runs.cancelled],
                      })),
                      ...coming.map((bar) => ({ ...bar, values: [] })),
                    ]}
                    parts={OUTCOMES}
                    format={(value) => value.toLocaleString("en-US", { maximumFractionDigits: 1 })}
                    about={(bar) => {
                      const at = findDay(bar);
                      return at ? `cost ${costText(at.runs)}` : "still to come";
                    }}
                  />
                  <Legend parts={OUTCOMES} />
                </Panel>
              </Section>
            )}
            <Section
              title="Spend"
              actions={<FilterSelect label="Stacked" value={by} onChange={setBy} options={STACKS} />}
            >
              <Panel className="p-3">
                <StackedBars
                  label="Spend by day"
                  bars={[...days, ...coming]}
                  parts={parts}
                  format={formatUsd}
                  about={(bar) => callsOf(findDay(bar))}
                  limit={limitOf(budgets)}
                  onPick={(bar) => pick.day(bar.key.slice(0, 10))}
                />
                <Legend
                  parts={parts.filter((_, at) => series[at]!.cost_usd > 0)}
                  {...(by === "project" ? {} : { onPick: pickPart })}
                />
                {items.length > 0 && !series.some(({ cost_usd }) => cost_usd > 0) && (
                  <p className="mt-1 text-sm text-dim">
                    {items.some(({ calls }) => calls > 0)
                      ? "Nothing was spent: the models that were asked cost nothing, or have no known price."
                      : "No model was asked in this time. What each call costs shows here."}
                  </p>
                )}
              </Panel>
            </Section>
          </>
        );
      }}
    </Await>
  );
}

/** The days from the last one to the month's end (UTC), each with the same expected cost. */
function daysLeft(last: string | undefined, perDay: number): (Bar & { expected: true })[] {
  if (last === undefined || perDay <= 0) return [];
  const days: (Bar & { expected: true })[] = [];
  const month = new Date(last).getUTCMonth();
  for (let at = Date.parse(last) + DAY_MS; new Date(at).getUTCMonth() === month; at += DAY_MS) {
    const key = new Date(at).toISOString();
    days.push({ key, title: dayText(key), values: [perDay], expected: true });
  }
  return days;
}

/** The daily budget; without one, the monthly budget divided by the days of the month. */
function limitOf(budgets: readonly Budget[]): { value: number; name: string } | undefined {
  const daily = budgets.find(({ scope }) => scope.endsWith("_day") && !scope.startsWith("agent"));
  if (daily) return { value: daily.limit_usd, name: `Budget a day: ${formatUsd(daily.limit_usd)}` };
  const monthly = budgets.find(({ scope }) => scope.endsWith("_month"));
  if (!monthly) return undefined;
  const now = new Date();
  const days = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)).getUTCDate();
  const value = monthly.limit_usd / days;
  return { value, name: `Budget of the month, a day: ${formatUsd(value)}` };
}
