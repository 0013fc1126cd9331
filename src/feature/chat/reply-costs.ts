/** The cost of replies: the sum over an execution, shown at its last message. */
import { toUsd } from "../../core/money.ts";
import type { Store } from "../../store/store.ts";
import type { TranscriptMessage } from "../sessions/transcript.ts";

export interface ReplyCost {
  reply_cost_usd: number;
  reply_calls_without_price: number;
}

const REPLIES = `
  SELECT max(messages.seq) AS seq, executions.cost_nano AS cost, executions.calls_without_price AS unpriced
  FROM messages JOIN executions ON executions.id = messages.execution_id
  WHERE messages.session_id = ? AND messages.seq >= ? AND messages.role = 'assistant'
    AND executions.id IN (SELECT value FROM json_each(?)) AND executions.finished_at IS NOT NULL
  GROUP BY executions.id`;

/**
 * @param shown messages of one session, oldest first.
 * @returns the cost of each finished reply, by the `seq` of its last message. The cost of a running reply still grows.
 */
export function replyCosts(
  statement: Store["statement"],
  shown: readonly TranscriptMessage[],
): ReadonlyMap<number, ReplyCost> {
  const replies = shown.filter(({ role }) => role === "assistant");
  const [first] = replies;
  if (!first) return new Map();
  const ids = [...new Set(replies.map(({ execution_id }) => execution_id))];
  const rows = statement<{ seq: number; cost: number; unpriced: number }>(REPLIES).all(
    first.session_id,
    first.seq,
    JSON.stringify(ids),
  );
  return new Map(
    rows.map(({ seq, cost, unpriced }) => [seq, { reply_cost_usd: toUsd(cost), reply_calls_without_price: unpriced }]),
  );
}
