/** What replies cost: the sum of an execution, shown at its last message. */
import { and, eq, gte, inArray, isNotNull, max } from "drizzle-orm";
import { toUsd } from "../../core/money.ts";
import type { Store } from "../../store/store.ts";
import { executions, messages } from "../../store/tables/sessions.ts";
import type { TranscriptMessage } from "../sessions/transcript.ts";

export interface ReplyCost {
  reply_cost_usd: number;
  reply_calls_without_price: number;
}

/**
 * @param shown messages of one session, oldest first.
 * @returns the cost of each reply that has ended, by the `seq` of its last message; a running one's still grows.
 */
export function replyCosts(db: Store["db"], shown: readonly TranscriptMessage[]): ReadonlyMap<number, ReplyCost> {
  const replies = shown.filter(({ role }) => role === "assistant");
  const [first] = replies;
  if (!first) return new Map();
  const rows = db
    .select({ seq: max(messages.seq), cost: executions.cost_nano, unpriced: executions.calls_without_price })
    .from(messages)
    .innerJoin(executions, eq(executions.id, messages.execution_id))
    .where(
      and(
        ...[eq(messages.session_id, first.session_id), gte(messages.seq, first.seq), eq(messages.role, "assistant")],
        inArray(executions.id, [...new Set(replies.map(({ execution_id }) => execution_id))]),
        isNotNull(executions.finished_at),
      ),
    )
    .groupBy(executions.id)
    .all();
  return new Map(
    rows.flatMap(({ seq, cost, unpriced }) =>
      seq === null ? [] : [[seq, { reply_cost_usd: toUsd(cost), reply_calls_without_price: unpriced }]],
    ),
  );
}
