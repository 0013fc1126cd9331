/** Anthropic's messages: `POST /v1/messages`. */

import { newId } from "../../core/ids.ts";
import { isObject, textIn } from "../../core/is-object.ts";
import type { ModelReply, ModelUsage } from "../model.ts";
import type { AssistantPart } from "../parts.ts";
import { type Bounds, isNever, isOneOf } from "./bounds.ts";
import {
  assistantText,
  createConversation,
  formatEvent,
  readPositive,
  recordsIn,
  toolOf,
  userParts,
  type WireFailure,
  type WireProtocol,
  wordsIn,
} from "./wire.ts";

const STOP: Partial<Record<ModelReply["finish"], string>> = {
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
};

const KINDS: Record<WireFailure["kind"], [status: number, type: string]> = {
  bad_request: [400, "invalid_request_error"],
  unauthorized: [401, "authentication_error"],
  not_found: [404, "not_found_error"],
  quota: [402, "billing_error"],
  busy: [429, "rate_limit_error"],
  provider: [502, "api_error"],
};

const errorOf = ({ kind, message }: WireFailure) => ({ type: "error", error: { type: KINDS[kind][1], message } });

const usageOf = ({ input_tokens, output_tokens, cache_read_tokens, cache_write_tokens }: ModelUsage) => ({
  input_tokens: Math.max(0, input_tokens - cache_read_tokens - cache_write_tokens),
  cache_read_input_tokens: cache_read_tokens,
  cache_creation_input_tokens: cache_write_tokens,
  output_tokens,
});

function assistantParts(content: unknown): AssistantPart[] {
  if (typeof content === "string") return assistantText(content);
  return recordsIn(content).flatMap((block): AssistantPart[] => {
    if (block["type"] !== "tool_use") return block["type"] === "text" ? assistantText([block]) : [];
    const { id, name, input } = block;
    return [{ type: "tool_call", call_id: String(id), tool: String(name), input: input ?? {} }];
  });
}

/** Whether a block, or a block inside it, asks for caching for one hour. */
const isForHour = (block: Record<string, unknown>): boolean =>
  textIn(block["cache_control"], "ttl") === "1h" || recordsIn(block["content"]).some(isForHour);

type Conversation = ReturnType<typeof createConversation>;

/** Adds a user message. In this protocol, results of calls are blocks of user messages. */
function addUser(conversation: Conversation, content: unknown): void {
  const blocks = recordsIn(content);
  for (const block of blocks)
    if (block["type"] === "tool_result")
      conversation.result(String(block["tool_use_id"]), wordsIn(block["content"]), block["is_error"] !== true);
  const rest = typeof content === "string" ? content : blocks.filter(({ type }) => type !== "tool_result");
  if (rest.length > 0) conversation.user(userParts(rest));
}

function blocksOf({ parts }: ModelReply): object[] {
  return parts.flatMap((part): object[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type === "thinking") return [];
    const input = isObject(part.input) ? part.input : { input: part.input };
    return [{ type: "tool_use", id: part.call_id, name: part.tool, input }];
  });
}

/** Tool types of Anthropic that the client runs. */
const CLIENTS_TOOLS = /^(?:custom|bash_\d+|text_editor_\d+|computer_\d+|memory_\d+)$/;

const BOUNDS: Bounds = {
  members: [
    "model",
    "messages",
    "system",
    "stream",
    "max_tokens",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "tools",
    "tool_choice",
    "thinking",
    "metadata",
    "context_management",
    "output_config",
    "output_format",
  ],
  refused: {
    mcp_servers: (value) => Array.isArray(value) && value.length === 0,
    container: isNever,
    fallbacks: isNever,
    service_tier: isOneOf("auto", "standard_only"),
    speed: isOneOf("standard"),
    inference_geo: isOneOf("global"),
  },
  said: ["messages", "system"],
  isClients: ({ type }) => type === undefined || CLIENTS_TOOLS.test(String(type)),
};

export const messages: WireProtocol = {
  name: "messages",
  bounds: BOUNDS,
  read(body) {
    const conversation = createConversation();
    for (const { role, content } of recordsIn(body["messages"]))
      if (role === "assistant") conversation.assistant(assistantParts(content));
      else addUser(conversation, content);
    return {
      model: textIn(body, "model") ?? "",
      stream: body["stream"] === true,
      cachesForHour: [body["system"], body["tools"], body["messages"]].some((list) => recordsIn(list).some(isForHour)),
      request: {
        system: wordsIn(body["system"]),
        messages: conversation.messages,
        // A tool without `input_schema` has a type of Anthropic's own, which other providers do not know.
        tools: recordsIn(body["tools"]).flatMap((tool) =>
          tool["input_schema"] === undefined ? [] : toolOf(tool, tool["input_schema"]),
        ),
        maxOutputTokens: readPositive(body, "max_tokens"),
      },
    };
  },
  writer({ model }) {
    const send = (data: { type: string } & Record<string, unknown>) => formatEvent(data, data.type);
    let [isOpen, index, isInText] = [false, 0, false];
    const open = (): string => {
      if (isOpen) return "";
      isOpen = true;
      const none = { input_tokens: 0, output_tokens: 0 };
      const message = {
        id: newId("message"),
        type: "message",
        role: "assistant",
        model,
        content: [],
        usage: none,
      };
      return send({ type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } });
    };
    const openText = (): string => {
      if (isInText) return "";
      isInText = true;
      return send({ type: "content_block_start", index, content_block: { type: "text", text: "" } });
    };
    const closeText = (): string => {
      if (!isInText) return "";
      isInText = false;
      return send({ type: "content_block_stop", index: index++ });
    };
    const use = (block: Record<string, unknown>): string => {
      const at = index++;
      const { input, ...head } = block;
      const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
      return (
        send({ type: "content_block_start", index: at, content_block: { ...head, input: {} } }) +
        send({ type: "content_block_delta", index: at, delta }) +
        send({ type: "content_block_stop", index: at })
      );
    };
    return {
      text: (text) =>
        open() + openText() + send({ type: "content_block_delta", index, delta: { type: "text_delta", text } }),
      thinking: open,
      end(reply) {
        const uses = recordsIn(blocksOf(reply)).filter(({ type }) => type === "tool_use");
        const delta = { stop_reason: STOP[reply.finish] ?? "end_turn", stop_sequence: null };
        return (
          open() +
          closeText() +
          uses.map(use).join("") +
          send({ type: "message_delta", delta, usage: usageOf(reply.usage) }) +
          send({ type: "message_stop" })
        );
      },
      fail: (failure) => send(errorOf(failure)),
    };
  },
  whole: ({ model }, reply) => ({
    id: newId("message"),
    type: "message",
    role: "assistant",
    model,
    content: blocksOf(reply),
    stop_reason: STOP[reply.finish] ?? "end_turn",
    stop_sequence: null,
    usage: usageOf(reply.usage),
  }),
  failure: (failure) => ({ status: KINDS[failure.kind][0], body: errorOf(failure) }),
};
