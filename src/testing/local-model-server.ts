/**
 * Servers that people run themselves, as far as windows are concerned, over real HTTP on a free loopback port. Each does what
 * its documentation says of a prompt that does not fit:
 *
 * - Ollama 0.20 loads a model with 4,096 tokens on a card below 24 GiB unless a request says `num_ctx`
 *   (https://docs.ollama.com/context-length), and drops the oldest messages of a longer prompt without a word
 *   (`chatPrompt` in its server/prompt.go). Its compatible protocol has no `num_ctx`. Older ones say no `context_length` in
 *   `/api/ps`, and the oldest have no `/api/ps`.
 * - llama.cpp refuses with 400 `exceed_context_size_error` and says its window in `/props`
 *   (https://github.com/ggml-org/llama.cpp/tree/master/tools/server).
 * - LM Studio says `loaded_context_length` in `/api/v0/models` (https://lmstudio.ai/docs/developer/rest).
 * - vLLM says `max_model_len` in `/v1/models` and refuses with 400
 *   (https://docs.vllm.ai/en/latest/serving/openai_compatible_server).
 */
import { countTokens } from "gpt-tokenizer";
import { type FakeReply, wireStream } from "./model-wire.ts";

export type LocalKind = "ollama" | "llama.cpp" | "lmstudio" | "vllm";

export interface LocalModelServer {
  /** `http://127.0.0.1:port`. */
  origin: string;
  /** Path and body of every request. */
  requests: { path: string; body: Record<string, unknown> }[];
  /** The text that the model read in its last call, after the server had cut the prompt. */
  lastRead(): string;
  /** Sets the answers to the next calls, in order. The last one is repeated. */
  next(...replies: FakeReply[]): void;
  stop(): void;
}

export interface LocalOptions {
  model?: string;
  /** Number of tokens that it serves, unless a request says otherwise. */
  window?: number;
  /** Most tokens that the model supports. */
  most?: number;
  capabilities?: string[];
  /** Only for Ollama: an older version that does not report its window, or that has no `/api/ps`. */
  age?: "silent" | "without-ps";
  /** Only for Ollama: the fraction of a loaded model that is in the graphics card's memory. */
  onCard?: number;
  /** Whether the model is in memory before the first request. */
  isLoaded?: boolean;
}

interface Message {
  role: string;
  content?: unknown;
}

const textOf = (messages: readonly Message[]): string =>
  messages
    .map(({ role, content }) => `${role}\n${typeof content === "string" ? content : JSON.stringify(content)}`)
    .join("\n");

/** Like Ollama's `chatPrompt`: keeps system messages and the last message, and drops the oldest others first. */
function cut(messages: readonly Message[], window: number): Message[] {
  const system = messages.filter(({ role }) => role === "system");
  const others = messages.filter(({ role }) => role !== "system");
  while (others.length > 1 && countTokens(textOf([...system, ...others])) > window) others.shift();
  return [...system, ...others];
}

export function createLocalModelServer(kind: LocalKind, options: LocalOptions = {}): LocalModelServer {
  const { model = "qwen3:8b", window = 4_096, most = 40_960, capabilities = ["completion", "tools"] } = options;
  const requests: LocalModelServer["requests"] = [];
  let loaded = options.isLoaded ? window : undefined;
  let read = "";
  let line: FakeReply[] = [{ text: "Hello." }];
  const json = (body: unknown, status = 200) => Response.json(body, { status });
  const nextReply = (): FakeReply => (line.length > 1 ? line.shift()! : line[0]!);

  /** @returns the number of tokens read, or the refusal. */
  function take(messages: readonly Message[], tokens: number): number | Response {
    const whole = countTokens(textOf(messages));
    const kept = kind === "ollama" || kind === "lmstudio" ? cut(messages, tokens) : messages;
    read = textOf(kept);
    if (whole > tokens && kind === "llama.cpp")
      return json(
        {
          error: {
            code: 400,
            type: "exceed_context_size_error",
            n_prompt_tokens: whole,
            n_ctx: tokens,
            message: `the request exceeds the available context size (${tokens} tokens), try increasing it`,
          },
        },
        400,
      );
    if (whole > tokens && kind === "vllm")
      return json(
        {
          error: {
            type: "BadRequestError",
            param: null,
            code: 400,
            message: `This model's maximum context length is ${tokens} tokens. However, your request has ${whole} input tokens. Please reduce the length of the input messages.`,
          },
        },
        400,
      );
    return Math.min(countTokens(read), tokens);
  }

  function compatible({ messages }: { messages?: Message[] }): Response {
    loaded ??= window;
    const tokens = take(messages ?? [], loaded);
    if (typeof tokens !== "number") return tokens;
    const reply = nextReply();
    const { body, end } = wireStream("chat", model, { ...reply, usage: { input: tokens, output: 7, ...reply.usage } });
    return new Response([...body, ...end].join(""), { headers: { "content-type": "text/event-stream" } });
  }

  function native(body: Record<string, unknown>): Response {
    const asked = (body["options"] as { num_ctx?: number } | undefined)?.num_ctx;
    loaded = Math.min(asked ?? window, most);
    const tokens = take((body["messages"] ?? []) as Message[], loaded);
    if (typeof tokens !== "number") return tokens;
    const reply = nextReply();
    const frames = wireStream("ollama", model, { ...reply, usage: { input: tokens, output: 7, ...reply.usage } });
    return new Response([...frames.body, ...frames.end].join(""), {
      headers: { "content-type": "application/x-ndjson" },
    });
  }

  const ollama: Record<string, (body: Record<string, unknown>) => Response> = {
    "/api/tags": () => json({ models: [{ name: model, model, size: 5_200_000_000 }] }),
    "/api/show": () =>
      json({ capabilities, model_info: { "general.architecture": "qwen3", "qwen3.context_length": most } }),
    "/api/ps": () =>
      json({
        models:
          loaded === undefined
            ? []
            : [
                {
                  name: model,
                  model,
                  size: 6_000_000_000,
                  size_vram: 6_000_000_000 * (options.onCard ?? 1),
                  ...(options.age ? {} : { context_length: loaded }),
                },
              ],
      }),
    "/api/generate": () => {
      loaded ??= window;
      return json({ model, response: "", done: true, done_reason: "load" });
    },
    "/api/chat": native,
    "/v1/chat/completions": compatible,
  };
  const others: Record<Exclude<LocalKind, "ollama">, typeof ollama> = {
    "llama.cpp": {
      "/v1/models": () => json({ object: "list", data: [{ id: model, object: "model", meta: { n_ctx_train: most } }] }),
      "/props": () =>
        json({ default_generation_settings: { n_ctx: window }, total_slots: 1, modalities: { vision: false } }),
      "/v1/chat/completions": compatible,
    },
    lmstudio: {
      "/api/v0/models": () =>
        json({
          data: [
            {
              id: model,
              object: "model",
              type: "llm",
              max_context_length: most,
              ...(loaded === undefined ? { state: "not-loaded" } : { state: "loaded", loaded_context_length: loaded }),
            },
          ],
        }),
      "/v1/models": () => json({ object: "list", data: [{ id: model, object: "model" }] }),
      "/v1/chat/completions": compatible,
    },
    vllm: {
      "/v1/models": () => json({ object: "list", data: [{ id: model, object: "model", max_model_len: window }] }),
      "/v1/chat/completions": compatible,
    },
  };
  if (options.age === "without-ps") delete ollama["/api/ps"];
  const routes = kind === "ollama" ? ollama : others[kind];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const text = await request.text();
      const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
      requests.push({ path: pathname, body });
      return routes[pathname]?.(body) ?? json({ error: "not found" }, 404);
    },
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    requests,
    lastRead: () => read,
    next: (...replies) => {
      line = replies;
    },
    stop: () => void server.stop(true),
  };
}
