/** A model that the test plays by hand: every call waits until the test decides how it ends. */
import type { ModelInfo, ModelPort, ModelReply, ModelRequest } from "../engine/model.ts";
import type { AssistantPart } from "../engine/parts.ts";

export interface HandCall {
  request: ModelRequest;
  /** Streams a piece of the reply. */
  say(text: string): void;
  /** Ends the call with text, with tool calls, or with a reply that the test constructs. */
  reply(answer: string | { tool: string; input?: unknown }[] | Partial<ModelReply>): void;
}

export interface HandModel extends ModelPort {
  /** Every call so far. */
  calls: HandCall[];
  /** The next call that was not returned yet; only of that session if one is named. */
  next(sessionId?: string): Promise<HandCall>;
}

const USAGE = {
  input_tokens: 100,
  output_tokens: 10,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
};

export function createHandModel(info: Partial<ModelInfo> = {}, costUsd: number | null = 0): HandModel {
  const calls: HandCall[] = [];
  const handedOut = new Set<HandCall>();
  const waiting = new Set<{ sessionId: string | undefined; take(call: HandCall): void }>();
  const replyOf = (model: string, parts: AssistantPart[], finish: ModelReply["finish"]): ModelReply => ({
    parts,
    finish,
    usage: USAGE,
    cost_usd: costUsd,
    cost_source: "table",
    key_source: "none",
    provider: "demo",
    model,
    duration_ms: 1,
    time_to_first_token_ms: 1,
    attempts: 1,
  });
  const offer = (call: HandCall): void => {
    for (const one of waiting)
      if (one.sessionId === undefined || one.sessionId === call.request.scope.sessionId) {
        waiting.delete(one);
        handedOut.add(call);
        return one.take(call);
      }
  };
  return {
    calls,
    call: (request) =>
      new Promise((resolve) => {
        let said = "";
        const made = calls.length;
        const call: HandCall = {
          request,
          say(text) {
            said += text;
            request.onText?.(text);
          },
          reply(answer) {
            if (typeof answer === "string")
              return resolve(replyOf(request.model, [{ type: "text", text: answer }], "stop"));
            if (!Array.isArray(answer)) return resolve({ ...replyOf(request.model, [], "stop"), ...answer });
            const parts = answer.map(({ tool, input = {} }, at): AssistantPart => {
              return { type: "tool_call", call_id: `call_${made}_${at}`, tool, input };
            });
            resolve(replyOf(request.model, parts, "tool_calls"));
          },
        };
        const onAbort = () => resolve(replyOf(request.model, said ? [{ type: "text", text: said }] : [], "aborted"));
        request.signal.addEventListener("abort", onAbort, { once: true });
        calls.push(call);
        offer(call);
      }),
    next: (sessionId) =>
      new Promise((take) => {
        const there = calls.find(
          (call) => !handedOut.has(call) && (sessionId === undefined || call.request.scope.sessionId === sessionId),
        );
        if (!there) return void waiting.add({ sessionId, take });
        handedOut.add(there);
        take(there);
      }),
    info: (id) => ({
      id,
      context_window: null,
      max_context_window: null,
      max_output_tokens: null,
      input_usd_per_mtok: 0,
      output_usd_per_mtok: 0,
      reasoning: false,
      tools: true,
      images: false,
      documents: false,
      ...info,
    }),
    estimateUsd: () => costUsd,
  };
}
