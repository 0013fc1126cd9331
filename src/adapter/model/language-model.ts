/**
 * Makes the SDK's model object for one call. Address and key are always given, so that no SDK reads the environment by
 * itself.
 */

import type { JSONValue, LanguageModel, LanguageModelMiddleware } from "ai";
import { membersOf } from "../../core/is-object.ts";
import { jsonFault } from "../../core/json-reader.ts";
import type { ModelRequest } from "../../engine/model.ts";
import { needsMarks, withCacheMarks } from "./cache-marks.ts";
import { type Endpoint, fetchDirectly } from "./endpoint.ts";
import { ollamaModel } from "./ollama.ts";
import type { ProviderKind } from "./providers.ts";
import { inputRefusal } from "./reply-parts.ts";

/** Reads the cost that OpenRouter reports for a call; other providers do not report it. */
const costMetadata = {
  extractMetadata: async () => undefined,
  createStreamExtractor: () => {
    let cost: number | undefined;
    return {
      processChunk(chunk: unknown) {
        const said = membersOf(membersOf(chunk)["usage"])["cost"];
        if (typeof said === "number" && said >= 0) cost = said;
      },
      buildMetadata: () => (cost === undefined ? undefined : { charged: { usd: cost } }),
    };
  },
};

/**
 * Makes the model, and loads the SDK for its kind of provider at the first call. @param window tokens to ask for, if a
 * request can.
 */
export async function languageModel(endpoint: Endpoint, name: string, window?: number): Promise<LanguageModel> {
  const [{ wrapLanguageModel }, model] = await Promise.all([import("ai"), sdkModel(endpoint, name, window)]);
  return wrapLanguageModel({ model, middleware: boundedCalls });
}

/** Bounds the arguments of tool calls, which are JSON text, before the SDK parses and walks them. */
const boundedCalls: LanguageModelMiddleware = {
  specificationVersion: "v4",
  async wrapStream({ doStream }) {
    const { stream, ...rest } = await doStream();
    type Part = typeof stream extends ReadableStream<infer One> ? One : never;
    const bounded = new TransformStream<Part, Part>({
      transform(part, controller) {
        const fault = part.type === "tool-call" ? jsonFault(part.input) : undefined;
        controller.enqueue(
          fault !== undefined && part.type === "tool-call"
            ? { ...part, input: JSON.stringify(inputRefusal(fault)) }
            : part,
        );
      },
    });
    return { ...rest, stream: stream.pipeThrough(bounded) };
  },
};

async function sdkModel(endpoint: Endpoint, name: string, window: number | undefined) {
  const { kind, baseUrl: baseURL, providerId } = endpoint;
  const apiKey = endpoint.apiKey ?? "";
  const fetch = fetchDirectly;
  if (kind === "ollama") return ollamaModel(endpoint, name, window);
  if (kind === "anthropic") {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic({ baseURL, apiKey, fetch })(name);
  }
  if (kind === "openai") {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI({ baseURL, apiKey, fetch }).responses(name);
  }
  if (kind === "google") {
    const { createGoogle } = await import("@ai-sdk/google");
    return createGoogle({ baseURL, apiKey, fetch })(name);
  }
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const metadataExtractor = providerId === "openrouter" ? { metadataExtractor: costMetadata } : {};
  const key = apiKey ? { apiKey } : {};
  const marks = needsMarks(endpoint, name) ? { transformRequestBody: withCacheMarks } : {};
  return createOpenAICompatible({
    name: providerId,
    baseURL,
    fetch,
    ...key,
    includeUsage: true,
    ...metadataExtractor,
    ...marks,
  })(name);
}

/** `default` sends no thinking setting, for a model that refuses levels. */
export type ThinkingSetting = ModelRequest["thinkingLevel"] | "default";

/**
 * The SDK maps a level to what each model takes: a budget or an effort at Anthropic, an effort at OpenAI, a budget or a
 * level at Google. With `off`, an OpenAI-compatible server gets no setting, because many refuse unknown parameters.
 */
export function thinkingOptions(kind: ProviderKind, level: ThinkingSetting) {
  if (level === "default") return {};
  if (level === "off") return kind === "openai-compatible" ? {} : { reasoning: "none" as const };
  return { reasoning: level };
}

/** Further options by kind of provider: OpenAI must store nothing, Google must include its thoughts. */
export function providerOptions(kind: ProviderKind, level: ThinkingSetting): Record<string, Record<string, JSONValue>> {
  if (kind === "openai") return { openai: { store: false } };
  if (kind === "google" && level !== "off" && level !== "default")
    return { google: { thinkingConfig: { includeThoughts: true } } };
  return {};
}
