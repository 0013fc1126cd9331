/** The provider and model of the first set-up: found or asked for, and tried before anything is stored. */
import type { AnswerOf, RowOf } from "../../api/types.ts";
import { badUsage, isProblem, Problem } from "../../core/errors.ts";
import { pickModel, SCRIPTED } from "../model-choice.ts";
import { readSecret } from "../read-input.ts";
import type { Client } from "../server/client.ts";
import { ask, askHidden, askUntil, choose, confirm, hasPerson } from "../terminal/ask.ts";
import { formatCount } from "../terminal/table.ts";
import type { InitFlags } from "./init.ts";

type ProviderView = RowOf<typeof PATH>;
type TestView = AnswerOf<"POST", `${typeof PATH}/${string}/test`>;
type Say = (text: string) => void;

const PATH = "/v1/settings/providers";
const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}` as const;
/** Servers on this machine that are tried without being named. */
const LOCAL = ["ollama", "lmstudio"];
/** Servers that users run themselves: these may need no key, and their address may change. */
const KEYLESS = /^(ollama|lmstudio|vllm|custom-.*)$/;
/** How many models of a long list are shown. */
const MODELS_SHOWN = 12;

/**
 * Sets the instance's default model. @returns the model. If none was chosen, it is the scripted one, which is not
 * stored.
 */
export async function setUpModel(client: Client, flags: InitFlags, say: Say): Promise<string> {
  const { items } = await client.call("GET", `${PATH}?limit=200`);
  const id = flags.provider ?? flags.model?.split("/")[0] ?? (await chooseProvider(client, items, flags));
  if (id === "demo" || id === undefined) {
    say(`Model       ${SCRIPTED}, a fixed transcript and no AI. Later: skep init, or skep providers set`);
    return SCRIPTED;
  }
  const provider = items.find((one) => one.id === id);
  if (!provider && !id.startsWith("custom-"))
    throw new Problem(
      404,
      "not_found",
      `There is no provider ${id}. There are: ${items.map((one) => one.id).join(", ")}, and custom-NAME.`,
    );
  const { name, configured, base_url } = provider ?? { name: id, configured: false, base_url: null };
  const { models, address, key } = await connectTo(client, { id, name, configured, base_url }, flags);
  say(`Provider    ${name} answers, ${formatCount(models.length, "model")}`);
  const model = flags.model ?? (await chooseModel(models, id));
  const body = { ...(address && { base_url: address }), ...(key && { api_key: key }), default: model };
  await client.call("PUT", pathOf(id), body);
  say(`Model       ${model}`);
  await sayWindow(client, model, say);
  return model;
}

/** Says which context window the user's own server really serves. A model that is not loaded is loaded to find out. */
async function sayWindow(client: Client, model: string, say: Say): Promise<void> {
  if (!KEYLESS.test(model.split("/")[0] ?? "")) return;
  const { context_window, advice } = await client.call("POST", "/v1/settings/models/window", { model });
  if (advice !== null) say(`Window      ${advice.replace(/^served window /, "")}`);
  else if (context_window !== null) say(`Window      ${context_window.toLocaleString("en-US")} tokens`);
}

/** Chooses a provider. With nobody to ask, it takes the first one that already answers. */
async function chooseProvider(
  client: Client,
  items: readonly ProviderView[],
  { yes }: InitFlags,
): Promise<string | undefined> {
  const candidates = items.filter(({ id, configured }) => id !== "demo" && (configured || LOCAL.includes(id)));
  const trials = await Promise.all(candidates.map(async (one) => ({ one, found: await tryOut(client, one.id, {}) })));
  const answering = trials.filter(({ found }) => found.ok && found.models.length > 0).map(({ one }) => one);
  if (yes || !hasPerson()) {
    if (answering[0]) return answering[0].id;
    if (yes) return undefined;
    throw badUsage(
      "No model answers, and there is nobody to ask. Name a provider: --provider anthropic --key-env ANTHROPIC_API_KEY. Or without AI: --provider demo",
    );
  }
  const others = items.filter(
    ({ id }) => id !== "demo" && !LOCAL.includes(id) && id !== "vllm" && !answering.some((one) => one.id === id),
  );
  console.error("Which models should agents use?");
  return choose("Provider", [
    ...answering.map(({ id, name }) => ({ label: `${name}, which answers already`, value: id })),
    ...others.map(({ id, name }) => ({ label: name, value: id })),
    { label: "a server of your own that speaks OpenAI's protocol", value: "custom-own" },
    { label: "none yet: demo/scripted plays a fixed transcript", value: "demo" },
  ]);
}

/** Tries a connection. A wrong key or address that the server refuses with 422 counts as a failed try. */
async function tryOut(client: Client, id: string, body: { api_key?: string; base_url?: string }): Promise<Tried> {
  try {
    return await client.call("POST", `${pathOf(id)}/test`, body);
  } catch (error) {
    if (!isProblem(error) || error.status !== 422) throw error;
    const isKey = error.extras.errors?.some(({ pointer }) => pointer === "/api_key") ?? false;
    return { ok: false, error: error.detail, key_refused: isKey, models: [] };
  }
}

type Tried = Pick<TestView, "ok" | "error" | "key_refused" | "models">;

interface Connection {
  models: TestView["models"];
  /** A new address that is not stored yet, and below it a new key. */
  address?: string | undefined;
  key?: string | undefined;
}

/** Tries the connection until it answers, and asks again for the key or address that was wrong. Stores nothing. */
async function connectTo(
  client: Client,
  { id, name, configured, base_url }: Pick<ProviderView, "id" | "name" | "configured" | "base_url">,
  flags: InitFlags,
): Promise<Connection> {
  const isOwn = KEYLESS.test(id);
  const wrong = flags.baseUrl === undefined ? undefined : wrongAddress(flags.baseUrl);
  if (wrong) throw badUsage(`--base-url: ${wrong}`);
  let address = flags.baseUrl ?? (id.startsWith("custom-") && !configured ? await askAddress() : undefined);
  const wantsKey = flags.keyEnv !== undefined || flags.key === true || (!configured && !isOwn);
  let key = wantsKey ? await askKey(name, flags) : undefined;
  for (;;) {
    const found = await tryOut(client, id, { ...(address && { base_url: address }), ...(key && { api_key: key }) });
    if (found.ok) return { models: found.models, address, key };
    const said = found.key_refused && key === undefined ? `${name} wants a key` : (found.error ?? "It does not answer");
    const reason = said.replace(/\.?$/, ".");
    if (flags.yes || !hasPerson()) throw new Problem(422, "provider_refused", `${reason} Nothing was stored.`);
    console.error(reason);
    if (found.key_refused) key = await askKey(name, {});
    else if (isOwn) address = await askAddress(address ?? base_url ?? undefined);
    else if (!(await confirm("Try again?", true))) throw new Problem(400, "stopped", "Stopped; nothing was stored.");
  }
}

async function askKey(name: string, { keyEnv }: Pick<InitFlags, "keyEnv">): Promise<string> {
  const what = `key of ${name}`;
  if (keyEnv !== undefined || !hasPerson()) {
    const key = await readSecret(what, keyEnv === undefined ? {} : { env: keyEnv });
    const wrong = wrongKey(key);
    if (wrong) throw badUsage(wrong);
    return key;
  }
  return askUntil(async () => (await askHidden(what)).trim(), wrongKey);
}

function wrongKey(key: string): string | undefined {
  if (key === "") return "The key is empty. Paste it, or stop with Ctrl-C.";
  if (/^[!-~]+$/.test(key)) return undefined;
  return "A key is one word of letters, digits and signs, without spaces. Copy it again.";
}

/** The suggested address of a user's own server. */
const USUAL_ADDRESS = "http://127.0.0.1:8080/v1";

async function askAddress(preferred = USUAL_ADDRESS): Promise<string> {
  if (!hasPerson()) throw badUsage("A server of your own needs its address: --base-url URL.");
  return askUntil(() => ask("address of the server", preferred), wrongAddress);
}

function wrongAddress(address: string): string | undefined {
  if (/^https?:\/\/[^/\s]\S*$/i.test(address) && URL.canParse(address)) return undefined;
  const guess = `http://${address}`;
  const hint = /^[\w.-]+(:\d+)?(\/\S*)?$/.test(address) ? `Is it ${guess}?` : `For example: ${USUAL_ADDRESS}`;
  return `An address begins with http:// or https:// and has no spaces. ${hint}`;
}

async function chooseModel(models: readonly { id: string; tools: boolean }[], provider: string): Promise<string> {
  const best = pickModel(models);
  if (best === undefined) {
    const none = `${provider} lists no model that agents can use.`;
    if (!hasPerson()) throw new Problem(422, "no_model", `${none} Name one with --model.`);
    console.error(`${none} Which one does it have?`);
    const given = await askUntil(
      () => ask("name of the model"),
      (name) => (/^\S+$/.test(name) ? undefined : "A name of a model is one word."),
    );
    return given.startsWith(`${provider}/`) ? given : `${provider}/${given}`;
  }
  if (!hasPerson()) return best;
  const shown = [best, ...models.map(({ id }) => id).filter((id) => id !== best)].slice(0, MODELS_SHOWN);
  console.error(
    `Which model? ${models.length > shown.length ? `These are the first of ${models.length}; you can also give a name.` : ""}`,
  );
  const options = [...shown, ...models.map(({ id }) => id).filter((id) => !shown.includes(id))];
  return choose(
    "Model",
    options.map((id) => ({ label: id, value: id })),
    0,
    shown.length,
  );
}
