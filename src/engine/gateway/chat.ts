/** OpenAI's chat completions: `POST /v1/chat/completions`. */

import { newId } from "../../core/ids.ts";
import { textIn } from "../../core/is-object.ts";
import type { ModelReply } from "../model.ts";
import { type AssistantPart, textOf } from "../parts.ts";
import { type Bounds, isAtMostOne, isNever, isNothing, isOneOf } from "./bounds.ts";
import {
  argumentsIn,
  assistantText,
  createConversation,
  formatEvent,
  readPositive,
  recordsIn,
  secondsNow,
  toolOf,
  totalOf,
  userParts,
  type WireFailure,
  type WireProtocol,
  wordsIn,
} from "./wire.ts";

const FINISH: Partial<Record<ModelReply["finish"], string>> = {
  tool_calls: "tool_calls",
  length: "length",
  content_filter: "content_filter",
};

const STATUS: Record<WireFailure["kind"], number> = {
  bad_request: 400,
  unauthorized: 401,
  not_found: 404,
  quota: 429,
  busy: 429,
  provider: 502,
};
const TYPES: Record<WireFailure["kind"], string> = {
  bad_request: "invalid_request_error",
  unauthorized: "authentication_error",
  not_found: "model_not_found",
  quota: "insufficient_quota",
  busy: "rate_limit_exceeded",
  provider: "server_error",
};

/** OpenAI's error object, the same in both of its protocols. */
export const openaiError = ({ kind, message }: WireFailure) => ({
  error: { message, type: TYPES[kind], param: null, code: TYPES[kind] },
});
export const openaiFailure = (failure: WireFailure) => ({ status: STATUS[failure.kind], body: openaiError(failure) });

const usageOf = ({ usage }: ModelReply) => ({
  prompt_tokens: usage.input_tokens,
  completion_tokens: usage.output_tokens,
  total_tokens: totalOf(usage),
  prompt_tokens_details: { cached_tokens: usage.cache_read_tokens },
  completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
});

const callsOf = ({ parts }: ModelReply) =>
  parts.flatMap((part) =>
    part.type === "tool_call"
      ? { id: part.call_id, type: "function", function: { name: part.tool, arguments: JSON.stringify(part.input) } }
      : [],
  );

function callsIn(message: Record<string, unknown>): AssistantPart[] {
  return recordsIn(message["tool_calls"]).map((call) => ({
    type: "tool_call",
    call_id: textIn(call, "id") ?? "",
    tool: textIn(call["function"], "name") ?? "unknown",
    input: argumentsIn(textIn(call["function"], "arguments")),
  }));
}

/** Both names of the token limit are passed on; the gateway lowers them to the budget. */
const BOUNDS: Bounds = {
  members: [
    "model",
    "messages",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "seed",
    "logit_bias",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "reasoning_effort",
    "reasoning",
    "thinking",
    "enable_thinking",
    "chat_template_kwargs",
    "verbosity",
    "user",
    "prompt_cache_key",
  ],
  refused: {
    n: isAtMostOne,
    best_of: isAtMostOne,
    num_return_sequences: isAtMostOne,
    models: isNever,
    fallbacks: isNever,
    service_tier: isOneOf("auto", "default", "standard", "flex"),
    web_search_options: isNever,
    plugins: isNever,
    audio: isNever,
    modalities: (value) => JSON.stringify(value) === '["text"]',
    store: isNothing,
    functions: isNever,
  },
  said: ["messages"],
  isClients: ({ type }) => type === "function" || type === "custom",
};

export const chat: WireProtocol = {
  name: "chat",
  bounds: BOUNDS,
  read(body) {
    const system: string[] = [];
    const conversation = createConversation();
    for (const message of recordsIn(body["messages"])) {
      const { role, content } = message;
      if (role === "system" || role === "developer") system.push(wordsIn(content));
      else if (role === "assistant") conversation.assistant([...assistantText(content), ...callsIn(message)]);
      else if (role === "tool") conversation.result(textIn(message, "tool_call_id") ?? "", wordsIn(content));
      else conversation.user(userParts(content));
    }
    return {
      model: textIn(body, "model") ?? "",
      stream: body["stream"] === true,
      request: {
        system: system.join("\n\n"),
        messages: conversation.messages,
        tools: recordsIn(body["tools"]).flatMap((tool) => {
          const { function: of } = tool;
          return recordsIn([of]).map((one) => toolOf(one, one["parameters"]));
        }),
        maxOutputTokens: readPositive(body, "max_completion_tokens") ?? readPositive(body, "max_tokens"),
      },
    };
  },
  writer({ model }) {
    const about = { id: newId("message"), object: "chat.completion.chunk", created: secondsNow(), model };
    const chunk = (delta: object, finish: string | null = null) =>
      formatEvent({ ...about, choices: [{ index: 0, delta, finish_reason: finish }] });
    return {
      text: (content) => chunk({ role: "assistant", content }),
      thinking: (reasoning_content) => chunk({ role: "assistant", reasoning_content }),
      end(reply) {
        const calls = callsOf(reply).map((call, index) =>
          chunk({ role: "assistant", tool_calls: [{ index, ...call }] }),
        );
        const usage = formatEvent({ ...about, choices: [], usage: usageOf(reply) });
        return `${calls.join("")}${chunk({}, FINISH[reply.finish] ?? "stop")}${usage}data: [DONE]\n\n`;
      },
      fail: (failure) => `${formatEvent(openaiError(failure))}data: [DONE]\n\n`,
    };
  },
  whole({ model }, reply) {
    const calls = callsOf(reply);
    const message = {
      role: "assistant",
      content: textOf(reply.parts),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    return {
      id: newId("message"),
      object: "chat.completion",
      created: secondsNow(),
      model,
      choices: [{ index: 0, message, finish_reason: FINISH[reply.finish] ?? "stop" }],
      usage: usageOf(reply),
    };
  },
  failure: openaiFailure,
};
