/** The providers that Skep knows by name: their protocol, default address, and the variable that holds their key. */

export type ProviderKind = "anthropic" | "openai" | "google" | "openai-compatible" | "ollama" | "scripted";

/** Kinds of servers that may be one's own: they need no key, and choose the window that they serve. */
export const OWN_KINDS: ReadonlySet<ProviderKind> = new Set(["openai-compatible", "ollama"]);

export interface ProviderEntry {
  id: string;
  name: string;
  kind: ProviderKind;
  /** Undefined when an administrator has to give it (`custom-*`) or there is none (`demo`). */
  baseUrl?: string;
  /** Name of the environment variable that holds a key; empty when the provider takes none. */
  envVar: string;
  docsUrl: string;
  /**
   * The server runs on the operator's own machines: it needs no key, costs nothing per token, and may take minutes to
   * load a model.
   */
  local: boolean;
  /** Name of the provider in the price table. */
  priceId?: string;
}

/** The usual name of the variable with a provider's key: ID_API_KEY. */
const keyOf = (id: string): string => `${id.toUpperCase()}_API_KEY`;

const createHostedEntry = (
  id: string,
  name: string,
  kind: ProviderKind,
  baseUrl: string,
  docsUrl: string,
  { envVar = keyOf(id), priceId = id }: Partial<Pick<ProviderEntry, "envVar" | "priceId">> = {},
): ProviderEntry => ({ id, name, kind, baseUrl, envVar, docsUrl, local: false, priceId });

const createLocalEntry = (
  id: string,
  name: string,
  kind: ProviderKind,
  baseUrl: string,
  docsUrl: string,
): ProviderEntry => ({
  id,
  name,
  kind,
  baseUrl,
  envVar: keyOf(id),
  docsUrl,
  local: true,
});

const OAC = "openai-compatible";

export const PROVIDERS: readonly ProviderEntry[] = [
  createHostedEntry(
    "anthropic",
    "Anthropic",
    "anthropic",
    "https://api.anthropic.com/v1",
    "https://docs.anthropic.com",
  ),
  createHostedEntry("openai", "OpenAI", "openai", "https://api.openai.com/v1", "https://platform.openai.com/docs"),
  createHostedEntry(
    "google",
    "Google Gemini",
    "google",
    "https://generativelanguage.googleapis.com/v1beta",
    "https://ai.google.dev/gemini-api/docs",
    { envVar: "GOOGLE_GENERATIVE_AI_API_KEY" },
  ),
  createHostedEntry("openrouter", "OpenRouter", OAC, "https://openrouter.ai/api/v1", "https://openrouter.ai/docs"),
  createHostedEntry("groq", "Groq", OAC, "https://api.groq.com/openai/v1", "https://console.groq.com/docs"),
  createHostedEntry("mistral", "Mistral", OAC, "https://api.mistral.ai/v1", "https://docs.mistral.ai"),
  createHostedEntry("xai", "xAI", OAC, "https://api.x.ai/v1", "https://docs.x.ai", { priceId: "x-ai" }),
  createHostedEntry("deepseek", "DeepSeek", OAC, "https://api.deepseek.com/v1", "https://api-docs.deepseek.com"),
  createHostedEntry("together", "Together AI", OAC, "https://api.together.xyz/v1", "https://docs.together.ai"),
  createHostedEntry(
    "fireworks",
    "Fireworks AI",
    OAC,
    "https://api.fireworks.ai/inference/v1",
    "https://docs.fireworks.ai",
  ),
  createLocalEntry("ollama", "Ollama", "ollama", "http://127.0.0.1:11434/v1", "https://docs.ollama.com"),
  createLocalEntry("lmstudio", "LM Studio", OAC, "http://127.0.0.1:1234/v1", "https://lmstudio.ai/docs"),
  createLocalEntry("vllm", "vLLM", OAC, "http://127.0.0.1:8000/v1", "https://docs.vllm.ai"),
  { id: "demo", name: "Demo (scripted)", kind: "scripted", envVar: "", docsUrl: "", local: true },
];

/**
 * The provider with that id. A `custom-*` provider is an OpenAI-compatible server whose address an administrator gives.
 */
export function providerEntry(id: string): ProviderEntry | undefined {
  const known = PROVIDERS.find((entry) => entry.id === id);
  if (known || !/^custom-[a-z0-9][a-z0-9-]{0,56}$/.test(id)) return known;
  return { id, name: id, kind: OAC, envVar: "", docsUrl: "", local: false };
}

/** Splits `provider/model`; the model's own name may contain slashes. Undefined when either half is missing. */
export function splitModel(model: string): { provider: string; name: string } | undefined {
  const slash = model.indexOf("/");
  if (slash <= 0 || slash === model.length - 1) return undefined;
  return { provider: model.slice(0, slash), name: model.slice(slash + 1) };
}

/**
 * The base address to call, without a trailing slash. An address without a path, as `http://host:11434`, gets the path
 * of the provider's default (`/v1`, `/v1beta`). Undefined when it is not an http(s) address.
 */
export function normalizeBaseUrl(entry: ProviderEntry, given?: string): string | undefined {
  const text = given?.trim() || entry.baseUrl;
  if (!text || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  if (url.pathname === "/") url.pathname = entry.baseUrl ? new URL(entry.baseUrl).pathname : "/v1";
  return url.toString().replace(/(?<!\/)\/+$/, "");
}
