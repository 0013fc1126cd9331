/**
 * The SDK's model object for one call. Address and key are always given, so that no SDK reads the environment by
 * itself; redirects are never followed, so that a key goes to the configured host and to no other.
 */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { JSONValue, LanguageModel } from "ai";
import type { ModelRequest } from "../../engine/model.ts";
import type { ProviderKind } from "./providers.ts";

export interface Endpoint {
  providerId: string;
  kind: ProviderKind;
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey: string | undefined;
}

/** `fetch` that follows no redirect and leaves time limits to the caller. */
export function guardedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  return fetch(input, { ...init, redirect: "manual", timeout: false } as BunFetchRequestInit);
}

/** OpenRouter says what a call cost; others do not. */
const costMetadata = {
  extractMetadata: async () => undefined,
  createStreamExtractor: () => {
    let cost: number | undefined;
    return {
      processChunk(chunk: unknown) {
        const said = (chunk as { usage?: { cost?: unknown } | null } | null)?.usage?.cost;
        if (typeof said === "number" && said >= 0) cost = said;
      },
      buildMetadata: () => (cost === undefined ? undefined : { charged: { usd: cost } }),
    };
  },
};

export function languageModel(endpoint: Endpoint, name: string): LanguageModel {
  const { kind, baseUrl: baseURL, providerId } = endpoint;
  const apiKey = endpoint.apiKey ?? "";
  const fetch = guardedFetch as typeof globalThis.fetch;
  if (kind === "anthropic") return createAnthropic({ baseURL, apiKey, fetch })(name);
  if (kind === "openai") return createOpenAI({ baseURL, apiKey, fetch }).responses(name);
  if (kind === "google") return createGoogle({ baseURL, apiKey, fetch })(name);
  const metadataExtractor = providerId === "openrouter" ? { metadataExtractor: costMetadata } : {};
  const key = apiKey ? { apiKey } : {};
  return createOpenAICompatible({
    name: providerId,
    baseURL,
    fetch,
    ...key,
    includeUsage: true,
    ...metadataExtractor,
  })(name);
}

/** `default`: say nothing, for a model that refuses what it was told. */
export type ThinkingSetting = ModelRequest["thinkingLevel"] | "default";

/**
 * The SDK maps a level to what each model takes: a budget or an effort at Anthropic, an effort at OpenAI, a budget or a
 * level at Google. `off` says nothing to an OpenAI-compatible server: many refuse a parameter they do not know.
 */
export function thinkingOptions(kind: ProviderKind, level: ThinkingSetting) {
  if (level === "default") return {};
  if (level === "off") return kind === "openai-compatible" ? {} : { reasoning: "none" as const };
  return { reasoning: level };
}

/** What else a kind of provider is told: keep nothing at OpenAI, show Google's thoughts. */
export function providerOptions(kind: ProviderKind, level: ThinkingSetting): Record<string, Record<string, JSONValue>> {
  if (kind === "openai") return { openai: { store: false } };
  if (kind === "google" && level !== "off" && level !== "default")
    return { google: { thinkingConfig: { includeThoughts: true } } };
  return {};
}
