/**
 * Records the cost of model calls: before they are sent, when they are answered, and when the server died in between.
 */
import { toNano } from "../../core/money.ts";
import type { CallPurpose, Execution, ExecutionRows } from "../../engine/execution.ts";
import type { ModelReply } from "../../engine/model.ts";
import type { Store, WriteTx } from "../../store/store.ts";
import type { SessionOwner } from "./lifecycle.ts";
import { type SessionRow, type SessionStore, toExecution } from "./store.ts";
import type { Tree } from "./tree.ts";

export interface ModelCallsDeps {
  store: Store;
  rows: SessionStore;
  tree: Tree;
  ownerOf(kind: SessionRow["kind"]): SessionOwner | undefined;
  /** Writes the model call's row and event. */
  recordCall(tx: WriteTx, execution: Execution, reply: ModelReply, purpose: CallPurpose): void;
}

const SPEND = `UPDATE executions SET turns = turns + 1, tokens = tokens + @tokens, cost_nano = cost_nano + @nano,
  calls_without_price = calls_without_price + @unpriced, calling = NULL WHERE id = @id`;

const BEGIN_CALL = "UPDATE executions SET calling = @calling WHERE id = @id";

const ANSWERED_BY = "UPDATE executions SET model = @model WHERE id = @id AND model IS NOT @model";

export function createModelCalls({ store, rows, tree, ownerOf, recordCall }: ModelCallsDeps) {
  /** Adds a model call to the log, and its cost to the execution, its session and the sessions above. */
  function spend(tx: WriteTx, execution: Execution, reply: ModelReply, purpose: CallPurpose = "turn"): void {
    const { input_tokens, output_tokens } = reply.usage;
    const spent = {
      nano: Math.max(0, toNano(reply.cost_usd ?? 0)),
      tokens: input_tokens + output_tokens,
      unpriced: reply.cost_usd === null ? 1 : 0,
    };
    store.statement(SPEND).run({ ...spent, id: execution.id });
    tree.spend(execution.sessionId, spent, purpose === "turn" && spent.tokens > 0 ? spent.tokens : null);
    recordCall(tx, execution, reply, purpose);
    const replied = ownerOf(execution.kind)?.onReply;
    if (replied) replied(rows.findWork(execution.id)!, tx);
  }

  /**
   * Charges a model call that was cut off when a process died, because it may have to be paid for. Only its prompt is
   * counted, as far as it is known.
   */
  function chargeCutCall(tx: WriteTx, id: string): void {
    const work = rows.findWork(id);
    if (!work?.calling) return;
    const { model, purpose, input_tokens, cost_usd } = work.calling;
    const none = { output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 };
    const message = "The server stopped during the call; its prompt is counted as sent.";
    spend(
      tx,
      toExecution(work, null),
      {
        parts: [],
        finish: "aborted",
        usage: { ...none, input_tokens },
        usage_estimated: true,
        cost_usd,
        cost_source: cost_usd === null ? "unknown" : "table",
        key_source: "none",
        attempts: 1,
        provider: model.split("/")[0] ?? "",
        model,
        duration_ms: 0,
        time_to_first_token_ms: null,
        error: { code: "server_stopped", message, retryable: true },
      },
      purpose,
    );
  }

  return {
    spend,
    chargeCutCall,
    begin: ({ id }: Execution, call: Parameters<ExecutionRows["beginCall"]>[1]): void =>
      void store.note(() => store.statement(BEGIN_CALL).run({ id, calling: JSON.stringify(call) })),
    /** Records which model answered, since another one may have been asked first. */
    noteModel: ({ id }: Execution, model: string): void => void store.statement(ANSWERED_BY).run({ id, model }),
  };
}
