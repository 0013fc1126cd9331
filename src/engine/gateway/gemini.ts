/** Google's Gemini: `POST /v1beta/models/MODEL:generateContent`, and `:streamGenerateContent?alt=sse`. */

import { isObject, membersOf, numberIn, textIn } from "../../core/is-object.ts";
import type { ModelReply, ModelTool } from "../model.ts";
import { type AssistantPart, textPart } from "../parts.ts";
import { type Bounds, isAtMostOne, isNever, isNothing, isOneOf } from "./bounds.ts";
import {
  createConversation,
  formatEvent,
  readPositive,
  recordsIn,
  toolOf,
  totalOf,
  userParts,
  type WireFailure,
  type WireProtocol,
  wordsIn,
} from "./wire.ts";

const PATH =
  /^\/v1(?:beta|alpha)?\/models\/(?<model>.{1,300}):(?<method>generateContent|streamGenerateContent|countTokens)$/;

export interface GeminiCall {
  model: string;
  method: "generate" | "stream" | "count";
}

/** Reads the model and the method from a URL; undefined when the URL is not one of this protocol's. */
export function geminiCallIn({ pathname, searchParams }: URL): GeminiCall | undefined {
  const { model, method } = PATH.exec(pathname)?.groups ?? {};
  if (model === undefined) return undefined;
  const named = decode(model);
  if (named === undefined) return undefined;
  if (method === "countTokens") return { model: named, method: "count" };
  // No known program reads a stream in any other form than server-sent events.
  if (method === "streamGenerateContent")
    return searchParams.get("alt") === "sse" ? { model: named, method: "stream" } : undefined;
  return { model: named, method: "generate" };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const GENERATION = [
  "maxOutputTokens",
  "temperature",
  "topP",
  "topK",
  "stopSequences",
  "seed",
  "presencePenalty",
  "frequencyPenalty",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "thinkingConfig",
  "mediaResolution",
];

/** Bounds of `generationConfig`, which is an object of its own in this protocol. */
export const GENERATION_BOUNDS: Bounds = {
  members: GENERATION,
  refused: {
    candidateCount: isAtMostOne,
    speechConfig: isNever,
    imageConfig: isNever,
    routingConfig: isNever,
    modelConfig: isNever,
    responseModalities: (value) => JSON.stringify(value).toUpperCase() === '["TEXT"]',
    enableAffectiveDialog: isNothing,
  },
  said: [],
  isClients: () => false,
};

const BOUNDS: Bounds = {
  members: ["contents", "systemInstruction", "tools", "toolConfig", "safetySettings", "generationConfig", "labels"],
  refused: {
    cachedContent: isNothing,
    cached_content: isNothing,
    serviceTier: isOneOf("standard", "flex"),
    store: isNothing,
    service_tier: isOneOf("standard", "flex"),
  },
  said: ["contents", "systemInstruction"],
  isClients: (tool) => Object.entries(tool).every(([name, value]) => name === "functionDeclarations" || value === null),
};

const STATUS: Record<WireFailure["kind"], [code: number, status: string]> = {
  bad_request: [400, "INVALID_ARGUMENT"],
  unauthorized: [401, "UNAUTHENTICATED"],
  not_found: [404, "NOT_FOUND"],
  quota: [429, "RESOURCE_EXHAUSTED"],
  busy: [503, "UNAVAILABLE"],
  provider: [500, "INTERNAL"],
};
const errorOf = ({ kind, message }: WireFailure) => {
  const [code, status] = STATUS[kind];
  return { error: { code, message, status } };
};

const FINISH: Partial<Record<ModelReply["finish"], string>> = { length: "MAX_TOKENS", content_filter: "SAFETY" };

const usageOf = ({ usage }: ModelReply) => ({
  promptTokenCount: usage.input_tokens,
  candidatesTokenCount: usage.output_tokens - usage.reasoning_tokens,
  thoughtsTokenCount: usage.reasoning_tokens,
  cachedContentTokenCount: usage.cache_read_tokens,
  totalTokenCount: totalOf(usage),
});

const callsOf = ({ parts }: ModelReply) =>
  parts.flatMap((part) =>
    part.type === "tool_call"
      ? { functionCall: { id: part.call_id, name: part.tool, args: isObject(part.input) ? part.input : {} } }
      : [],
  );

/** One chunk of a streamed answer or, with `reply`, its end or a whole answer. */
const answerOf = (model: string, parts: readonly object[], reply?: ModelReply) => ({
  candidates: [
    {
      content: { role: "model", parts },
      index: 0,
      ...(reply ? { finishReason: FINISH[reply.finish] ?? "STOP" } : {}),
    },
  ],
  ...(reply ? { usageMetadata: usageOf(reply) } : {}),
  modelVersion: model,
});

/**
 * Assigns ids to calls, since many clients send none. A result without an id answers the oldest open call of the same
 * name.
 */
function createIds() {
  const open = new Map<string, string[]>();
  let made = 0;
  return {
    ask(call: Record<string, unknown>): string {
      const name = textIn(call, "name") ?? "";
      const id = textIn(call, "id") ?? `${name}.${++made}`;
      open.set(name, [...(open.get(name) ?? []), id]);
      return id;
    },
    answer(result: Record<string, unknown>): string {
      const waiting = open.get(textIn(result, "name") ?? "") ?? [];
      const id = textIn(result, "id");
      if (id === undefined) return waiting.shift() ?? "";
      const at = waiting.indexOf(id);
      if (at >= 0) waiting.splice(at, 1);
      return id;
    },
  };
}

function readContents(contents: unknown, conversation: ReturnType<typeof createConversation>): void {
  const ids = createIds();
  for (const { role, parts } of recordsIn(contents)) {
    const rest: Record<string, unknown>[] = [];
    const said: AssistantPart[] = [];
    for (const part of recordsIn(parts)) {
      const { functionCall, functionResponse } = part;
      if (isObject(functionCall)) {
        const { name, args } = functionCall;
        said.push({ type: "tool_call", call_id: ids.ask(functionCall), tool: String(name), input: args ?? {} });
      } else if (isObject(functionResponse))
        conversation.result(ids.answer(functionResponse), resultIn(functionResponse));
      else if (part["thought"] === true) continue;
      else if (role === "model") said.push(...(textIn(part, "text") ? [textPart(textIn(part, "text")!)] : []));
      else rest.push(partOf(part));
    }
    if (said.length > 0) conversation.assistant(said);
    if (rest.length > 0) conversation.user(userParts(rest));
  }
}

/** Inline bytes in the form that the other protocols use; other parts are unchanged. */
function partOf(part: Record<string, unknown>): Record<string, unknown> {
  const { mimeType, data } = membersOf(part["inlineData"]);
  return mimeType === undefined ? part : { type: "image", source: { media_type: mimeType, data } };
}

function resultIn({ response }: Record<string, unknown>): string {
  return textIn(response, "output") ?? textIn(response, "error") ?? JSON.stringify(response ?? {});
}

const toolsIn = (tools: unknown): ModelTool[] =>
  recordsIn(tools)
    .flatMap((tool) => recordsIn(tool["functionDeclarations"]))
    .map((one) => toolOf(one, lowerTypes(one["parametersJsonSchema"] ?? one["parameters"])));

/** Gemini's own schemas write `OBJECT` where JSON Schema writes `object`. */
function lowerTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowerTypes);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === "type" && typeof value === "string" ? value.toLowerCase() : lowerTypes(value),
    ]),
  );
}

/** `model` and `stream` stay empty here because they come from the URL: see `geminiCallIn`. */
export const gemini: WireProtocol = {
  name: "gemini",
  bounds: BOUNDS,
  read(body) {
    const conversation = createConversation();
    readContents(body["contents"], conversation);
    const settings = membersOf(body["generationConfig"]);
    return {
      model: "",
      stream: false,
      request: {
        system: wordsIn(membersOf(body["systemInstruction"])["parts"]),
        messages: conversation.messages,
        tools: toolsIn(body["tools"]),
        maxOutputTokens: readPositive(settings, "maxOutputTokens"),
        temperature: numberIn(settings, "temperature"),
      },
    };
  },
  writer({ model }) {
    // The last event must hold text or a call: clients take a last event with neither for a broken reply and ask again.
    // So each piece of text is held back until the next.
    let held = "";
    const release = (next: string): string => {
      const text = held;
      held = next;
      return text === "" ? "" : formatEvent(answerOf(model, [{ text }]));
    };
    return {
      text: release,
      thinking: (text) => formatEvent(answerOf(model, [{ text, thought: true }])),
      end: (reply) => formatEvent(answerOf(model, [{ text: held }, ...callsOf(reply)], reply)),
      fail: (failure) => release("") + formatEvent(errorOf(failure)),
    };
  },
  whole({ model }, reply) {
    const parts = reply.parts.flatMap((part) => (part.type === "text" ? [{ text: part.text }] : []));
    return answerOf(model, [...parts, ...callsOf(reply)], reply);
  },
  failure: (failure) => ({ status: STATUS[failure.kind][0], body: errorOf(failure) }),
};
