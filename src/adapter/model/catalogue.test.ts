import { describe, expect, test } from "bun:test";
import { systemClock } from "../../core/clock.ts";
import { createCatalogue, type ModelOverride } from "./catalogue.ts";
import { normalizeBaseUrl, PROVIDERS, providerEntry, splitModel } from "./providers.ts";

const usage = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
});
const clock = { now: () => Date.parse("2026-06-01T12:00:00Z"), monotonic: systemClock.monotonic };
const catalogue = createCatalogue({ clock });

describe("catalogue", () => {
  test("every hosted provider has models with prices in the offline table", () => {
    for (const entry of PROVIDERS.filter((one) => !one.local)) {
      const models = catalogue.listModels(entry.id);
      expect(models.length, entry.id).toBeGreaterThan(0);
      expect(
        models.some((model) => model.input_usd_per_mtok !== null),
        entry.id,
      ).toBe(true);
      expect(models.every((model) => model.id.startsWith(`${entry.id}/`))).toBe(true);
    }
  });

  test("a known model has its published price per million tokens and its context window", () => {
    const info = catalogue.describeModel("openai/gpt-4o-mini");
    expect(info.input_usd_per_mtok).toBe(0.15);
    expect(info.output_usd_per_mtok).toBe(0.6);
    expect(info.context_window).toBe(128_000);
    expect(catalogue.computeCost("openai/gpt-4o-mini", usage(1_000_000, 1_000_000))).toEqual({
      usd: 0.75,
      source: "table",
    });
  });

  test("cached input is charged at its own rate", () => {
    const plain = catalogue.computeCost("anthropic/claude-sonnet-4-5", usage(10_000, 0)).usd;
    const cached = catalogue.computeCost("anthropic/claude-sonnet-4-5", {
      ...usage(10_000, 0),
      cache_read_tokens: 10_000,
    });
    expect(cached.usd).toBeCloseTo(plain! / 10, 8);
  });

  test("input that is kept for an hour costs twice as much, that for minutes a quarter more", () => {
    const model = "anthropic/claude-sonnet-4-5";
    const plain = catalogue.computeCost(model, usage(10_000, 0)).usd!;
    const kept = { ...usage(10_000, 0), cache_write_tokens: 10_000 };
    expect(catalogue.computeCost(model, kept).usd!).toBeCloseTo(plain * 1.25, 8);
    expect(catalogue.computeCost(model, { ...kept, cache_write_hour_tokens: 10_000 }).usd!).toBeCloseTo(plain * 2, 8);
    expect(catalogue.computeCost(model, { ...kept, cache_write_hour_tokens: 4_000 }).usd!).toBeCloseTo(plain * 1.55, 8);
    // The estimate covers a cache write, also for an hour if that is asked for.
    expect(catalogue.estimateUsd(model, 10_000, 0, true)).toBeCloseTo(plain * 2, 8);
    expect(catalogue.estimateUsd(model, 10_000, 0)).toBeCloseTo(plain * 1.25, 8);
  });

  test("an unknown model, provider or custom server costs null, never a guess", () => {
    for (const model of ["openai/gpt-nonsense", "nobody/x", "custom-mine/gpt-4o", "gpt-4o", "openai/", "/x"]) {
      expect(catalogue.computeCost(model, usage(10, 10))).toEqual({ usd: null, source: "unknown" });
      expect(catalogue.estimateUsd(model, 10, 10)).toBeNull();
      expect(catalogue.describeModel(model).context_window).toBeNull();
    }
  });

  test("local servers and the scripted model cost nothing", () => {
    for (const model of ["ollama/qwen3:8b", "lmstudio/x", "vllm/meta/llama", "demo/scripted"])
      expect(catalogue.computeCost(model, usage(10, 10))).toEqual({ usd: 0, source: "table" });
    expect(catalogue.listModels("ollama")).toEqual([]);
    expect(catalogue.listModels("demo").map((model) => model.id)).toEqual(["demo/scripted"]);
  });

  test("what an administrator entered for a model counts before the table", () => {
    const entries: ModelOverride[] = [
      { id: "big", name: "Big", context_window: 9000, input_usd_per_mtok: 2, output_usd_per_mtok: 4 },
    ];
    const own = createCatalogue({ clock, overrides: (id) => (id === "custom-mine" ? entries : []) });
    expect(own.computeCost("custom-mine/big", usage(1_000_000, 500_000))).toEqual({ usd: 4, source: "table" });
    expect(own.listModels("custom-mine")[0]).toMatchObject({
      id: "custom-mine/big",
      name: "Big",
      context_window: 9000,
    });
  });

  test("the estimate is never below the cost of the same tokens, cached or not", () => {
    const model = "anthropic/claude-sonnet-4-5";
    const estimate = catalogue.estimateUsd(model, 5000, 1000)!;
    for (const cache_write_tokens of [0, 2500, 5000])
      expect(catalogue.computeCost(model, { ...usage(5000, 1000), cache_write_tokens }).usd!).toBeLessThanOrEqual(
        estimate,
      );
  });

  test("the list shows what can hold a conversation, not embeddings, speech or images", () => {
    const ids = catalogue.listModels("openai").map((model) => model.id);
    expect(ids).toContain("openai/gpt-4o");
    expect(ids.filter((id) => /embedding|whisper|image|realtime|tts/.test(id))).toEqual([]);
  });
});

describe("providers", () => {
  test("a model id splits at its first slash", () => {
    expect(splitModel("openrouter/meta/llama")).toEqual({ provider: "openrouter", name: "meta/llama" });
    expect(splitModel("gpt-4o")).toBeUndefined();
  });

  test("custom-* is an OpenAI-compatible server; other unknown names are none", () => {
    expect(providerEntry("custom-lab")?.kind).toBe("openai-compatible");
    expect(providerEntry("custom-")).toBeUndefined();
    expect(providerEntry("nobody")).toBeUndefined();
  });

  test("a bare host gets the provider's default path, other schemes are refused", () => {
    const ollama = providerEntry("ollama")!;
    expect(normalizeBaseUrl(ollama, "http://lan:11434")).toBe("http://lan:11434/v1");
    expect(normalizeBaseUrl(ollama, "http://lan:11434/v1/")).toBe("http://lan:11434/v1");
    expect(normalizeBaseUrl(ollama)).toBe("http://127.0.0.1:11434/v1");
    expect(normalizeBaseUrl(providerEntry("google")!, "http://lan")).toBe("http://lan/v1beta");
    expect(normalizeBaseUrl(ollama, "file:///etc/passwd")).toBeUndefined();
    expect(normalizeBaseUrl(providerEntry("custom-x")!)).toBeUndefined();
  });
});
