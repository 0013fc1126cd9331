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
  purpose: t.String({ description: "turn, summary, embedding, …" }),
  provider: t.String(),
  model: t.String(),
  key_source: oneOf("user", "instance", "env", "none"),
  ...tokenCounts,
  estimated: t.Boolean({
    description: "The counts are estimated from the texts: the provider gave none, or impossible ones.",
  }),
  cost_usd: orNull(t.Number({ description: "Null: the price is not known." })),
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
  description: "Model calls that cost something that is not known: `cost_usd` is without them.",
});

export const Totals = t.Object({
  calls: t.Integer(),
  errors: t.Integer(),
  ...tokenCounts,
  cost_usd: t.Number({ description: "Of the calls whose price is known." }),
  calls_without_price: CallsWithoutPrice,
});
export type Totals = Static<typeof Totals>;

const grouped = <const N extends string>(name: N) =>
  t.Array(t.Composite([t.Object(recordOf([name], () => t.String())), Totals]));

const breakdown = {
  totals: Totals,
  by_provider: grouped("provider"),
  by_model: grouped("model"),
  by_agent: grouped("agent_id"),
  by_user: t.Array(t.Composite([t.Object({ user_id: orNull(t.String()) }), Totals]), {
    description: "Only for callers who see everybody's calls. Null: of no user.",
  }),
};
export const UsageSummary = t.Object({ ...breakdown, by_day: grouped("day") });
export type UsageSummary = Static<typeof UsageSummary>;

export const BudgetState = t.Object({
  scope: t.String({ description: "run, agent_run, agent_day, user_day, user_month, instance_day, instance_month" }),
  limit_usd: t.Number(),
  spent_usd: t.Number(),
  remaining_usd: t.Number(),
  percent: t.Number(),
  resets_at: orNull(t.String({ format: "date-time" })),
});
export type BudgetState = Static<typeof BudgetState>;

export const Forecast = t.Object(
  {
    until: t.String({ format: "date-time", description: "The month's end, UTC." }),
    spent_usd: t.Number({ description: "This month so far." }),
    per_day_usd: t.Number({ description: "The mean of the last seven days, or of those since the first call." }),
    expected_usd: t.Number({ description: "By the month's end, if it continues like that." }),
  },
  { description: "Whatever period was asked for." },
);
export type Forecast = Static<typeof Forecast>;

export const Usage = t.Object({
  user_id: orNull(t.String({ description: "Null: everybody." })),
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
  cost_usd: t.Number({ description: "Of these runs in all, whenever they were paid." }),
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
        key: t.String({ description: "A model, an agent's id, a project's id; empty: no project." }),
        name: orNull(t.String({ description: "The project's name. Null: it is none, or was deleted." })),
        others: t.Boolean({ description: "The sum of those that are not listed; always the last." }),
        calls: t.Integer(),
        cost_usd: t.Number(),
        calls_without_price: CallsWithoutPrice,
      }),
      { description: "Dearest first." },
    ),
    items: t.Array(
      t.Object({
        start_at: t.String({ format: "date-time" }),
        calls: t.Integer(),
        cost_usd: t.Number(),
        calls_without_price: CallsWithoutPrice,
        costs_usd: t.Array(t.Number(), { description: "In the order of `series`." }),
        runs: t.Composite([Outcomes], { description: "Runs that ended on this day." }),
      }),
      { description: "Every day (UTC) of the period, oldest first." },
    ),
    runs: t.Composite([
      Outcomes,
      t.Object({
        per_success_usd: orNull(
          t.Number({ description: "What the runs that ended have cost for each that succeeded; null when none did." }),
        ),
      }),
    ]),
  },
  { title: "UsageTrend" },
);
export type UsageTrend = Static<typeof UsageTrend>;

const Id = t.String({ maxLength: 128 });
const Time = (description: string) => t.String({ maxLength: 40, description: `${description}: RFC 3339, or a day.` });
const Filters = {
  agent_id: t.Optional(Id),
  run_id: t.Optional(Id),
  session_id: t.Optional(Id),
  provider: t.Optional(Id),
  model: t.Optional(t.String({ maxLength: 256 })),
  since: t.Optional(Time("Not before")),
  until: t.Optional(Time("Before")),
  user_id: t.Optional(t.String({ maxLength: 128, description: "Administrators only." })),
};
export const CallQuery = t.Object({
  ...Filters,
  ...PageQuery,
  errors: t.Optional(queryBoolean({ description: "Failed calls only." })),
});
export const SummaryQuery = t.Object(Filters);
const Period = {
  from: t.Optional(Time("Not before")),
  to: t.Optional(Time("Before")),
  user_id: t.Optional(t.String({ maxLength: 128, description: "Administrators only; `all` for everybody." })),
};
export const UsageQuery = t.Object(Period);
export const HistoryQuery = t.Object({ ...Period, granularity: t.Optional(Granularity) });
export const TrendQuery = t.Object({ ...Period, by: t.Optional(TrendBy) });
