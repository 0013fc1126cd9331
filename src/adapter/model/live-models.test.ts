import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../core/clock.ts";
import { createModelServer, type ModelServer } from "../../testing/model-server.ts";
import type { Endpoint } from "./endpoint.ts";
import { listModels } from "./live-models.ts";

const KEY = "sk-canary-0123456789abcdef";
let server: ModelServer;
beforeEach(async () => {
  server = await createModelServer();
});
afterEach(() => server.stop());

const endpoint = (providerId: string, kind: Endpoint["kind"], path: string): Endpoint => ({
  providerId,
  kind,
  baseUrl: `${server.origin}${path}`,
  apiKey: KEY,
});
const list = (to: Endpoint, timeoutMs = 240_000) => listModels(to, { clock: systemClock, timeoutMs });

describe("the models of a provider, live", () => {
  test("OpenAI and compatible servers, with the context sizes that some add", async () => {
    server.get("/v1/models", {
      data: [{ id: "b", max_model_len: 32768 }, { id: "a", context_length: 8192 }, { id: "c" }],
    });
    const found = await list(endpoint("vllm", "openai-compatible", "/v1"));
    expect(found.ok).toBe(true);
    expect(found.models.map(({ id, context_window }) => [id, context_window])).toEqual([
      ["a", 8192],
      ["b", 32768],
      ["c", null],
    ]);
    expect(server.requests[0]!.headers["authorization"]).toBe(`Bearer ${KEY}`);
  });

  test("Anthropic", async () => {
    server.get("/v1/models", { data: [{ id: "claude-x", display_name: "Claude X", max_input_tokens: 200000 }] });
    const found = await list(endpoint("anthropic", "anthropic", "/v1"));
    expect(found.models).toMatchObject([{ id: "claude-x", name: "Claude X", context_window: 200000 }]);
    expect(server.requests[0]!.headers).toMatchObject({ "x-api-key": KEY, "anthropic-version": "2023-06-01" });
  });

  test("Google, without what cannot generate", async () => {
    server.get("/v1beta/models", {
      models: [
        {
          name: "models/gemini-x",
          displayName: "Gemini X",
          inputTokenLimit: 1000,
          supportedGenerationMethods: ["generateContent"],
        },
        { name: "models/embed", supportedGenerationMethods: ["embedContent"] },
      ],
    });
    const found = await list(endpoint("google", "google", "/v1beta"));
    expect(found.models).toMatchObject([{ id: "gemini-x", name: "Gemini X", context_window: 1000 }]);
    expect(server.requests[0]!.headers["x-goog-api-key"]).toBe(KEY);
    expect(server.requests[0]!.path).not.toContain(KEY);
  });

  test("Ollama, with context size and capabilities of each model", async () => {
    server.get("/api/tags", { models: [{ name: "qwen3:8b" }] });
    server.get("/api/show", {
      model_info: { "qwen3.context_length": 40960 },
      capabilities: ["completion", "tools", "thinking"],
    });
    const found = await list(endpoint("ollama", "ollama", "/v1"));
    expect(found.models).toEqual([
      {
        id: "qwen3:8b",
        name: "qwen3:8b",
        context_window: null,
        max_context_window: 40960,
        tools: true,
        reasoning: true,
        images: false,
      },
    ]);
    expect(server.requests[1]).toMatchObject({ method: "POST", path: "/api/show", body: { model: "qwen3:8b" } });
  });

  test("OpenRouter's key is tested though its list is public", async () => {
    server.get("/v1/models", { data: [{ id: "x" }] });
    server.get("/v1/key", { error: "no" }, 401);
    expect(await list(endpoint("openrouter", "openai-compatible", "/v1"))).toMatchObject({ ok: false, models: [] });
  });
});

describe("a provider that does not answer well is described in words, never with the key", () => {
  test("a refused key, and an error that echoes the key", async () => {
    for (const [answer, status, word] of [
      [{ error: KEY }, 401, "refused the key"],
      [{ error: `bad ${KEY}` }, 500, "500"],
    ] as const) {
      server.get("/v1/models", answer, status);
      const found = await list(endpoint("openai", "openai", "/v1"));
      expect(found).toMatchObject({ ok: false, models: [], error: expect.stringContaining(word) });
      expect(JSON.stringify(found)).not.toContain(KEY);
    }
  });

  test("a server that asks for a key when it was given none", async () => {
    server.get("/v1/models", { error: "no key" }, 401);
    const found = await list({ ...endpoint("vllm", "openai-compatible", "/v1"), apiKey: undefined });
    expect(found).toMatchObject({
      ok: false,
      keyRefused: true,
      error: expect.stringContaining("asks for a key (401)"),
    });
  });

  test("a host that does not exist, and one that stays silent", async () => {
    const gone = await createModelServer();
    await gone.stop();
    const found = await list({ ...endpoint("vllm", "openai-compatible", ""), baseUrl: `${gone.origin}/v1` });
    expect(found).toMatchObject({ ok: false, error: expect.stringContaining(gone.origin) });
    server.next({ kind: "hang" });
    const silent = await list({ ...endpoint("vllm", "openai-compatible", ""), baseUrl: `${server.origin}/hang` }, 100);
    expect(silent).toMatchObject({ ok: false, error: expect.stringContaining("0.1 seconds") });
  });

  test("a redirect is not followed", async () => {
    const other = await createModelServer();
    server.next({ kind: "redirect", location: `${other.origin}/v1/models` });
    const found = await list({ ...endpoint("vllm", "openai-compatible", ""), baseUrl: `${server.origin}/redirect` });
    expect(found).toMatchObject({ ok: false, error: expect.stringContaining("redirect") });
    expect(other.requests).toEqual([]);
    await other.stop();
  });
});
