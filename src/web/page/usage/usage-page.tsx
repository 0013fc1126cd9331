/** What work cost: by day, model and agent; the budgets; the calls behind each figure. */

import { Download } from "lucide-react";
import { useMemo } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { List } from "../../kit/list.tsx";
import { useAgentNames } from "../../session/actor.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Badge, FactRow } from "../../ui/facts.tsx";
import { FilterBar, FilterSelect } from "../../ui/filter.tsx";
import { costText, count, DAY_MS, formatDuration, formatUsd, HOUR_MS, pluralize } from "../../ui/format.ts";
import { lazy } from "../../ui/lazy.tsx";
import { Await, Loading } from "../../ui/note.tsx";
import { PageHeader, Panel, Section } from "../../ui/page.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { Budgets } from "./budgets.tsx";
import { downloadCsv } from "./download-csv.ts";

const Trends = lazy(() => import("./trends.tsx"), <Loading rows={6} />);

type Call = Schemas["LlmCall"];
const PERIODS = [
  { value: "", label: "Last 30 days" },
  { value: "1", label: "Last 24 hours" },
  { value: "7", label: "Last 7 days" },
  { value: "90", label: "Last 90 days" },
  { value: "365", label: "Last year" },
];

/** Rounded to the hour, so that the query stays the same for a while. */
const subtractDays = (days: number) =>
  new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - days * DAY_MS).toISOString();

export default function UsagePage() {
  const admin = useAdmin();
  const [days, setDays] = useParam("days");
  const [whose, setWhose] = useParam("of");
  const [model, setModel] = useParam("model");
  const [agent, setAgent] = useParam("agent");
  const [user, setUser] = useParam("user");
  const [day, setDay] = useParam("day");
  const span = Number(days || 30);
  const from = subtractDays(span);
  const saving = useChange();
  const filters = { model, agent, user, day, from };
  const save = () =>
    saving.run(() => downloadCsv(`/v1/llm-calls?${new URLSearchParams(queryOf(filters))}`, "llm-calls.csv"));
  const everybody = admin && whose !== "me";
  const owner = everybody ? { user_id: "all" } : {};
  const usage = api.useQuery("get", "/v1/usage", { params: { query: { from, ...owner } } });
  const users = api.useQuery("get", "/v1/users", { params: { query: { limit: 200 } } }, { enabled: everybody });
  const nameOf = (id: string) => users.data?.items.find((one) => one.id === id)?.display_name || "a user";
  const agentName = useAgentNames();
  const words = { model, agent: agent && agentName(agent), user: user && nameOf(user), day };
  return (
    <>
      <PageHeader
        title="Usage"
        cli="skep usage"
        actions={<Button label="CSV" icon={Download} busy={saving.busy} onClick={save} />}
      />
      <FilterBar>
        <FilterSelect label="Period" value={days} onChange={setDays} options={PERIODS} />
        {admin && (
          <FilterSelect
            label="Whose"
            value={whose}
            onChange={setWhose}
            options={[
              { value: "", label: "Everybody's" },
              { value: "me", label: "Mine" },
            ]}
          />
        )}
      </FilterBar>
      <Await query={usage} rows={2}>
        {({ totals, by_model, by_agent, by_user, budgets, forecast }) => (
          <>
            <FactRow
              facts={[
                [
                  "Spent",
                  <b key="spent" className="font-semibold">
                    {costText(totals)}
                  </b>,
                ],
                [
                  "Expected this month",
                  <span
                    key="expected"
                    title={`${formatUsd(forecast.spent_usd)} so far, ${formatUsd(forecast.per_day_usd)} a day`}
                  >
                    {forecast.expected_usd > 0 ? `about ${formatUsd(forecast.expected_usd)}` : formatUsd(0)}
                  </span>,
                ],
                ["A run that succeeded", <PerSuccess key="success" period={{ from, ...owner }} />],
                ["Calls", count(totals.calls)],
                ["Failed", count(totals.errors)],
                ["Tokens in", count(totals.input_tokens)],
                ["Tokens out", count(totals.output_tokens)],
                ["From the cache", count(totals.cache_read_tokens)],
              ]}
            />
            {totals.calls_without_price > 0 && (
              <p className="mb-4 text-sm text-dim">
                {totals.calls_without_price === 1
                  ? "1 call has no known price and is not in the sum. Give its model one under Model providers."
                  : `Not in the sum: ${pluralize(totals.calls_without_price, "call")} without a known price. Give their models one under Model providers.`}
              </p>
            )}
            <Trends
              period={{ from, ...owner }}
              hourly={span <= 2}
              budgets={budgets}
              perDay={span <= 90 ? forecast.per_day_usd : 0}
              pick={{ day: setDay, model: setModel, agent: setAgent }}
            />
            <div className="grid gap-x-6 lg:grid-cols-2">
              <Shares title="By model" rows={by_model.map((row) => ({ name: row.model, ...row }))} onPick={setModel} />
              <Shares
                title="By agent"
                rows={by_agent.map((row) => ({ name: row.agent_id, label: agentName(row.agent_id), ...row }))}
                onPick={setAgent}
              />
              {everybody && by_user.length > 1 && (
                <Shares
                  title="By user"
                  rows={by_user.map(({ user_id, ...row }) => ({
                    name: user_id ?? "",
                    label: user_id === null ? "nobody" : nameOf(user_id),
                    ...row,
                  }))}
                  onPick={setUser}
                />
              )}
            </div>
            <Budgets budgets={budgets} />
          </>
        )}
      </Await>
      <Calls
        filters={filters}
        words={words}
        agentName={agentName}
        clear={{
          model: () => setModel(""),
          agent: () => setAgent(""),
          user: () => setUser(""),
          day: () => setDay(""),
        }}
      />
    </>
  );
}

interface Share {
  name: string;
  /** Text to show if it differs from the name. */
  label?: string;
  cost_usd: number;
  calls_without_price: number;
  calls: number;
}

function Shares({ title, rows, onPick }: { title: string; rows: Share[]; onPick(name: string): void }) {
  const sorted = rows.toSorted((a, b) => b.cost_usd - a.cost_usd || b.calls - a.calls).slice(0, 12);
  const most = Math.max(...sorted.map(({ cost_usd }) => cost_usd), 0);
  const mostCalls = Math.max(...sorted.map(({ calls }) => calls), 1);
  return (
    <Section title={title}>
      {sorted.length === 0 ? (
        <p className="text-dim">Nothing in this period.</p>
      ) : (
        <Panel className="overflow-hidden">
          <ul>
            {sorted.map(({ name, label, cost_usd, calls, calls_without_price }) => (
              <li key={name} className="border-b border-line last:border-0">
                <button
                  type="button"
                  onClick={() => onPick(name)}
                  className="relative flex w-full items-center gap-3 px-3 py-1.5 text-left hover:bg-hover max-sm:min-h-11"
                >
                  <span
                    aria-hidden
                    className="absolute inset-y-0 left-0 bg-accent-soft"
                    style={{ width: `${(most > 0 ? cost_usd / most : calls / mostCalls) * 100}%` }}
                  />
                  <span className="relative line-clamp-1 min-w-0 flex-1">{label ?? name}</span>
                  <span className="relative text-sm text-dim tabular-nums">{count(calls)}</span>
                  <span className="relative w-24 text-right tabular-nums">
                    {costText({ cost_usd, calls_without_price })}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </Section>
  );
}

/** The cost of all ended runs, divided by the number of those that succeeded. */
function PerSuccess({ period }: { period: { from: string; user_id?: string } }) {
  const trend = api.useQuery("get", "/v1/usage/trend", { params: { query: period } });
  const { per_success_usd, succeeded, failed, calls_without_price } = trend.data?.runs ?? {};
  if (per_success_usd === undefined) return "…";
  if (per_success_usd === null) return "–";
  return (
    <span title={`${pluralize(succeeded ?? 0, "run")} succeeded, ${failed} failed; what the failed ones cost is in it`}>
      {costText({ cost_usd: per_success_usd, calls_without_price: calls_without_price ?? 0 })}
    </span>
  );
}

const columnsOf = (agentName: (id: string) => string): Column<Call>[] => [
  nameColumn("Call", "w-2/5 min-w-40", ({ model, agent_id, purpose }) => [
    model,
    `${agentName(agent_id)} · ${purpose}`,
  ]),
  {
    title: "Outcome",
    cell: ({ error, finish_reason }) =>
      error ? <Badge tone="bad">{error.code}</Badge> : <span className="text-sm text-dim">{finish_reason}</span>,
  },
  {
    title: "Tokens",
    wide: true,
    align: "right",
    cell: ({ input_tokens, output_tokens }) => `${count(input_tokens)} → ${count(output_tokens)}`,
  },
  { title: "Took", wide: true, align: "right", cell: ({ duration_ms }) => formatDuration(duration_ms) },
  { title: "Cost", align: "right", cell: ({ cost_usd }) => (cost_usd === null ? "no price" : formatUsd(cost_usd)) },
  { title: "When", wide: true, align: "right", cell: ({ created_at }) => <Ago at={created_at} /> },
];

interface CallFilters {
  model: string;
  agent: string;
  user: string;
  day: string;
  from: string;
}

/** The parameters of the request. */
function queryOf({ model, agent, user, day, from }: CallFilters) {
  return {
    since: day || from,
    ...(day ? { until: new Date(Date.parse(day) + DAY_MS).toISOString() } : {}),
    ...(model ? { model } : {}),
    ...(agent ? { agent_id: agent } : {}),
    ...(user ? { user_id: user } : {}),
  };
}

type Chosen = "model" | "agent" | "user" | "day";

interface CallsProps {
  filters: CallFilters;
  /** The filters as people read them. */
  words: Record<Chosen, string>;
  agentName(id: string): string;
  clear: Record<Chosen, () => void>;
}

function Calls({ filters, words, agentName, clear }: CallsProps) {
  const columns = useMemo(() => columnsOf(agentName), [agentName]);
  const query = usePages("/v1/llm-calls", { query: { limit: 25, ...queryOf(filters) } });
  const on = Object.entries(words).filter(([, value]) => value) as [Chosen, string][];
  return (
    <Section
      title="Calls"
      actions={
        <span className="flex flex-wrap gap-1">
          {on.map(([name, value]) => (
            <button
              key={name}
              type="button"
              onClick={clear[name]}
              className="rounded-full bg-accent-soft px-2.5 py-1 text-xs text-accent"
              title="Remove this filter"
            >
              {value} ✕
            </button>
          ))}
        </span>
      }
    >
      <List
        query={query}
        label="Model calls"
        columns={columns}
        keyOf={({ id }) => id}
        hrefOf={({ run_id }) => (run_id ? `/runs/${run_id}` : "/usage")}
        empty={{
          text: "No model was asked in this period.",
          action: <ButtonLink href="/runs/new">Start a run</ButtonLink>,
          cli: "skep usage",
        }}
      />
    </Section>
  );
}
