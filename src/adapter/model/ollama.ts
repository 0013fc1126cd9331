/**
 * Ollama by its own protocol, `/api/chat` (https://docs.ollama.com/api/chat). Its OpenAI-compatible protocol cannot ask
 * for a window size, and silently cuts a prompt that does not fit.
 * Requests also ask not to cut the prompt (`truncate`) and not to drop its beginning while the reply grows (`shift`). A
 * server that does not know these options ignores them.
 */
import type { LanguageModelMiddleware } from "ai";
import { isObject, membersOf, numberIn, textIn } from "../../core/is-object.ts";
import { readJson, readMembers } from "../../core/json-reader.ts";
import { LIMITS } from "../../core/limits.ts";
import { createLineSplitter } from "../../core/line-splitter.ts";
import { type Endpoint, ollamaRoot } from "./endpoint.ts";
import { refusalOf } from "./failure.ts";

type Model = Parameters<NonNullable<LanguageModelMiddleware["wrapStream"]>>[0]["model"];
type CallOptions = Parameters<Model["doStream"]>[0];
type Message = CallOptions["prompt"][number];
type Stream = Awaited<ReturnType<Model["doStream"]>>["stream"];
type Part = Stream extends ReadableStream<infer One> ? One : never;
type Json = Record<string, unknown>;

/** Only these models take a level of thinking; others take true or false. */
const TAKES_LEVELS = /gpt-?oss/i;

/** @param window tokens to ask for; undefined leaves the choice to the server. */
export function ollamaModel({ baseUrl, apiKey, providerId }: Endpoint, name: string, window?: number): Model {
  const url = `${ollamaRoot(baseUrl)}/api/chat`;
  return {
    specificationVersion: "v4",
    provider: providerId,
    modelId: name,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("replies of Ollama are streamed")),
    async doStream(options) {
      const body = bodyOf(name, options, window);
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) },
        body: JSON.stringify(body),
        redirect: "manual",
        timeout: false,
        ...(options.abortSignal ? { signal: options.abortSignal } : {}),
      });
      if (response.status !== 200 || response.body === null) throw await refusalOf(response, url, messageIn);
      return { stream: response.body.pipeThrough(partsOf()) };
    },
  };
}

function bodyOf(
  model: string,
  { prompt, tools, temperature, maxOutputTokens, reasoning }: CallOptions,
  window?: number,
) {
  const think = reasoning === undefined ? undefined : reasoning !== "none";
  return {
    model,
    messages: prompt.flatMap(messagesOf),
    ...(tools?.length
      ? {
          tools: tools.flatMap((tool) =>
            tool.type === "function"
              ? {
                  type: "function",
                  function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
                }
              : [],
          ),
        }
      : {}),
    ...(think === undefined ? {} : { think: think && TAKES_LEVELS.test(model) ? reasoning : think }),
    options: {
      num_ctx: window,
      temperature,
      num_predict: maxOutputTokens,
    },
    stream: true,
    truncate: false,
    shift: false,
  };
}

const joinTexts = (texts: readonly string[]): string => texts.filter(Boolean).join("\n\n");

function messagesOf(message: Message): Json[] {
  if (message.role === "system") return [{ role: "system", content: message.content }];
  if (message.role === "user") {
    const content = joinTexts(message.content.map((part) => (part.type === "text" ? part.text : "")));
    const images = message.content.flatMap((part) =>
      part.type === "file" && part.mediaType.startsWith("image") && part.data.type === "data"
        ? [typeof part.data.data === "string" ? part.data.data : Buffer.from(part.data.data).toString("base64")]
        : [],
    );
    return [{ role: "user", content, ...(images.length > 0 ? { images } : {}) }];
  }
  if (message.role === "assistant") {
    const content = joinTexts(message.content.map((part) => (part.type === "text" ? part.text : "")));
    const calls = message.content.flatMap((part) =>
      part.type === "tool-call"
        ? [{ id: part.toolCallId, function: { name: part.toolName, arguments: membersOf(part.input) } }]
        : [],
    );
    return [{ role: "assistant", content, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
  }
  return message.content.flatMap((part) =>
    part.type === "tool-result"
      ? [
          {
            role: "tool",
            tool_name: part.toolName,
            tool_call_id: part.toolCallId,
            content: "value" in part.output ? textOf(part.output.value) : "",
          },
        ]
      : [],
  );
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const REFUSAL_CHARACTERS = 4_096;

/** The server's error message; the body itself when it is not JSON. */
function messageIn(body: string): string {
  const { error } = readMembers(body);
  return typeof error === "string" ? error : (textIn(error, "message") ?? body.slice(0, REFUSAL_CHARACTERS));
}

/** Turns lines of JSON into the SDK's stream parts. */
function partsOf(): TransformStream<Uint8Array, Part> {
  let lines: ReturnType<typeof createLineSplitter>;
  let calls = 0;
  let open: "text" | "reasoning" | undefined;
  const toId = (type: string): string => `${type}-${calls}`;
  return new TransformStream<Uint8Array, Part>({
    start(controller) {
      const close = () => {
        if (open) controller.enqueue({ type: `${open}-end`, id: toId(open) });
        open = undefined;
      };
      const say = (type: "text" | "reasoning", delta: string | undefined) => {
        if (!delta) return;
        if (open !== type) {
          close();
          controller.enqueue({ type: `${type}-start`, id: toId(type) });
          open = type;
        }
        controller.enqueue({ type: `${type}-delta`, id: toId(type), delta });
      };
      const call = (given: unknown) => {
        const { name, arguments: input } = membersOf(membersOf(given)["function"]);
        if (typeof name !== "string") return;
        close();
        calls++;
        const toolCallId = textIn(given, "id") || `call_${crypto.randomUUID()}`;
        controller.enqueue({ type: "tool-call", toolCallId, toolName: name, input: textOf(input ?? {}) });
      };
      const take = (text: string) => {
        const line = readJson(text);
        const error = textIn(line, "error");
        if (error !== undefined) return controller.enqueue({ type: "error", error });
        const message = membersOf(membersOf(line)["message"]);
        say("reasoning", textIn(message, "thinking"));
        say("text", textIn(message, "content"));
        if (Array.isArray(message["tool_calls"])) message["tool_calls"].forEach(call);
        if (!isObject(line) || line["done"] !== true) return undefined;
        close();
        return controller.enqueue(finishOf(line, calls > 0));
      };
      lines = createLineSplitter({
        maxBytes: LIMITS.providerEventBytes,
        onLine: ({ text }) => void (text.trim() && take(text)),
        onExcess: () => {
          throw new Error(`the answer is made of a line longer than ${LIMITS.providerEventBytes} bytes`);
        },
      });
    },
    transform: (chunk) => lines.add(chunk),
    flush: () => lines.end(),
  });
}

function finishOf(line: Json, hasCalls: boolean): Part {
  const raw = textIn(line, "done_reason");
  const unified = raw === "length" ? "length" : hasCalls ? "tool-calls" : "stop";
  const none = { noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  return {
    type: "finish",
    finishReason: { unified, raw: raw ?? "stop" },
    usage: {
      inputTokens: { total: numberIn(line, "prompt_eval_count"), ...none },
      outputTokens: { total: numberIn(line, "eval_count"), text: undefined, reasoning: undefined },
    },
  };
}
