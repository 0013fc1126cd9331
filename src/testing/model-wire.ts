/** The frames of a streamed reply in each provider's wire protocol. Only for the fake model server. */

export interface FakeToolCall {
  id?: string;
  name: string;
  /** An object is sent as JSON; a string is sent as it is, valid or not. */
  input: Record<string, unknown> | string;
}

export interface FakeReply {
  text?: string;
  thinking?: string;
  /** Sent with the thinking, or with the tool call in Google's protocol. The next request must contain it. */
  signature?: string;
  toolCalls?: FakeToolCall[];
  usage?: {
    input?: number;
    output?: number;
    cacheRead?: number;
    /** Part of the input that was cached for an hour (Anthropic). */
    cacheWriteHour?: number;
    reasoning?: number;
  };
  /** `length` if the reply was cut at its token limit. */
  finish?: "stop" | "length";
  /** Characters per frame; few, so that a reader has to join them. */
  pieceCharacters?: number;
  /** The cost that the provider reports (OpenRouter). */
  costUsd?: number;
}

interface WireStream {
  /** Frames with the content, in order. */
  body: string[];
  /** The frames that end a complete stream. A cut stream lacks them. */
  end: string[];
}

export type Wire = "chat" | "responses" | "anthropic" | "google" | "ollama";

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const toFrame = (value: { type: string }): string => `event: ${value.type}\n${data(value)}`;
const PIECE_CHARACTERS = 7;
const pieces = (text: string, { pieceCharacters = PIECE_CHARACTERS }: FakeReply): string[] =>
  text.match(new RegExp(`[\\s\\S]{1,${pieceCharacters}}`, "g")) ?? [];
const argumentsOf = (call: FakeToolCall): string =>
  typeof call.input === "string" ? call.input : JSON.stringify(call.input);
const usageOf = (reply: FakeReply) => ({
  input: 11,
  output: 7,
  cacheRead: 0,
  cacheWriteHour: 0,
  reasoning: 0,
  ...reply.usage,
});

function chat(model: string, reply: FakeReply): WireStream {
  const chunk = (delta: Record<string, unknown>, finish_reason: string | null = null) =>
    data({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model,
      choices: [{ index: 0, delta, finish_reason }],
    });
  const body = [chunk({ role: "assistant", content: "" })];
  for (const piece of pieces(reply.thinking ?? "", reply)) body.push(chunk({ reasoning_content: piece }));
  for (const piece of pieces(reply.text ?? "", reply)) body.push(chunk({ content: piece }));
  for (const [index, call] of (reply.toolCalls ?? []).entries()) {
    const id = call.id ?? `call_${index}`;
    body.push(chunk({ tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: "" } }] }));
    for (const piece of pieces(argumentsOf(call), reply))
      body.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
  }
  const usage = usageOf(reply);
  const finish = reply.finish ?? (reply.toolCalls ? "tool_calls" : "stop");
  const counted = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
    ...(reply.costUsd === undefined ? {} : { cost: reply.costUsd }),
  };
  return {
    body,
    end: [
      chunk({}, finish),
      data({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model, choices: [], usage: counted }),
      "data: [DONE]\n\n",
    ],
  };
}

function responsesThinking(reply: FakeReply): string[] {
  if (!reply.thinking) return [];
  const item = { type: "reasoning", id: "rs_1", encrypted_content: reply.signature ?? null, summary: [] };
  const where = { item_id: "rs_1", output_index: 0, summary_index: 0 };
  return [
    toFrame({ type: "response.output_item.added", output_index: 0, item } as { type: string }),
    toFrame({ type: "response.reasoning_summary_part.added", ...where, part: { type: "summary_text", text: "" } } as {
      type: string;
    }),
    ...pieces(reply.thinking, reply).map((delta) =>
      toFrame({ type: "response.reasoning_summary_text.delta", ...where, delta } as { type: string }),
    ),
    toFrame({ type: "response.reasoning_summary_part.done", ...where } as { type: string }),
    toFrame({
      type: "response.output_item.done",
      output_index: 0,
      item: { ...item, summary: [{ type: "summary_text", text: reply.thinking }] },
    } as { type: string }),
  ];
}

function responses(model: string, reply: FakeReply): WireStream {
  const event = (type: string, rest: Record<string, unknown>) => toFrame({ type, ...rest });
  const response = { id: "resp_1", object: "response", created_at: 1, model, status: "in_progress", output: [] };
  const body = [event("response.created", { response }), ...responsesThinking(reply)];
  if (reply.text) {
    const item = { type: "message", id: "msg_1", role: "assistant", status: "in_progress", content: [] };
    const content = [{ type: "output_text", text: reply.text, annotations: [] }];
    body.push(event("response.output_item.added", { output_index: 1, item }));
    for (const delta of pieces(reply.text, reply))
      body.push(
        event("response.output_text.delta", {
          item_id: "msg_1",
          output_index: 1,
          content_index: 0,
          delta,
          logprobs: [],
        }),
      );
    body.push(event("response.output_item.done", { output_index: 1, item: { ...item, status: "completed", content } }));
  }
  for (const [index, call] of (reply.toolCalls ?? []).entries()) {
    const output_index = index + 2;
    const item = { type: "function_call", id: `fc_${index}`, call_id: call.id ?? `call_${index}`, name: call.name };
    body.push(
      event("response.output_item.added", { output_index, item: { ...item, arguments: "", status: "in_progress" } }),
    );
    for (const delta of pieces(argumentsOf(call), reply))
      body.push(event("response.function_call_arguments.delta", { item_id: item.id, output_index, delta }));
    const done = { ...item, arguments: argumentsOf(call), status: "completed" };
    body.push(event("response.output_item.done", { output_index, item: done }));
  }
  const usage = usageOf(reply);
  const counted = {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
  const ended =
    reply.finish === "length"
      ? { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
      : { status: "completed", incomplete_details: null };
  const last = reply.finish === "length" ? "response.incomplete" : "response.completed";
  return { body, end: [event(last, { response: { ...response, ...ended, usage: counted } })] };
}

function anthropic(model: string, reply: FakeReply): WireStream {
  const event = (type: string, rest: Record<string, unknown> = {}) => toFrame({ type, ...rest });
  const usage = usageOf(reply);
  const counted = {
    input_tokens: usage.input - usage.cacheRead - usage.cacheWriteHour,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWriteHour,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: usage.cacheWriteHour },
  };
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null };
  const body = [event("message_start", { message: { ...message, usage: { ...counted, output_tokens: 0 } } })];
  let index = 0;
  const block = (content_block: Record<string, unknown>, deltas: Record<string, unknown>[]) => {
    body.push(event("content_block_start", { index, content_block }));
    for (const delta of deltas) body.push(event("content_block_delta", { index, delta }));
    body.push(event("content_block_stop", { index }));
    index++;
  };
  if (reply.thinking)
    block({ type: "thinking", thinking: "", signature: "" }, [
      ...pieces(reply.thinking, reply).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: reply.signature ?? "sig" },
    ]);
  if (reply.text)
    block(
      { type: "text", text: "" },
      pieces(reply.text, reply).map((text) => ({ type: "text_delta", text })),
    );
  for (const [at, call] of (reply.toolCalls ?? []).entries())
    block(
      { type: "tool_use", id: call.id ?? `call_${at}`, name: call.name, input: {} },
      pieces(argumentsOf(call), reply).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    );
  const stop_reason = reply.finish === "length" ? "max_tokens" : reply.toolCalls ? "tool_use" : "end_turn";
  return {
    body,
    end: [
      event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: usage.output } }),
      event("message_stop"),
    ],
  };
}

function google(_model: string, reply: FakeReply): WireStream {
  const parts = (list: Record<string, unknown>[]) =>
    data({ candidates: [{ content: { role: "model", parts: list }, index: 0 }] });
  const body: string[] = [];
  for (const text of pieces(reply.thinking ?? "", reply)) body.push(parts([{ text, thought: true }]));
  for (const text of pieces(reply.text ?? "", reply)) body.push(parts([{ text }]));
  const signature = reply.signature ? { thoughtSignature: reply.signature } : {};
  for (const call of reply.toolCalls ?? [])
    body.push(parts([{ functionCall: { name: call.name, args: call.input }, ...signature }]));
  const usage = usageOf(reply);
  const usageMetadata = {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning,
    cachedContentTokenCount: usage.cacheRead,
    totalTokenCount: usage.input + usage.output,
  };
  const finishReason = reply.finish === "length" ? "MAX_TOKENS" : "STOP";
  return {
    body,
    end: [data({ candidates: [{ content: { role: "model", parts: [] }, finishReason, index: 0 }], usageMetadata })],
  };
}

/** Ollama sends lines of JSON instead of events. */
function ollama(model: string, reply: FakeReply): WireStream {
  const line = (message: Record<string, unknown>, more: Record<string, unknown> = { done: false }) =>
    `${JSON.stringify({ model, created_at: "2026-01-01T00:00:00Z", message: { role: "assistant", ...message }, ...more })}\n`;
  const usage = usageOf(reply);
  const body = [
    ...pieces(reply.thinking ?? "", reply).map((thinking) => line({ content: "", thinking })),
    ...pieces(reply.text ?? "", reply).map((content) => line({ content })),
    ...(reply.toolCalls ?? []).map((call, at) =>
      line({
        content: "",
        tool_calls: [{ id: call.id ?? `call_${at}`, function: { name: call.name, arguments: call.input } }],
      }),
    ),
  ];
  const counts = { prompt_eval_count: usage.input, eval_count: usage.output, total_duration: 1 };
  return { body, end: [line({ content: "" }, { done: true, done_reason: reply.finish ?? "stop", ...counts })] };
}

/** The stream of that reply in that protocol. */
export function wireStream(wire: Wire, model: string, reply: FakeReply): WireStream {
  return { chat, responses, anthropic, google, ollama }[wire](model, reply);
}
