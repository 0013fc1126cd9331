/**
 * Finds the window, in tokens, that a server of one's own actually serves. A model's maximum says little: Ollama,
 * llama.cpp and LM Studio load a model with a window of their own choice, often 4,096. The sources are:
 *
 * - Ollama: `/api/ps`, `context_length` of the loaded model. A model that is not loaded is loaded by an empty
 *   `/api/generate` (https://docs.ollama.com/api/ps, https://docs.ollama.com/context-length). Versions before 0.10 do
 *   not tell the window.
 * - LM Studio: `/api/v0/models`, `loaded_context_length` (https://lmstudio.ai/docs/developer/rest).
 * - vLLM: `/v1/models`, `max_model_len` (https://docs.vllm.ai/en/latest/serving/openai_compatible_server).
 * - llama.cpp: `/props`, `default_generation_settings.n_ctx`, the window of one slot
 *   (https://github.com/ggml-org/llama.cpp/tree/master/tools/server).
 */
import type { Clock } from "../../core/clock.ts";
import { isObject, membersOf } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { type Endpoint, fetchDirectly, ollamaRoot, sizeOf } from "./endpoint.ts";

export interface ServedWindow {
  /** Tokens; null when the server does not tell. */
  tokens: number | null;
  /** Tokens to ask for in each request; undefined when a request cannot ask. */
  ask?: number | undefined;
}

interface WindowQuestion {
  endpoint: Endpoint;
  /** The model's name at the provider. */
  name: string;
  /** Window in tokens that an administrator set; null when not set. */
  wanted: number | null;
  /** Largest window that the model supports; null when unknown. */
  most: number | null;
  /** Whether the model may be loaded to find out, however long that takes. */
  mayLoad: boolean;
  signal: AbortSignal;
}

/** The window that Ollama serves on cards below 24 GiB, and LM Studio unless somebody chose another. */
export const USUAL_WINDOW = 4_096;
/** With a smaller window, instructions and tools leave an agent no room to work. */
export const SMALL_WINDOW = 16_384;

const PROBE_MS = 5_000;
/** How long an answer is reused, ms; a missing answer is reused for the shorter time. */
const KEPT_MS = 300_000;
const MISSED_KEPT_MS = 30_000;
const MODELS_KEPT = 1_000;

const findLeast = (...sizes: (number | null)[]): number | null => {
  const known = sizes.filter((size) => size !== null);
  return known.length === 0 ? null : Math.min(...known);
};
const listIn = (value: unknown, name: string): Record<string, unknown>[] => {
  const list = membersOf(value)[name];
  return Array.isArray(list) ? list.filter(isObject) : [];
};

/** The server's JSON answer; undefined after any failure. */
async function ask({ endpoint, signal }: WindowQuestion, url: string, body?: unknown, ms = PROBE_MS): Promise<unknown> {
  const { apiKey } = endpoint;
  try {
    const response = await fetchDirectly(url, {
      headers: { accept: "application/json", ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(ms)]),
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    return response.status === 200 ? readJson(await response.text()) : undefined;
  } catch {
    return undefined;
  }
}

/** How long a model may take to load, ms. */
const LOAD_MS = 600_000;

/** Ollama's entry for the model; undefined when the model is not loaded. */
async function loadedIn(question: WindowQuestion): Promise<Record<string, unknown> | undefined> {
  const { endpoint, name } = question;
  // Ollama accepts names in any case, and lists them as they were pulled.
  const names = [name, `${name}:latest`].map((one) => one.toLowerCase());
  const isNamed = (one: unknown) => names.includes(String(one).toLowerCase());
  const answer = await ask(question, `${ollamaRoot(endpoint.baseUrl)}/api/ps`);
  return listIn(answer, "models").find((one) => isNamed(one["model"]) || isNamed(one["name"]));
}

/**
 * The share of a loaded model, including its window, that does not fit the card's memory. The processor computes that
 * share, many times slower.
 * Null when all of it fits, there is no card, or the server does not tell.
 */
export async function askBesideCard(question: WindowQuestion): Promise<number | null> {
  if (question.endpoint.kind !== "ollama") return null;
  const found = await loadedIn(question);
  const [whole, onCard] = [sizeOf(found?.["size"]), sizeOf(found?.["size_vram"])];
  return whole === null || onCard === null || onCard >= whole ? null : (whole - onCard) / whole;
}

async function ofOllama(question: WindowQuestion): Promise<ServedWindow> {
  const { endpoint, name, wanted, most, mayLoad } = question;
  const asked = findLeast(wanted, wanted === null ? null : most);
  if (asked !== null) return { tokens: asked, ask: asked };
  const root = ollamaRoot(endpoint.baseUrl);
  const findLoaded = async () => {
    const found = await loadedIn(question);
    return found === undefined ? undefined : sizeOf(found["context_length"]);
  };
  let tokens = await findLoaded();
  let isLoaded = tokens !== undefined;
  if (!isLoaded && mayLoad) {
    isLoaded = (await ask(question, `${root}/api/generate`, { model: name, stream: false }, LOAD_MS)) !== undefined;
    tokens = await findLoaded();
  }
  // A server that is too old to tell its window may serve 2,048 tokens, and silently cuts what is longer. So a window
  // is asked for, which is then known.
  if (isLoaded) tokens ??= findLeast(USUAL_WINDOW, most)!;
  return typeof tokens === "number" ? { tokens, ask: tokens } : { tokens: null };
}

async function ofLmStudio(question: WindowQuestion): Promise<ServedWindow> {
  const root = question.endpoint.baseUrl.replace(/\/v1$/, "");
  const found = listIn(await ask(question, `${root}/api/v0/models`), "data").find(({ id }) => id === question.name);
  if (found === undefined) return { tokens: question.wanted };
  const loaded = sizeOf(found["loaded_context_length"]);
  if (loaded !== null) return { tokens: loaded };
  return { tokens: findLeast(question.wanted ?? USUAL_WINDOW, sizeOf(found["max_context_length"])) };
}

/** vLLM, llama.cpp, and other servers that speak OpenAI's protocol. */
async function ofCompatible(question: WindowQuestion): Promise<ServedWindow> {
  const { endpoint, name, wanted } = question;
  const listed = listIn(await ask(question, `${endpoint.baseUrl}/models`), "data").find(({ id }) => id === name);
  const said = sizeOf(listed?.["max_model_len"], membersOf(listed?.["meta"])["n_ctx"]);
  if (said !== null) return { tokens: findLeast(said, wanted) };
  const root = endpoint.baseUrl.replace(/\/v1$/, "");
  const props = membersOf(await ask(question, `${root}/props`));
  const slot = sizeOf(membersOf(props["default_generation_settings"])["n_ctx"]);
  if (slot !== null) return { tokens: findLeast(slot, wanted) };
  return { tokens: wanted ?? sizeOf(listed?.["context_length"], listed?.["context_window"]) };
}

/** Asks a server for its window, and reuses the answer for some minutes. Never throws. */
export function createWindows(clock: Clock) {
  const known = new Map<string, { until: number; window: ServedWindow }>();
  return async (question: WindowQuestion): Promise<ServedWindow> => {
    const { endpoint, name, wanted, most } = question;
    const key = JSON.stringify([endpoint.providerId, endpoint.baseUrl, name, wanted, most]);
    const found = known.get(key);
    const isAnswer = found && (found.window.tokens !== null || !question.mayLoad);
    if (isAnswer && found.until > clock.monotonic()) return found.window;
    const { kind, providerId } = endpoint;
    const of = kind === "ollama" ? ofOllama : providerId === "lmstudio" ? ofLmStudio : ofCompatible;
    const window = await of(question);
    if (known.size >= MODELS_KEPT) known.clear();
    // LM Studio's answer changes once it has loaded the model.
    const keptMs = window.tokens === null || providerId === "lmstudio" ? MISSED_KEPT_MS : KEPT_MS;
    known.set(key, { until: clock.monotonic() + keptMs, window });
    return window;
  };
}

/** What a person can do about a window that is too small. @param model `provider/model`. */
export function windowRemedy(kind: Endpoint["kind"], providerId: string, model: string): string {
  if (kind === "ollama") return `set: skep models set ${model} --window 32k`;
  if (providerId === "lmstudio") return "load the model with a larger context length in LM Studio";
  if (providerId === "vllm") return "start vLLM with a larger --max-model-len";
  return "start the server with a larger window, of llama.cpp: -c 32768";
}
