/** A model that ends every step at its first call with the answer that the test provides. For tests of pipelines. */

import type { ModelPort, ModelReply, ModelRequest } from "../engine/model.ts";
import { textOf } from "../engine/parts.ts";

export interface Asked {
  stepId: string;
  agentId: string;
  /** Number of this execution of the step, from 1. */
  time: number;
  /** The rendered input of the step. */
  input: string;
  system: string;
  tools: string[];
}

/** The outputs for `complete`, or the reason for `fail`. */
export type Answer = { outputs: Record<string, unknown> } | { fail: string };

/**
 * Creates the model. `asked` gets an entry for every execution, in the order of their first calls. @param costUsd cost
 * of each call.
 */
export function createAnsweringModel(
  answer: (asked: Asked) => Answer,
  { costUsd = 0 }: { costUsd?: number } = {},
): { port: ModelPort; asked: Asked[] } {
  const asked: Asked[] = [];
  const call = async (request: ModelRequest): Promise<ModelReply> => {
    const { stepId = "", agentId } = request.scope;
    const [first] = request.messages;
    if (request.messages.length > 1) throw new Error(`${stepId} was asked again: ${JSON.stringify(request.messages)}`);
    const one: Asked = {
      stepId,
      agentId,
      system: request.system,
      time: asked.filter((other) => other.stepId === stepId).length + 1,
      input: first?.role === "user" ? textOf(first.parts) : "",
      tools: request.tools.map(({ name }) => name),
    };
    asked.push(one);
    const given = answer(one);
    const [tool, input] =
      "fail" in given
        ? ["fail", { reason: given.fail }]
        : ["complete", { outputs: given.outputs, summary: `${stepId} done` }];
    return {
      parts: [{ type: "tool_call", call_id: `call-${asked.length}`, tool: String(tool), input }],
      finish: "tool_calls",
      usage: { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 },
      cost_usd: costUsd,
      cost_source: "table",
      key_source: "none",
      provider: "demo",
      model: request.model,
      duration_ms: 0,
      time_to_first_token_ms: 0,
      attempts: 1,
    };
  };
  return {
    asked,
    port: {
      call,
      info: (id) => ({
        id,
        context_window: null,
        max_context_window: null,
        max_output_tokens: null,
        input_usd_per_mtok: 0,
        output_usd_per_mtok: 0,
        reasoning: false,
        images: false,
        documents: false,
        tools: true,
      }),
      estimateUsd: () => costUsd,
    },
  };
}
