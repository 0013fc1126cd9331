/**
 * `/v1/llm-calls` and `/v1/usage`. Users see their own calls, administrators everybody's. `Accept: text/csv` exports.
 */

import { Type as t } from "@sinclair/typebox";
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { forbidden, invalidField } from "../../core/errors.ts";
import { nanoText, toNano } from "../../core/money.ts";
import { timeOf } from "../../core/time-of.ts";
import type { Caller } from "../../http/caller.ts";
import { listOf, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { type Cell, csvResponse, wantsCsv } from "./csv.ts";
import {
  type BudgetState,
  CallQuery,
  HistoryBucket,
  HistoryQuery,
  LlmCall,
  SummaryQuery,
  TrendQuery,
  Usage,
  UsageQuery,
  UsageSummary,
  UsageTrend,
} from "./model.ts";
import { defaultFrom, startOfMonth } from "./period.ts";
import type { UsageLog } from "./service.ts";
import type { CallFilter } from "./sums.ts";
import type { UsageTrends } from "./trends.ts";

interface UsageRoutesDeps {
  usage: UsageLog;
  trends: UsageTrends;
  clock: Clock;
  /** Budgets of that user and of the instance. */
  budgets(userId: string | undefined): BudgetState[];
}

const CSV = "With `Accept: text/csv`, the answer exports every matching row.";

/** Whose calls the caller sees; undefined means everybody's. @throws Problem 403 when a user asks for another's. */
function ownerOf(caller: Caller, asked: string | undefined, whenAdmin: string | undefined): string | undefined {
  if (caller.admin) return asked === "all" ? undefined : (asked ?? whenAdmin);
  if (asked !== undefined && asked !== caller.userId) throw forbidden("Only an administrator sees others' usage.");
  return caller.userId ?? "";
}

function filterOf(query: (typeof CallQuery)["static"], caller: Caller): CallFilter {
  const since = query.since === undefined ? undefined : timeOf(query.since, "since");
  const until = query.until === undefined ? undefined : timeOf(query.until, "until");
  return {
    agentId: query.agent_id,
    runId: query.run_id,
    sessionId: query.session_id,
    provider: query.provider,
    model: query.model,
    errors: query.errors,
    userId: ownerOf(caller, query.user_id, undefined),
    seenBy: caller,
    since,
    until,
  };
}

export function usageRoutes({ usage, trends, clock, budgets }: UsageRoutesDeps) {
  return tagOperations("usage", [
    ...callRoutes(usage),
    defineOperation("getUsage", "GET /v1/usage", {
      access: "user",
      query: UsageQuery,
      answer: Usage,
      summary: "Get your usage in a period and the rest of your budgets",
      description:
        "The default period is the current month (UTC). On a server without accounts, the usage is everybody's.",
      handler: ({ query, caller }) => {
        const userId = ownerOf(caller, query.user_id, caller.userId);
        const to = query.to === undefined ? clock.now() : timeOf(query.to, "to");
        const from = query.from === undefined ? startOfMonth(to) : timeOf(query.from, "from");
        if (to < from) throw invalidField("to", "Must be later than from");
        const filter = { userId, since: from, until: query.to === undefined ? undefined : to };
        return {
          user_id: userId ?? null,
          from: toTimestamp(from),
          to: toTimestamp(to),
          ...usage.summarize(filter),
          budgets: budgets(userId),
          forecast: usage.forecast(userId),
        };
      },
    }),
    defineOperation("listUsageHistory", "GET /v1/usage/history", {
      access: "user",
      query: HistoryQuery,
      answer: listOf(HistoryBucket),
      summary: "List usage by hour, day or month, oldest first",
      description: CSV,
      handler: ({ query, caller, request }) => {
        const granularity = query.granularity ?? "day";
        const to = query.to === undefined ? clock.now() + 1 : timeOf(query.to, "to");
        const from = query.from === undefined ? defaultFrom(granularity, to) : timeOf(query.from, "from");
        const userId = ownerOf(caller, query.user_id, caller.userId);
        const items = usage.history(granularity, { from, to, userId });
        if (wantsCsv(request)) return csvResponse(`usage-by-${granularity}`, BUCKET_COLUMNS, items.map(bucketCells));
        return { items, next_cursor: null };
      },
    }),
    defineOperation("getUsageTrend", "GET /v1/usage/trend", {
      access: "user",
      query: TrendQuery,
      answer: UsageTrend,
      summary: "Get the daily spend by model, agent or project, with the outcomes of the day's runs",
      description:
        "Covers whole days (UTC), by default the last thirty. Lists the eight most expensive series and the sum of the others.",
      handler: ({ query, caller }) => {
        const to = query.to === undefined ? clock.now() + 1 : timeOf(query.to, "to");
        const from = query.from === undefined ? defaultFrom("day", to) : timeOf(query.from, "from");
        const userId = ownerOf(caller, query.user_id, caller.userId);
        return trends.read(query.by ?? "model", { from, to, userId }, caller);
      },
    }),
  ]);
}

function callRoutes(usage: UsageLog) {
  return tagOperations("usage", [
    defineOperation("listLlmCalls", "GET /v1/llm-calls", {
      access: "user",
      query: CallQuery,
      answer: listOf(LlmCall),
      summary: "List model calls, newest first",
      description: CSV,
      handler: ({ query, caller, request }) => {
        const filter = filterOf(query, caller);
        if (wantsCsv(request)) return csvResponse("llm-calls", CALL_COLUMNS, callCells(usage.each(filter)));
        return usage.list(pageOf(query), filter);
      },
    }),
    defineOperation("getLlmCallsSummary", "GET /v1/llm-calls/summary", {
      access: "user",
      query: SummaryQuery,
      answer: UsageSummary,
      summary: "Get totals of model calls, also by provider, model, agent and day",
      handler: ({ query, caller }) => usage.summary(filterOf(query, caller)),
    }),
    defineOperation("getLlmCall", "GET /v1/llm-calls/:id", {
      access: "user",
      params: t.Object({ id: t.String({ maxLength: 100 }) }),
      answer: LlmCall,
      summary: "Get a model call",
      handler: ({ params, caller }) => usage.get(params.id, caller),
    }),
  ]);
}

const CALL_COLUMNS = Object.keys(LlmCall.properties)
  .filter((name) => name !== "error")
  .concat("error_code");

function* callCells(calls: Iterable<LlmCall>): Generator<Cell[]> {
  for (const call of calls) {
    const cost = call.cost_usd === null ? null : nanoText(toNano(call.cost_usd));
    const cells: Record<string, Cell> = { ...call, error: undefined, cost_usd: cost, error_code: call.error?.code };
    yield CALL_COLUMNS.map((name) => cells[name]);
  }
}

const BUCKET_COLUMNS = [
  "start_at",
  "end_at",
  "calls",
  "errors",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "cost_usd",
  "calls_without_price",
];
function bucketCells(bucket: HistoryBucket): Cell[] {
  const cells: Record<string, Cell> = { ...bucket, cost_usd: nanoText(toNano(bucket.cost_usd)) };
  return BUCKET_COLUMNS.map((name) => cells[name]);
}
