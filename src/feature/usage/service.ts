/** The log of model calls: one row per call, written in the transaction of the code that made the call. */

import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import { toNano, toUsd } from "../../core/money.ts";
import type { CallPurpose, Execution } from "../../engine/execution.ts";
import type { ModelReply, ModelUsage } from "../../engine/model.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import { seekBelow } from "../../store/reader.ts";
import { removeOld } from "../../store/remove-old.ts";
import type { WriteTx } from "../../store/store.ts";
import { llmCalls as table } from "../../store/tables/usage.ts";
import { expectReadable, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import { llmCall } from "./events.ts";
import type { Forecast, Granularity, HistoryBucket, LlmCall, LlmCallRecord, UsageSummary } from "./model.ts";
import { bucketsOf, prefixOf, startOfDay, startOfMonth } from "./period.ts";
import { type CallFilter, conditionsOf, createSums, NO_TOTALS } from "./sums.ts";
import { createTotals, NOBODY } from "./totals.ts";

interface UsageDeps extends Pick<Core, "store" | "clock"> {
  /** Called with every call inside its transaction; used by budgets and the watch over keys. */
  onRecorded: readonly ((tx: WriteTx, call: LlmCall) => void)[];
}

export type UsageLog = ReturnType<typeof createUsageLog>;

export type LlmCallRow = typeof table.$inferSelect;
const EXPORT_PAGE = 500;

/** Most tokens that are believed of a single call. */
const TOKENS_MOST = 1e12;
/** Makes a count storable, whatever the provider sent. */
const countOf = (tokens: number): number =>
  Number.isFinite(tokens) ? Math.min(Math.max(0, Math.round(tokens)), TOKENS_MOST) : 0;
const countsOf = (usage: ModelUsage): ModelUsage => ({
  input_tokens: countOf(usage.input_tokens),
  output_tokens: countOf(usage.output_tokens),
  cache_read_tokens: countOf(usage.cache_read_tokens),
  cache_write_tokens: countOf(usage.cache_write_tokens),
  reasoning_tokens: countOf(usage.reasoning_tokens),
});
const nanoOf = (usd: number | null): number | null =>
  usd === null || !Number.isFinite(usd) ? null : Math.max(0, toNano(usd));

/** A row with impossible values is shown with the nearest possible ones, so that it does not break a list. */
const present = ({ cost_nano, error_code, error_message, ...row }: LlmCallRow): LlmCall => ({
  ...row,
  ...countsOf(row),
  cost_usd: cost_nano === null ? null : Math.max(0, toUsd(cost_nano)),
  error: error_code === null ? null : { code: error_code, message: error_message ?? "" },
});

function rowOf({ reply, ...call }: LlmCallRecord, at: string): LlmCallRow {
  return {
    id: newId("llmCall"),
    agent_id: call.agentId,
    run_id: call.runId ?? null,
    step_id: call.stepId ?? null,
    session_id: call.sessionId ?? null,
    project_id: call.projectId ?? null,
    user_id: call.userId ?? null,
    purpose: call.purpose ?? "turn",
    provider: reply.provider,
    model: reply.model,
    key_source: reply.key_source,
    ...countsOf(reply.usage),
    estimated: reply.usage_estimated ?? false,
    cost_nano: nanoOf(reply.cost_usd),
    cost_source: reply.cost_source,
    duration_ms: Math.round(reply.duration_ms),
    time_to_first_token_ms: reply.time_to_first_token_ms === null ? null : Math.round(reply.time_to_first_token_ms),
    attempts: reply.attempts,
    finish_reason: reply.finish,
    error_code: reply.error?.code ?? null,
    error_message: reply.error?.message ?? null,
    created_at: at,
  };
}

export function createUsageLog({ store, clock, onRecorded }: UsageDeps) {
  const rows = store.rows(table);
  const sums = createSums(store);
  const count = createTotals(store);

  /** Logs a call and publishes `llm_call`. Joins the surrounding transaction. */
  function record(call: LlmCallRecord): LlmCall {
    return store.write((tx) => {
      const row = rowOf(call, toTimestamp(clock.now()));
      rows.insert(row);
      count(row);
      const shown = present(row);
      const { run_id, step_id, session_id, agent_id, project_id, user_id, ...data } = shown;
      const refs = { run_id, step_id, session_id, agent_id, project_id, user_id };
      const known = Object.fromEntries(Object.entries(refs).filter(([, value]) => value !== null));
      tx.emit(llmCall, { ...known, data });
      for (const hear of onRecorded) hear(tx, shown);
      return shown;
    });
  }
  const listPage = (filter: CallFilter, after: string | null, limit: number): LlmCallRow[] =>
    rows.list([...conditionsOf(filter), seekBelow("id", { after })], { order: "id DESC", limit });
  const summarize = (filter: CallFilter): Omit<UsageSummary, "by_day"> => ({
    totals: sums.totals(filter),
    by_provider: sums.by("provider", filter).map(({ key, ...totals }) => ({ provider: key, ...totals })),
    by_model: sums.by("model", filter).map(({ key, ...totals }) => ({ model: key, ...totals })),
    by_agent: sums.by("agent_id", filter).map(({ key, ...totals }) => ({ agent_id: key, ...totals })),
    by_user: sums
      .by("user_id", filter)
      .map(({ key, ...totals }) => ({ user_id: key === NOBODY ? null : key, ...totals })),
  });

  return {
    record,
    /** Records the reply of an execution's model call, for the engine. */
    recordCall: (_tx: WriteTx, execution: Execution, reply: ModelReply, purpose?: CallPurpose) =>
      void record({ ...execution, purpose, reply }),
    list: (asked: Page, filter: CallFilter): ListAnswer<LlmCall> =>
      listAnswer(listPage(filter, asked.after, asked.limit + 1), asked, (row) => row.id, present),
    /** @throws Problem 404. */
    get(id: string, caller: Caller): LlmCall {
      const row = expectReadable(caller, WHOSE.llm_calls, rows.find({ id }), "model call");
      return present(row);
    },
    summarize,
    /** Estimates this month's cost from the last days. @param userId whose cost; undefined: everybody's. */
    forecast(userId: string | undefined): Forecast {
      const now = clock.now();
      const until = startOfMonth(now, 1);
      const week = startOfDay(now) - 6 * DAY_MS;
      const days = sums.over("day", { userId, since: week });
      const earlier = sums.totals({ userId, until: week }).calls > 0;
      const from = earlier || !days[0] ? week : Date.parse(days[0].key);
      const spent = sums.totals({ userId, since: startOfMonth(now) }).cost_usd;
      const perDay = days.reduce((sum, { cost_usd }) => sum + cost_usd, 0) / Math.max(1, (now - from) / DAY_MS);
      const expected = spent + (perDay * (until - now)) / DAY_MS;
      return { until: toTimestamp(until), spent_usd: spent, per_day_usd: perDay, expected_usd: expected };
    },
    summary: (filter: CallFilter): UsageSummary => ({
      ...summarize(filter),
      by_day: sums.over("day", filter).map(({ key, ...totals }) => ({ day: key, ...totals })),
    }),
    /** Every bucket of the period, including empty ones, oldest first. @throws Problem 422 for too many buckets. */
    history(
      granularity: Granularity,
      { from, to, userId }: { from: number; to: number; userId?: string | undefined },
    ): HistoryBucket[] {
      const buckets = bucketsOf(granularity, from, to);
      const [first, last] = [buckets[0]!, buckets.at(-1)!];
      const found = sums.over(granularity, { userId, since: first.start, until: last.end });
      const byPrefix = new Map(found.map(({ key, ...totals }) => [key, totals]));
      return buckets.map(({ start, end }) => ({
        start_at: toTimestamp(start),
        end_at: toTimestamp(end),
        ...(byPrefix.get(prefixOf(granularity, start)) ?? NO_TOTALS),
      }));
    },
    /** Yields every matching call, newest first, reading page by page. */
    *each(filter: CallFilter): Generator<LlmCall> {
      let after: string | null = null;
      for (;;) {
        const rows = listPage(filter, after, EXPORT_PAGE);
        yield* rows.map(present);
        after = rows.at(-1)?.id ?? null;
        if (rows.length < EXPORT_PAGE) return;
      }
    },
    /** Removes calls made before that time, ms since the epoch. */
    prune: (before: number): boolean => removeOld(store, "llm_calls", "created_at < ?", toTimestamp(before)),
  };
}
