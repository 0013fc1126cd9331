/** The window that a server of one's own actually serves, and prompts that it would silently cut. */
import { afterEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../core/clock.ts";
import {
  createLocalModelServer,
  type LocalKind,
  type LocalModelServer,
  type LocalOptions,
} from "../../testing/local-model-server.ts";
import { requestFor } from "../../testing/model-cases.ts";
import { type CatalogueDeps, createCatalogue } from "./catalogue.ts";
import { listModels } from "./live-models.ts";
import { createModelPort } from "./model-port.ts";

const MODEL = {
  ollama: "ollama/qwen3:8b",
  "llama.cpp": "custom-lab/qwen3:8b",
  lmstudio: "lmstudio/qwen3:8b",
  vllm: "vllm/qwen3:8b",
};
let server: LocalModelServer | undefined;
afterEach(() => server?.stop());

function open(kind: LocalKind, options?: LocalOptions, own?: ReturnType<NonNullable<CatalogueDeps["overrides"]>>) {
  server = createLocalModelServer(kind, options);
  const port = createModelPort({
    keys: { resolve: async () => ({ source: "none", baseUrl: `${server!.origin}/v1` }) },
    prices: createCatalogue({ clock: systemClock, overrides: () => own ?? [] }),
    clock: systemClock,
    scripted: { call: () => Promise.reject(new Error("not scripted")) },
    limits: { attempts: 1 },
  });
  const model = MODEL[kind];
  const signal = new AbortController().signal;
  return {
    server,
    windowOf: () => port.windowOf!({ model, signal }),
    call: (words: number, five = "plain words of a task ") => {
      const messages = Array.from({ length: 4 }, (_, at) => ({
        role: "user" as const,
        parts: [{ type: "text" as const, text: `Message ${at}. ${five.repeat(words / 20)}` }],
      }));
      return port.call(requestFor({ wire: kind, model, base: "", path: "" }, { messages }));
    },
  };
}

describe("the served window", () => {
  test("of Ollama: 4,096 tokens whatever the model can, after the model was loaded", async () => {
    const { windowOf } = open("ollama");
    expect(await windowOf()).toBe(4_096);
    expect(server!.requests.map(({ path }) => path)).toEqual(["/api/ps", "/api/generate", "/api/ps"]);
  });

  test("of Ollama: what an administrator set, asked for in every call, and no more than the model can", async () => {
    const set = open("ollama", {}, [{ id: "qwen3:8b", context_window: 32_768, max_context_window: 40_960 }]);
    expect(await set.windowOf()).toBe(32_768);
    expect((await set.call(8_000)).finish).toBe("stop");
    expect(set.server.requests.at(-1)).toMatchObject({
      path: "/api/chat",
      body: { options: { num_ctx: 32_768 }, truncate: false, shift: false },
    });
    expect(set.server.lastRead()).toContain("Message 0");
    set.server.stop();
    const more = open("ollama", {}, [{ id: "qwen3:8b", context_window: 100_000, max_context_window: 40_960 }]);
    expect(await more.windowOf()).toBe(40_960);
  });

  test("of Ollama: a loaded model keeps the window that it has", async () => {
    const { windowOf, call } = open("ollama", { window: 16_384, isLoaded: true });
    expect(await windowOf()).toBe(16_384);
    await call(100);
    expect(server!.requests.at(-1)!.body["options"]).toMatchObject({ num_ctx: 16_384 });
  });

  for (const age of ["silent", "without-ps"] as const)
    test(`of an Ollama that does not say its window (${age}): one that is asked for in every call, so that nothing is cut`, async () => {
      const { windowOf, call } = open("ollama", { age, window: 2_048 });
      expect(await windowOf()).toBe(4_096);
      // More tokens than the server serves by default, and fewer than the window that is asked for.
      expect((await call(3_000)).finish).toBe("stop");
      expect(server!.requests.at(-1)!.body["options"]).toMatchObject({ num_ctx: 4_096 });
      expect(server!.lastRead()).toContain("Message 0");
      expect((await call(8_000)).error).toMatchObject({ code: "context_truncated" });
    });

  test("of an Ollama that does not say its window: no more than the model can", async () => {
    const { windowOf } = open("ollama", { age: "silent", isLoaded: true }, [
      { id: "qwen3:8b", context_window: null, max_context_window: 2_048 },
    ]);
    expect(await windowOf()).toBe(2_048);
  });

  test("of Ollama: a name in other letters than the server's is the same model", async () => {
    const { windowOf } = open("ollama", { model: "Qwen3:8B", window: 16_384, isLoaded: true });
    expect(await windowOf()).toBe(16_384);
  });

  for (const kind of ["llama.cpp", "vllm"] as const)
    test(`of ${kind}: what the server says, also where more was set`, async () => {
      const { windowOf } = open(kind, { window: 8_192 }, [{ id: "qwen3:8b", context_window: 32_768 }]);
      expect(await windowOf()).toBe(8_192);
    });

  test("of LM Studio: of the loaded model; 4,096 before it is loaded", async () => {
    expect(await open("lmstudio", { window: 12_288, isLoaded: true }).windowOf()).toBe(12_288);
    server!.stop();
    expect(await open("lmstudio").windowOf()).toBe(4_096);
  });

  test("is unknown where nothing answers, and nothing throws", async () => {
    for (const kind of ["vllm", "ollama"] as const) {
      const { windowOf, server: gone } = open(kind);
      gone.stop();
      expect(await windowOf()).toBeNull();
    }
  });
});

describe("a prompt that does not fit", () => {
  for (const kind of ["ollama", "lmstudio"] as const)
    test(`${kind} cuts it without a word: the call ends as context_truncated and says what to do`, async () => {
      const { call } = open(kind);
      const answer = await call(8_000);
      expect(server!.lastRead()).not.toContain("Message 0");
      expect(answer).toMatchObject({ finish: "error", error: { code: "context_truncated", retryable: false } });
      expect(answer.error!.message).toContain(
        kind === "ollama" ? "skep models set ollama/qwen3:8b --window 32k" : "LM Studio",
      );
      expect(answer.usage.input_tokens).toBeGreaterThan(0);
    });

  test.each([
    ["Cyrillic", "простые слова одной задачи здесь "],
    ["Chinese", "请先阅读说明文档然后修改错误提示"],
    ["Japanese", "まず説明書を読んでから直してください"],
    ["Thai", "โปรดอ่านเอกสารประกอบก่อนแก้ไข"],
    ["Arabic", "كلمات بسيطة من مهمة واحدة "],
  ])("Ollama cuts it, in %s writing", async (_, five) => {
    const { call } = open("ollama");
    expect((await call(8_000, five)).error).toMatchObject({ code: "context_truncated" });
    expect(await call(200, five)).toMatchObject({ finish: "stop", usage_estimated: false });
  });

  for (const kind of ["llama.cpp", "vllm"] as const)
    test(`${kind} refuses it: context_too_long`, async () => {
      expect((await open(kind).call(8_000)).error).toMatchObject({ code: "context_too_long" });
    });

  for (const kind of ["ollama", "lmstudio", "llama.cpp", "vllm"] as const)
    test(`${kind}: one that fits is answered`, async () => {
      expect(await open(kind).call(1_600)).toMatchObject({ finish: "stop", usage_estimated: false });
    });
});

describe("the list of models says what is served and what the model can", () => {
  const listFirst = async (kind: LocalKind, options?: LocalOptions) => {
    server = createLocalModelServer(kind, options);
    const providerId = MODEL[kind].split("/")[0]!;
    const endpoint = { providerId, kind: kind === "ollama" ? kind : ("openai-compatible" as const), apiKey: undefined };
    return (await listModels({ ...endpoint, baseUrl: `${server.origin}/v1` }, { clock: systemClock })).models[0];
  };

  test("Ollama", async () => {
    expect(await listFirst("ollama", { capabilities: ["completion", "tools", "vision"] })).toMatchObject({
      context_window: null,
      max_context_window: 40_960,
      tools: true,
      images: true,
      reasoning: false,
    });
    server!.stop();
    expect(await listFirst("ollama", { isLoaded: true })).toMatchObject({ context_window: 4_096, images: false });
  });

  test("llama.cpp, LM Studio, vLLM", async () => {
    expect(await listFirst("llama.cpp")).toMatchObject({ context_window: 4_096, images: false });
    server!.stop();
    expect(await listFirst("lmstudio", { isLoaded: true })).toMatchObject({
      context_window: 4_096,
      max_context_window: 40_960,
    });
    server!.stop();
    expect(await listFirst("vllm")).toMatchObject({ context_window: 4_096 });
  });
});
