/**
 * The window that a server of one's own really serves, in tokens. A model's maximum says little: Ollama, llama.cpp and
 * LM Studio load a model with a window of their own choice, often 4,096. Asked of:
 *
 * - Ollama: `/api/ps`, `context_length` of the loaded model; one that is not loaded is loaded by an empty
 *   `/api/generate` (https://docs.ollama.com/api/ps, https://docs.ollama.com/context-length). Versions before 0.10 do not say.
 * - LM Studio: `/api/v0/models`, `loaded_context_length` (https://lmstudio.ai/docs/developer/rest).
 * - vLLM: `/v1/models`, `max_model_len` (https://docs.vllm.ai/en/latest/serving/openai_compatible_server).
 * - llama.cpp: `/props`, `default_generation_settings.n_ctx`, of one slot
 *   (https://github.com/ggml-org/llama.cpp/tree/master/tools/server).
 */
import type { Clock } from "../../core/clock.ts";
import { isObject, membersOf } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { type Endpoint, fetchDirectly, ollamaRoot, sizeOf } from "./endpoint.ts";

export interface ServedWindow {
  /** Tokens; null: the server does not say. */
  tokens: number | null;
  /** Tokens to ask for in each request; undefined where a request cannot say. */
  ask?: number | undefined;
}

interface WindowQuestion {
  endpoint: Endpoint;
  /** The model's name at the provider. */
  name: string;
  /** Tokens that an administrator set; null: not set. */
  wanted: number | null;
  /** The most that the model can; null: unknown. */
  most: number | null;
  /** Whether a model that is not loaded may be loaded, which takes as long as it takes. */
  mayLoad: boolean;
  signal: AbortSignal;
}

/** What Ollama serves on cards below 24 GiB, and LM Studio before anybody chose. */
export const USUAL_WINDOW = 4_096;
/** Below this, instructions and tools leave an agent no room to work. */
export const SMALL_WINDOW = 16_384;

const PROBE_MS = 5_000;
/** An answer is taken for true this long, in ms; none at all for the shorter time. */
const KEPT_MS = 300_000;
const MISSED_KEPT_MS = 30_000;
const MODELS_KEPT = 1_000;

const least = (...sizes: (number | null)[]): number | null => {
  const known = sizes.filter((size) => size !== null);
  return known.length === 0 ? null : Math.min(...known);
};
const listIn = (value: unknown, name: string): Record<string, unknown>[] => {
  const list = membersOf(value)[name];
  return Array.isArray(list) ? list.filter(isObject) : [];
};

/** An answer, or undefined for anything that is none. */
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

/** What Ollama says of the model where it is loaded. */
async function loadedIn(question: WindowQuestion): Promise<Record<string, unknown> | undefined> {
  const { endpoint, name } = question;
  // Ollama takes names in any case, and says them as they were pulled.
  const names = [name, `${name}:latest`].map((one) => one.toLowerCase());
  const named = (one: unknown) => names.includes(String(one).toLowerCase());
  const answer = await ask(question, `${ollamaRoot(endpoint.baseUrl)}/api/ps`);
  return listIn(answer, "models").find((one) => named(one["model"]) || named(one["name"]));
}

/**
 * Part of a loaded model, its window among it, that does not fit the memory of the card, so that the processor computes it,
 * many times slower. Null: all of it fits, there is no card, or nobody says.
 */
export async function askBesideCard(question: WindowQuestion): Promise<number | null> {
  if (question.endpoint.kind !== "ollama") return null;
  const found = await loadedIn(question);
  const [whole, onCard] = [sizeOf(found?.["size"]), sizeOf(found?.["size_vram"])];
  return whole === null || onCard === null || onCard >= whole ? null : (whole - onCard) / whole;
}

async function ofOllama(question: WindowQuestion): Promise<ServedWindow> {
  const { endpoint, name, wanted, most, mayLoad } = question;
  const asked = least(wanted, wanted === null ? null : most);
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
  // A server that is too old to say may serve 2,048 tokens, and cuts what is longer without a word: only a window that is
  // asked for is known.
  if (isLoaded) tokens ??= least(USUAL_WINDOW, most)!;
  return typeof tokens === "number" ? { tokens, ask: tokens } : { tokens: null };
}

async function ofLmStudio(question: WindowQuestion): Promise<ServedWindow> {
  const root = question.endpoint.baseUrl.replace(/\/v1$/, "");
  const found = listIn(await ask(question, `${root}/api/v0/models`), "data").find(({ id }) => id === question.name);
  if (found === undefined) return { tokens: question.wanted };
  const loaded = sizeOf(found["loaded_context_length"]);
  if (loaded !== null) return { tokens: loaded };
  return { tokens: least(question.wanted ?? USUAL_WINDOW, sizeOf(found["max_context_length"])) };
}

/** vLLM, llama.cpp, and what else speaks OpenAI's protocol. */
async function ofCompatible(question: WindowQuestion): Promise<ServedWindow> {
  const { endpoint, name, wanted } = question;
  const listed = listIn(await ask(question, `${endpoint.baseUrl}/models`), "data").find(({ id }) => id === name);
  const said = sizeOf(listed?.["max_model_len"], membersOf(listed?.["meta"])["n_ctx"]);
  if (said !== null) return { tokens: least(said, wanted) };
  const root = endpoint.baseUrl.replace(/\/v1$/, "");
  const props = membersOf(await ask(question, `${root}/props`));
  const slot = sizeOf(membersOf(props["default_generation_settings"])["n_ctx"]);
  if (slot !== null) return { tokens: least(slot, wanted) };
  return { tokens: wanted ?? sizeOf(listed?.["context_length"], listed?.["context_window"]) };
}

/** Asks a server, and remembers what it said for some minutes. Never throws. */
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
    // What LM Studio says changes when it has loaded the model.
    const keptMs = window.tokens === null || providerId === "lmstudio" ? MISSED_KEPT_MS : KEPT_MS;
    known.set(key, { until: clock.monotonic() + keptMs, window });
    return window;
  };
}

/** What to do about a window that is too small, for a person. @param model provider/model. */
export function windowRemedy(kind: Endpoint["kind"], providerId: string, model: string): string {
  if (kind === "ollama") return `set: skep models set ${model} --window 32k`;
  if (providerId === "lmstudio") return "load the model with a larger context length in LM Studio";
  if (providerId === "vllm") return "start vLLM with a larger --max-model-len";
  return "start the server with a larger window, of llama.cpp: -c 32768";
}
