/** Logged model calls and their sums. Money is counted in whole billionths of a dollar, so that sums are exact. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull } from "../../core/schema.ts";
import { recordOf } from "../../core/typed-keys.ts";
import type { ModelReply } from "../../engine/model.ts";
import { PageQuery } from "../../http/list.ts";
import { queryBoolean } from "../../http/schema.ts";

const Tokens = t.Integer({ minimum: 0 });
const tokenCounts = {
  input_tokens: Tokens,
  output_tokens: Tokens,
  cache_read_tokens: Tokens,
  cache_write_tokens: Tokens,
  reasoning_tokens: Tokens,
};

export const LlmCall = t.Object({
  id: t.String(),
  agent_id: t.String(),
  run_id: orNull(t.String()),
  step_id: orNull(t.String()),
  session_id: orNull(t.String()),
  project_id: orNull(t.String()),
  user_id: orNull(t.String()),
  purpose: t.String({ description: "Purpose of the call: `turn`, `summary`, `embedding` or another." }),
  provider: t.String(),
  model: t.String(),
  key_source: oneOf("user", "instance", "env", "none"),
  ...tokenCounts,
  estimated: t.Boolean({
    description: "Whether the counts are estimated from the texts, because the provider gave none or impossible ones.",
  }),
  cost_usd: orNull(t.Number({ description: "Cost of the call; null if the price is unknown." })),
  cost_source: oneOf("table", "provider", "unknown"),
  duration_ms: t.Integer(),
  time_to_first_token_ms: orNull(t.Integer()),
  attempts: t.Integer(),
  finish_reason: t.String(),
  error: orNull(t.Object({ code: t.String(), message: t.String() })),
  created_at: t.String({ format: "date-time" }),
});
export type LlmCall = Static<typeof LlmCall>;

/** A model call to log. */
export interface LlmCallRecord {
  agentId: string;
  runId?: string | undefined;
  stepId?: string | undefined;
  sessionId?: string | undefined;
  projectId?: string | undefined;
  userId?: string | undefined;
  /** `turn` by default. */
  purpose?: string | undefined;
  reply: Omit<ModelReply, "parts">;
}

export const CallsWithoutPrice = t.Integer({
  description: "Number of model calls whose cost is unknown; `cost_usd` does not include them.",
});

export const Totals = t.Object({
  calls: t.Integer(),
  errors: t.Integer(),
  ...tokenCounts,
  cost_usd: t.Number({ description: "Cost of the calls whose price is known." }),
  calls_without_price: CallsWithoutPrice,
});
export type Totals = Static<typeof Totals>;

const buildGroups = <const N extends string>(name: N) =>
  t.Array(t.Composite([t.Object(recordOf([name], () => t.String())), Totals]));

const breakdown = {
  totals: Totals,
  by_provider: buildGroups("provider"),
  by_model: buildGroups("model"),
  by_agent: buildGroups("agent_id"),
  by_user: t.Array(t.Composite([t.Object({ user_id: orNull(t.String()) }), Totals]), {
    description:
      "Totals by user, only for callers who see everybody's calls. A null `user_id` stands for calls without a user.",
  }),
};
export const UsageSummary = t.Object({ ...breakdown, by_day: buildGroups("day") });
export type UsageSummary = Static<typeof UsageSummary>;

export const BudgetState = t.Object({
  scope: t.String({
    description:
      "Scope of the budget: run, agent_run, agent_day, user_day, user_month, instance_day or instance_month.",
  }),
  limit_usd: t.Number(),
  spent_usd: t.Number(),
  remaining_usd: t.Number(),
  percent: t.Number(),
  resets_at: orNull(t.String({ format: "date-time" })),
});
export type BudgetState = Static<typeof BudgetState>;

export const Forecast = t.Object(
  {
    until: t.String({ format: "date-time", description: "End of the month in UTC." }),
    spent_usd: t.Number({ description: "Amount spent this month so far." }),
    per_day_usd: t.Number({ description: "Mean of the last seven days, or of the days since the first call." }),
    expected_usd: t.Number({
      description: "Expected amount at the end of the month, if spending continues like that.",
    }),
  },
  { description: "Forecast for the current month, whatever period was asked for." },
);
export type Forecast = Static<typeof Forecast>;

export const Usage = t.Object({
  user_id: orNull(t.String({ description: "User whose usage this is; null for everybody's." })),
  from: t.String({ format: "date-time" }),
  to: t.String({ format: "date-time" }),
  ...breakdown,
  budgets: t.Array(BudgetState),
  forecast: Forecast,
});

export const Granularity = oneOf("hour", "day", "month");
export type Granularity = Static<typeof Granularity>;
export const HistoryBucket = t.Composite([
  t.Object({ start_at: t.String({ format: "date-time" }), end_at: t.String({ format: "date-time" }) }),
  Totals,
]);
export type HistoryBucket = Static<typeof HistoryBucket>;

export const TrendBy = oneOf("model", "agent", "project");
export type TrendBy = Static<typeof TrendBy>;
const Outcomes = t.Object({
  succeeded: t.Integer(),
  failed: t.Integer(),
  cancelled: t.Integer(),
  cost_usd: t.Number({ description: "Total cost of these runs, whenever it was paid." }),
  calls_without_price: CallsWithoutPrice,
});
export type Outcomes = Static<typeof Outcomes>;
export const UsageTrend = t.Object(
  {
    by: TrendBy,
    from: t.String({ format: "date-time" }),
    to: t.String({ format: "date-time" }),
    series: t.Array(
      t.Object({
        key: t.String({
          description: "Model, id of the agent or id of the project; empty for calls without a project.",
        }),
        name: orNull(
          t.String({ description: "Name of the project; null if the key is no project or the project was deleted." }),
        ),
        others: t.Boolean({
          description: "Whether this is the sum of all that are not listed; always the last entry.",
        }),
        calls: t.Integer(),
        cost_usd: t.Number(),
        calls_without_price: CallsWithoutPrice,
      }),
      { description: "Series, the most expensive first." },
    ),
    items: t.Array(
      t.Object({
        start_at: t.String({ format: "date-time" }),
        calls: t.Integer(),
        cost_usd: t.Number(),
        calls_without_price: CallsWithoutPrice,
        costs_usd: t.Array(t.Number(), { description: "Costs in the order of `series`." }),
        runs: t.Composite([Outcomes], { description: "Runs that ended on this day." }),
      }),
      { description: "Days (UTC) of the period, oldest first." },
    ),
    runs: t.Composite([
      Outcomes,
      t.Object({
        per_success_usd: orNull(
          t.Number({
            description: "Total cost of the runs that ended, divided by the number that succeeded; null if none did.",
          }),
        ),
      }),
    ]),
  },
  { title: "UsageTrend" },
);
export type UsageTrend = Static<typeof UsageTrend>;

const Id = t.String({ maxLength: 128 });
const Time = (description: string) => t.String({ maxLength: 40, description: `${description}, as RFC 3339 or a day.` });
const Filters = {
  agent_id: t.Optional(Id),
  run_id: t.Optional(Id),
  session_id: t.Optional(Id),
  provider: t.Optional(Id),
  model: t.Optional(t.String({ maxLength: 256 })),
  since: t.Optional(Time("Start of the period, inclusive")),
  until: t.Optional(Time("End of the period, exclusive")),
  user_id: t.Optional(t.String({ maxLength: 128, description: "User whose calls are shown. Administrators only." })),
};
export const CallQuery = t.Object({
  ...Filters,
  ...PageQuery,
  errors: t.Optional(queryBoolean({ description: "Whether to list only failed calls." })),
});
export const SummaryQuery = t.Object(Filters);
const Period = {
  from: t.Optional(Time("Start of the period, inclusive")),
  to: t.Optional(Time("End of the period, exclusive")),
  user_id: t.Optional(
    t.String({
      maxLength: 128,
      description: "User whose usage is shown, or `all` for everybody. Administrators only.",
    }),
  ),
};
export const UsageQuery = t.Object(Period);
export const HistoryQuery = t.Object({ ...Period, granularity: t.Optional(Granularity) });
export const TrendQuery = t.Object({ ...Period, by: t.Optional(TrendBy) });
