/**
 * Asks a provider for its models, which also tells whether address and key are right. It never throws, never shows the
 * key, is bounded in time and size, and follows no redirect. Ollama is asked by its own API, which reports context
 * sizes.
 */

import type { Clock } from "../../core/clock.ts";
import { membersOf } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { readBounded } from "../../core/read-bounded.ts";
import { type Endpoint, fetchDirectly, ollamaRoot, sizeOf } from "./endpoint.ts";
import { createScrubber } from "./scrubber.ts";

interface LiveModel {
  /** The model's name at the provider, without the provider's id. */
  id: string;
  name: string;
  /** Tokens that the server serves; null when it does not tell. */
  context_window: number | null;
  /** The largest window that the model supports, if the server tells both. */
  max_context_window?: number | null;
  /** Null where the provider does not tell, as is `reasoning`. */
  tools: boolean | null;
  reasoning: boolean | null;
  images?: boolean | null;
}

interface ProviderTest {
  ok: boolean;
  models: LiveModel[];
  latency_ms: number;
  error?: string;
  /** Whether the provider refused the key. */
  keyRefused?: boolean;
}

interface ListModelsDeps {
  clock: Clock;
  /** Time limit of the whole test, milliseconds. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

const TIMEOUT_MS = 15_000;
const ANSWER_BYTES = 16 * 1024 * 1024;
/** Ollama is asked about each model separately. For models beyond this many, the maximum window stays unknown. */
const SHOWN_MODELS = 40;

type Json = Record<string, unknown>;
const asList = (value: unknown): Json[] => (Array.isArray(value) ? value.map(membersOf) : []);
const textOf = (...values: unknown[]): string => String(values.find((value) => typeof value === "string") ?? "");

/** An expected failure of a test; the message is for a person. */
class Refused extends Error {
  constructor(
    message: string,
    readonly key = false,
  ) {
    super(message);
  }
}
/**
 * Whether Skep itself answered: vLLM's default port is also Skep's. Skep names its realm when it refuses, and lists
 * models as `items` instead of `data`.
 */
const isSkep = (response: Response, answer?: Json): boolean =>
  /realm="skep"/.test(response.headers.get("www-authenticate") ?? "") ||
  (Array.isArray(answer?.["items"]) && answer["data"] === undefined);
const NO_MODEL_SERVER =
  "Skep itself answers there, no model server; start the model server on another port and set its base_url";

/** Google answers a wrong key with status 400 and this message. */
const BAD_KEY = /API_KEY_INVALID|API key not valid/;

type Ask = (url: string, body?: unknown) => Promise<Json>;

function headersFor({ kind, apiKey }: Endpoint): Record<string, string> {
  if (!apiKey) return {};
  if (kind === "anthropic") return { "x-api-key": apiKey, "anthropic-version": "2023-06-01" };
  if (kind === "google") return { "x-goog-api-key": apiKey };
  return { authorization: `Bearer ${apiKey}` };
}

function createAsk(endpoint: Endpoint, signal: AbortSignal): Ask {
  const headers = { accept: "application/json", ...headersFor(endpoint) };
  return async (url, body) => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetchDirectly(url, { headers, signal, ...sent });
    if (response.status >= 300 && response.status < 400)
      throw new Refused(
        `it answered with a redirect (${response.status}), which is not followed; correct the base URL`,
      );
    const tooMuch = () => new Refused("the answer is larger than 16 MiB");
    const text = (await readBounded(response.body, ANSWER_BYTES, tooMuch)).toString();
    if (isSkep(response)) throw new Refused(NO_MODEL_SERVER);
    if (response.status === 401 || response.status === 403 || (response.status === 400 && BAD_KEY.test(text)))
      throw new Refused(
        endpoint.apiKey
          ? `it refused the key (${response.status}); copy it again, whole, or make a new one`
          : `it asks for a key (${response.status}), and was given none`,
        true,
      );
    if (!response.ok) throw new Refused(`it answered ${response.status}: ${text.slice(0, 200)}`);
    let answer: Json;
    try {
      const value: unknown = readJson(text);
      answer = Array.isArray(value) ? { data: value } : membersOf(value);
    } catch {
      throw new Refused("its answer is not JSON; is the base URL right?");
    }
    if (isSkep(response, answer)) throw new Refused(NO_MODEL_SERVER);
    return answer;
  };
}

/** Reads a model from OpenAI's list, with the fields that OpenRouter, Together, vLLM, Groq and Mistral add. */
function compatibleModel(model: Json): LiveModel {
  const id = textOf(model["id"]);
  const parameters = Array.isArray(model["supported_parameters"]) ? model["supported_parameters"] : undefined;
  return {
    id,
    name: textOf(model["name"], model["display_name"], id),
    context_window: sizeOf(
      model["context_length"],
      model["context_window"],
      model["loaded_context_length"],
      model["max_model_len"],
      membersOf(model["meta"])["n_ctx"],
      model["max_input_tokens"],
    ),
    tools: parameters ? parameters.includes("tools") : null,
    reasoning: parameters ? parameters.includes("reasoning") : null,
    ...limitsOf(model),
  };
}

/** Reads the further fields of LM Studio's own list and of OpenRouter's. */
function limitsOf(model: Json): Partial<LiveModel> {
  const most = sizeOf(model["max_context_length"]);
  const inputs = membersOf(model["architecture"])["input_modalities"];
  const images = model["type"] === "vlm" || (Array.isArray(inputs) ? inputs.includes("image") : undefined);
  return {
    ...(most === null ? {} : { max_context_window: most }),
    ...(images === undefined || (images === false && !Array.isArray(inputs)) ? {} : { images }),
  };
}

/**
 * Reads LM Studio's own list, which tells which models are loaded and their windows. Its compatible list tells neither.
 */
async function lmStudioModels(base: string, ask: Ask): Promise<LiveModel[] | undefined> {
  const answer = await ask(`${base.replace(/\/v1$/, "")}/api/v0/models`).catch((error: unknown) => {
    if (error instanceof Refused && error.key) throw error;
    return undefined;
  });
  if (answer === undefined || !Array.isArray(answer["data"])) return undefined;
  return asList(answer["data"])
    .filter(({ type }) => type !== "embeddings")
    .map(compatibleModel);
}

/** Adds the window of one slot, which llama.cpp reports in its properties. */
async function withProps(base: string, ask: Ask, models: LiveModel[]): Promise<LiveModel[]> {
  if (models.every(({ context_window }) => context_window !== null)) return models;
  const props = await ask(`${base.replace(/\/v1$/, "")}/props`).catch((): Json => ({}));
  const served = sizeOf(membersOf(props["default_generation_settings"])["n_ctx"]);
  const sees = membersOf(props["modalities"])["vision"];
  return models.map((model) => ({
    ...model,
    context_window: model.context_window ?? served,
    ...(typeof sees === "boolean" ? { images: sees } : {}),
  }));
}

async function googleModels(base: string, ask: Ask): Promise<LiveModel[]> {
  const { models } = await ask(`${base}/models?pageSize=1000`);
  return asList(models)
    .filter((model) => {
      const methods = model["supportedGenerationMethods"];
      return !Array.isArray(methods) || methods.includes("generateContent");
    })
    .map((model) => {
      const id = textOf(model["name"]).replace(/^models\//, "");
      return {
        id,
        name: textOf(model["displayName"], id),
        context_window: sizeOf(model["inputTokenLimit"]),
        tools: null,
        reasoning: typeof model["thinking"] === "boolean" ? model["thinking"] : null,
      };
    });
}

async function ollamaModels(base: string, ask: Ask): Promise<LiveModel[]> {
  const root = ollamaRoot(base);
  const { models } = await ask(`${root}/api/tags`);
  const running = asList((await ask(`${root}/api/ps`).catch((): Json => ({})))["models"]);
  return Promise.all(
    asList(models).map(async (model, at) => {
      const id = textOf(model["name"], model["model"]);
      const shown: Json = at < SHOWN_MODELS ? await ask(`${root}/api/show`, { model: id }).catch(() => ({})) : {};
      const known = Object.entries(membersOf(shown["model_info"])).find(([key]) => key.endsWith(".context_length"));
      const capabilities = Array.isArray(shown["capabilities"]) ? shown["capabilities"] : undefined;
      return {
        id,
        name: id,
        // The window is only known once the model is loaded.
        context_window: sizeOf(running.find(({ name, model }) => name === id || model === id)?.["context_length"]),
        max_context_window: sizeOf(known?.[1]),
        tools: capabilities ? capabilities.includes("tools") : null,
        reasoning: capabilities ? capabilities.includes("thinking") : null,
        images: capabilities ? capabilities.includes("vision") : null,
      };
    }),
  );
}

async function modelsOf(endpoint: Endpoint, ask: Ask): Promise<LiveModel[]> {
  const { kind, baseUrl, providerId } = endpoint;
  if (kind === "google") return googleModels(baseUrl, ask);
  if (kind === "ollama") return ollamaModels(baseUrl, ask);
  if (providerId === "lmstudio") {
    const own = await lmStudioModels(baseUrl, ask);
    if (own) return own;
  }
  // OpenRouter lists its models to anybody; only this request tells whether the key is valid.
  if (providerId === "openrouter" && endpoint.apiKey) await ask(`${baseUrl}/key`);
  const { data } = await ask(`${baseUrl}/models${kind === "anthropic" ? "?limit=1000" : ""}`);
  const models = asList(data).map(compatibleModel);
  const isOwn = providerId.startsWith("custom-") && kind === "openai-compatible";
  return isOwn ? withProps(baseUrl, ask, models) : models;
}

/** The provider's models, sorted by id. `latency_ms` covers the whole test. */
export async function listModels(endpoint: Endpoint, deps: ListModelsDeps): Promise<ProviderTest> {
  const { clock, timeoutMs = TIMEOUT_MS } = deps;
  const started = clock.monotonic();
  const measureLatency = () => Math.round(clock.monotonic() - started);
  if (endpoint.kind === "scripted") {
    const scripted = {
      id: "scripted",
      name: "Scripted transcript",
      context_window: null,
      tools: true,
      reasoning: false,
    };
    return { ok: true, models: [scripted], latency_ms: 0 };
  }
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = deps.signal ? AbortSignal.any([deps.signal, timeout]) : timeout;
  try {
    const models = (await modelsOf(endpoint, createAsk(endpoint, signal))).filter((model) => model.id !== "");
    models.sort((a, b) => (a.id < b.id ? -1 : 1));
    return { ok: true, models, latency_ms: measureLatency() };
  } catch (error) {
    const scrub = createScrubber(endpoint.apiKey);
    const { origin } = new URL(endpoint.baseUrl);
    const why = timeout.aborted
      ? `it did not answer within ${timeoutMs / 1000} seconds`
      : error instanceof Refused
        ? error.message
        : `no connection to ${origin}; check the address, and that the service there runs`;
    const keyRefused = error instanceof Refused && error.key;
    return {
      ok: false,
      models: [],
      latency_ms: measureLatency(),
      error: scrub(`${endpoint.providerId}: ${why}`),
      keyRefused,
    };
  }
}
