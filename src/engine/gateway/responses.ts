/**
 * OpenAI's responses: `POST /v1/responses`. Requests with tools that the provider runs itself, such as web search, are
 * refused.
 */

import { newId } from "../../core/ids.ts";
import { textIn } from "../../core/is-object.ts";
import type { ModelReply, ModelTool } from "../model.ts";
import { type AssistantPart, textOf } from "../parts.ts";
import { type Bounds, isAtMostOne, isNever, isNothing, isOneOf } from "./bounds.ts";
import { openaiError, openaiFailure } from "./chat.ts";
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
  type WireProtocol,
  type WireRequest,
  wordsIn,
} from "./wire.ts";

const usageOf = ({ usage }: ModelReply) => ({
  input_tokens: usage.input_tokens,
  input_tokens_details: { cached_tokens: usage.cache_read_tokens },
  output_tokens: usage.output_tokens,
  output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  total_tokens: totalOf(usage),
});

/**
 * Schema for a custom tool, whose input is one text in a grammar: the model is given an object that holds the text.
 */
const CUSTOM = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };

/** Joins a namespace, such as that of a tool server, and a tool's name to the one name that the model reads. */
const joinNames = (namespace: string, name: string): string => `${namespace}__${name}`;

function callIn(item: Record<string, unknown>): AssistantPart[] {
  const [name = "", namespace] = [textIn(item, "name"), textIn(item, "namespace")];
  const tool = namespace === undefined ? name : joinNames(namespace, name);
  const call = { type: "tool_call" as const, call_id: textIn(item, "call_id") ?? "", tool };
  if (item["type"] === "function_call") return [{ ...call, input: argumentsIn(textIn(item, "arguments")) }];
  return [{ ...call, input: { input: textIn(item, "input") ?? "" } }];
}

type Named = Pick<WireRequest, "model" | "spaces">;

function itemsOf({ parts }: ModelReply, { spaces }: Named): object[] {
  const text = textOf(parts);
  const said = {
    type: "message",
    id: newId("message"),
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
  const calls = parts.flatMap((part) =>
    part.type === "tool_call"
      ? {
          type: "function_call",
          id: newId("message"),
          call_id: part.call_id,
          status: "completed",
          ...(spaces?.get(part.tool) ?? { name: part.tool }),
          arguments: JSON.stringify(part.input),
        }
      : [],
  );
  return [...(text === "" ? [] : [said]), ...calls];
}

const responseOf = (id: string, wire: Named, reply: ModelReply) => ({
  id,
  object: "response",
  created_at: secondsNow(),
  model: wire.model,
  output: itemsOf(reply, wire),
  usage: usageOf(reply),
  status: reply.finish === "length" ? "incomplete" : "completed",
  incomplete_details: reply.finish === "length" ? { reason: "max_output_tokens" } : null,
});

type Spaces = Map<string, { namespace: string; name: string }>;

function toolsIn(tool: Record<string, unknown>, spaces: Spaces): ModelTool[] {
  if (tool["type"] === "function") return [toolOf(tool, tool["parameters"])];
  if (tool["type"] === "custom") return [toolOf(tool, CUSTOM)];
  if (tool["type"] !== "namespace") return [];
  const namespace = textIn(tool, "name") ?? "";
  return recordsIn(tool["tools"]).map((one) => {
    const made = toolOf(one, one["parameters"]);
    const name = joinNames(namespace, made.name);
    spaces.set(name, { namespace, name: made.name });
    return { ...made, name };
  });
}

/** Tool types that the client runs. A `shell` is the provider's unless its environment is local. */
const CLIENTS_TOOLS = new Set(["function", "custom", "local_shell", "apply_patch"]);

function isClientsTool(tool: Record<string, unknown>): boolean {
  const { type } = tool;
  if (type === "namespace")
    return Array.isArray(tool["tools"]) && recordsIn(tool["tools"]).every((one) => isClientsTool(one));
  if (type === "tool_search") return tool["execution"] === "client";
  if (type === "shell") return textIn(tool["environment"], "type") === "local";
  return CLIENTS_TOOLS.has(String(type));
}

const BOUNDS: Bounds = {
  members: [
    "model",
    "input",
    "instructions",
    "stream",
    "stream_options",
    "max_output_tokens",
    "temperature",
    "top_p",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tool_calls",
    "reasoning",
    "text",
    "include",
    "truncation",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "top_logprobs",
  ],
  refused: {
    previous_response_id: isNothing,
    conversation: isNever,
    background: isNothing,
    prompt: isNever,
    models: isNever,
    service_tier: isOneOf("auto", "default", "standard", "flex"),
    n: isAtMostOne,
    plugins: isNever,
  },
  said: ["input"],
  isClients: isClientsTool,
};

export const responses: WireProtocol = {
  name: "responses",
  bounds: BOUNDS,
  read(body) {
    const system = [textIn(body, "instructions") ?? ""];
    const spaces: Spaces = new Map();
    const conversation = createConversation();
    const { input } = body;
    if (typeof input === "string") conversation.user(userParts(input));
    for (const item of recordsIn(input)) {
      const { type = "message", role, content } = item;
      if (type === "function_call" || type === "custom_tool_call") conversation.assistant(callIn(item));
      else if (type === "function_call_output" || type === "custom_tool_call_output")
        conversation.result(textIn(item, "call_id") ?? "", wordsIn(item["output"]));
      else if (type !== "message") continue;
      else if (role === "system" || role === "developer") system.push(wordsIn(content));
      else if (role === "assistant") conversation.assistant(assistantText(content));
      else conversation.user(userParts(content));
    }
    return {
      model: textIn(body, "model") ?? "",
      stream: body["stream"] === true,
      spaces,
      request: {
        system: system.filter(Boolean).join("\n\n"),
        messages: conversation.messages,
        tools: recordsIn(body["tools"]).flatMap((tool) => toolsIn(tool, spaces)),
        maxOutputTokens: readPositive(body, "max_output_tokens"),
      },
    };
  },
  writer(wire) {
    const { model } = wire;
    const id = newId("message");
    const item_id = newId("message");
    let sequence = 0;
    let begun = "";
    const send = (type: string, data: object) => formatEvent({ type, sequence_number: sequence++, ...data }, type);
    const open = (): string => {
      if (begun) return "";
      begun = "response.created";
      const response = { id, object: "response", created_at: secondsNow(), status: "in_progress", model, output: [] };
      return send(begun, { response });
    };
    let hasText = false;
    const openText = (): string => {
      if (hasText) return "";
      hasText = true;
      const item = { type: "message", id: item_id, role: "assistant", status: "in_progress", content: [] };
      return send("response.output_item.added", { output_index: 0, item });
    };
    return {
      text: (delta) =>
        open() + openText() + send("response.output_text.delta", { item_id, output_index: 0, content_index: 0, delta }),
      thinking: open,
      end(reply) {
        const response = responseOf(id, wire, reply);
        const items = response.output.map((item, output_index) =>
          send("response.output_item.done", {
            output_index,
            item: hasText && output_index === 0 ? { ...item, id: item_id } : item,
          }),
        );
        const how = response.status === "completed" ? "response.completed" : "response.incomplete";
        return open() + items.join("") + send(how, { response });
      },
      fail(failure) {
        const { error } = openaiError(failure);
        const response = {
          id,
          object: "response",
          created_at: secondsNow(),
          status: "failed",
          model,
          output: [],
          error,
        };
        return open() + send("response.failed", { response });
      },
    };
  },
  whole: (wire, reply) => responseOf(newId("message"), wire, reply),
  failure: openaiFailure,
};
