/** `skep providers`: which models can be called, and giving keys and addresses. A key is read from standard input. */
import { type Command, Option } from "commander";
import { readConfig } from "../core/config.ts";
import { Problem } from "../core/errors.ts";
import { type Client, findServer } from "./client.ts";

interface Common {
  url?: string;
  data?: string;
  json?: boolean;
}

interface ProviderView {
  id: string;
  name: string;
  base_url: string | null;
  enabled: boolean;
  configured: boolean;
  key_source: string;
  masked_key: string | null;
  default: string | null;
  env_var: string;
  models: unknown[];
}

interface TestView {
  ok: boolean;
  base_url: string | null;
  duration_ms: number;
  error: string | null;
  models: { id: string; context_window: number | null }[];
}

const common = (command: Command): Command =>
  command
    .option("--url <url>", "server to use [SKEP_URL]")
    .option("--data <dir>", "data folder [DATA]")
    .option("--json", "JSON instead of words");

const server = ({ url, data }: Common): Promise<Client> =>
  findServer({ url, data: readConfig(process.env, data === undefined ? {} : { data }).data });
const pathOf = (id: string): string => `/v1/settings/providers/${encodeURIComponent(id)}`;
/** Options stand before or after the name of the subcommand. */
const flagsOf = <T extends Common>(command: Command): T => command.optsWithGlobals<T>();

export function providersCommand(program: Command, exit: (code: number) => void): void {
  const providers = common(program.command("providers").description("list model providers, or configure one")).action(
    async (_flags: Common, command: Command) => list(flagsOf(command)),
  );
  common(providers.command("list").description("list model providers")).action(
    async (_flags: Common, command: Command) => list(flagsOf(command)),
  );
  common(providers.command("set").description("configure a provider; custom-NAME adds a server of your own"))
    .argument("<id>", "e.g. anthropic, ollama, custom-lab")
    .option("--key", "read a key from standard input")
    .option("--key-env <name>", "take the key from this environment variable")
    .option("--mine", "the key is your own: used first for what you start, and for nothing else")
    .option("--base-url <url>", "address of the server; another one drops the stored keys")
    .option("--default <model>", "model to use where none is named")
    .addOption(new Option("--enable", "switch it on").conflicts("disable"))
    .option("--disable", "switch it off")
    .action(async (id: string, _flags: Common, command: Command) => set(id, flagsOf(command)));
  common(providers.command("test").description("try the connection and list the models live; exit 1 when it fails"))
    .argument("<id>")
    .action(async (id: string, _flags: Common, command: Command) => exit(await test(id, flagsOf(command))));
  common(providers.command("remove").description("forget what was configured"))
    .argument("<id>")
    .option("--mine", "remove your own key")
    .action(async (id: string, _flags: Common, command: Command) => {
      const flags = flagsOf<Common & { mine?: boolean }>(command);
      const path = flags.mine ? `/v1/settings/user-providers/${encodeURIComponent(id)}` : pathOf(id);
      await (await server(flags)).call("DELETE", path);
      console.log(flags.json ? JSON.stringify({ id, removed: true }) : `${id}: forgotten`);
    });
}

const stateOf = (provider: ProviderView): string =>
  !provider.enabled ? "off" : provider.configured ? "ready" : "not configured";

async function list(flags: Common): Promise<void> {
  const { items } = await (await server(flags)).call<{ items: ProviderView[] }>(
    "GET",
    "/v1/settings/providers?limit=200",
  );
  if (flags.json) return console.log(JSON.stringify(items));
  for (const provider of items) {
    const key = provider.masked_key ? `${provider.masked_key} (${provider.key_source})` : `no key  ${provider.env_var}`;
    const chosen = provider.default ? `  default: ${provider.default}` : "";
    console.log(
      `${provider.id.padEnd(16)} ${stateOf(provider).padEnd(15)} ${String(provider.models.length).padStart(4)} models  ${key}${chosen}`,
    );
  }
}

interface SetFlags extends Common {
  key?: boolean;
  keyEnv?: string;
  mine?: boolean;
  baseUrl?: string;
  default?: string;
  enable?: boolean;
  disable?: boolean;
}

async function set(id: string, flags: SetFlags): Promise<void> {
  const key = await keyFrom(flags);
  const client = await server(flags);
  if (flags.mine) {
    if (key === undefined) throw new Problem(422, "bad_usage", "--mine needs the key: --key or --key-env NAME.");
    const mine = await client.call<{ masked_key: string }>(
      "PUT",
      `/v1/settings/user-providers/${encodeURIComponent(id)}`,
      { api_key: key },
    );
    return console.log(flags.json ? JSON.stringify(mine) : `${id}: your own key ${mine.masked_key}`);
  }
  const after = await client.call<ProviderView>("PUT", pathOf(id), {
    ...(key === undefined ? {} : { api_key: key }),
    ...(flags.baseUrl === undefined ? {} : { base_url: flags.baseUrl }),
    ...(flags.default === undefined ? {} : { default: flags.default }),
    ...(flags.enable || flags.disable ? { enabled: flags.enable === true } : {}),
  });
  console.log(flags.json ? JSON.stringify(after) : `${id}: ${stateOf(after)}, key ${after.masked_key ?? "none"}`);
}

/** Never from an argument: others can read those. */
async function keyFrom({ key, keyEnv }: SetFlags): Promise<string | undefined> {
  if (keyEnv !== undefined) {
    const value = process.env[keyEnv]?.trim();
    if (!value) throw new Problem(422, "bad_usage", `The variable ${keyEnv} is empty.`);
    return value;
  }
  if (!key) return undefined;
  if (process.stdin.isTTY) console.error("Paste the key, then Enter and Ctrl-D:");
  const value = (await Bun.stdin.text()).trim();
  if (value === "") throw new Problem(422, "bad_usage", "Standard input holds no key.");
  return value;
}

async function test(id: string, flags: Common): Promise<number> {
  const found = await (await server(flags)).call<TestView>("POST", `${pathOf(id)}/test`, {});
  if (flags.json) console.log(JSON.stringify(found));
  else if (!found.ok) console.error(`skep: ${found.error}`);
  else {
    console.log(`${id}: answers in ${found.duration_ms} ms, ${found.models.length} models`);
    for (const { id: model, context_window } of found.models)
      console.log(`  ${model}${context_window === null ? "" : `  ${context_window} tokens`}`);
  }
  return found.ok ? 0 : 1;
}
