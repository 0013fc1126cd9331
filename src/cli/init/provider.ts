/** The provider and the model of a first set-up: found or asked for, tried before anything is stored. */
import { Problem } from "../../core/errors.ts";
import { preferred, SCRIPTED } from "../model-choice.ts";
import { readSecret } from "../read-input.ts";
import type { Client } from "../server/client.ts";
import { ask, choose, hasPerson } from "../terminal/ask.ts";
import type { InitFlags } from "./init.ts";

interface ProviderView {
  id: string;
  name: string;
  base_url: string | null;
  configured: boolean;
  env_var: string;
  docs_url: string;
}
interface TestView {
  ok: boolean;
  error: string | null;
  models: { id: string; tools: boolean }[];
}
type Say = (text: string) => void;

const PATH = "/v1/settings/providers";
const pathOf = (id: string): string => `${PATH}/${encodeURIComponent(id)}`;
/** Servers of this machine that are looked for without being named. */
const LOCAL = ["ollama", "lmstudio"];
/** These need no key. */
const KEYLESS = /^(ollama|lmstudio|vllm|custom-.*)$/;
const KEY_TRIES = 3;
/** Of a long list of models. */
const MODELS_SHOWN = 12;

/** Sets the instance's default model. @returns it; the scripted one, which is not stored, when no other was chosen. */
export async function setUpModel(client: Client, flags: InitFlags, say: Say): Promise<string> {
  const { items } = await client.call<{ items: ProviderView[] }>("GET", `${PATH}?limit=200`);
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
  const address = flags.baseUrl ?? (id.startsWith("custom-") && !provider ? await askAddress() : undefined);
  const tried = await withKey(
    client,
    { id, name: provider?.name ?? id, configured: provider?.configured ?? false },
    address,
    flags,
    say,
  );
  const model = flags.model ?? (await chooseModel(tried.models, id));
  const body = {
    ...(address ? { base_url: address } : {}),
    ...(tried.key ? { api_key: tried.key } : {}),
    default: model,
  };
  await client.call("PUT", pathOf(id), body);
  say(`Model       ${model}`);
  return model;
}

/** Takes a server that already answers when there is nobody to ask. */
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
    throw new Problem(
      422,
      "bad_usage",
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

interface Tried extends TestView {
  /** One that is not stored yet. */
  key?: string;
}

const tryOut = (client: Client, id: string, body: { api_key?: string; base_url?: string }): Promise<TestView> =>
  client.call<TestView>("POST", `${pathOf(id)}/test`, body);

/** Tries the connection with a key that is given, stored or asked for; asks again for one that is refused. */
async function withKey(
  client: Client,
  { id, name, configured }: Pick<ProviderView, "id" | "name" | "configured">,
  address: string | undefined,
  flags: InitFlags,
  say: Say,
): Promise<Tried> {
  const at = address === undefined ? {} : { base_url: address };
  // A server that is new to the instance has to be there before it can be tried.
  if (id.startsWith("custom-") && !configured && address) await client.call("PUT", pathOf(id), at);
  const wantsKey = flags.keyEnv !== undefined || flags.key === true || (!configured && !KEYLESS.test(id));
  for (let left = KEY_TRIES; ; left--) {
    const key = wantsKey ? await readSecret(`key of ${name}`, flags.keyEnv ? { env: flags.keyEnv } : {}) : undefined;
    const found = await tryOut(client, id, { ...at, ...(key ? { api_key: key } : {}) });
    if (found.ok) {
      say(`Provider    ${name} answers, ${found.models.length} models`);
      return { ...found, ...(key ? { key } : {}) };
    }
    const again = wantsKey && flags.keyEnv === undefined && hasPerson() && left > 1;
    if (!again)
      throw new Problem(422, "provider_refused", `${found.error ?? `${name} does not answer`}. Nothing was stored.`);
    console.error(`${found.error}. Try another key.`);
  }
}

async function askAddress(): Promise<string> {
  if (!hasPerson()) throw new Problem(422, "bad_usage", "A server of your own needs its address: --base-url URL.");
  return ask("address, e.g. http://127.0.0.1:8080/v1");
}

async function chooseModel(models: readonly { id: string; tools: boolean }[], provider: string): Promise<string> {
  const best = preferred(models);
  if (best === undefined)
    throw new Problem(422, "no_model", `${provider} lists no model that agents can use. Name one with --model.`);
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
