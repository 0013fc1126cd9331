/**
 * `skep login`, `logout`, `whoami`. A log-in is traded for an API key of 90 days, kept 0600 by server address: it needs
 * no renewal, so commands that run at the same time do not end one another, and it can be revoked by name.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import type { Command } from "commander";
import { readConfig } from "../core/config.ts";
import { isProblem, Problem } from "../core/errors.ts";
import { ask, askHidden } from "./ask.ts";
import { type Client, createClient, credentialsPath, findServer } from "./client.ts";

interface Flags {
  url?: string;
  data?: string;
  email?: string;
  token?: boolean;
  json?: boolean;
}

interface Kept {
  access_token: string;
  key_id?: string;
}

interface Me {
  email: string;
  display_name: string;
  role: string;
  session: { kind: string; scopes: string[] | null };
}

const KEY_DAYS = 90;

export function loginCommands(program: Command): void {
  const command = (name: string, about: string) =>
    program
      .command(name)
      .description(about)
      .option("--url <url>", "server to use [SKEP_URL]")
      .option("--data <dir>", "data folder [DATA]")
      .option("--json", "JSON instead of words");

  command("login", "log in to a server, here or elsewhere, and keep a key for it")
    .option("--email <address>")
    .option("--token", "keep this API key, read from standard input, instead of making one")
    .action(async (flags: Flags) => {
      const server = await find(flags);
      const kept = flags.token ? { access_token: await askHidden("API key") } : await traded(server.url, flags.email);
      const me = await createClient(server.url, kept.access_token).call<Me>("GET", "/v1/auth/me");
      if (me.session.kind !== "user") throw new Problem(401, "unauthorized", "The server does not know this key.");
      keep(server.url, kept);
      say(flags, { url: server.url, ...me }, `Logged in to ${server.url} as ${me.email} (${me.role}).`);
    });
  command("logout", "forget the key of a server, and revoke it there").action(async (flags: Flags) => {
    const server = await find(flags);
    const kept = all()[server.url];
    if (!kept) return say(flags, { url: server.url, logged_out: false }, `Not logged in to ${server.url}.`);
    if (kept.key_id) await revoked(createClient(server.url, kept.access_token), kept.key_id);
    keep(server.url, undefined);
    say(flags, { url: server.url, logged_out: true }, `Logged out of ${server.url}.`);
  });
  command("whoami", "who a server takes me for").action(async (flags: Flags) => {
    const server = await find(flags);
    const me = await server.call<Me>("GET", "/v1/auth/me");
    const held = me.session.scopes ? `, key held to ${me.session.scopes.join(", ")}` : "";
    say(flags, { url: server.url, ...me }, `${me.display_name} <${me.email}>, ${me.role}${held}, at ${server.url}`);
  });
}

const say = ({ json }: Flags, object: unknown, words: string): void =>
  console.log(json ? JSON.stringify(object) : words);
const find = ({ url, data }: Flags): Promise<Client> =>
  findServer({ url, data: readConfig(process.env, data === undefined ? {} : { data }).data });

/** Logs in, makes a key, and logs out again. */
async function traded(url: string, email: string | undefined): Promise<Kept> {
  const anonymous = createClient(url);
  const body = { email: email ?? (await ask("e-mail address")), password: await askHidden("password") };
  let login = await anonymous.call<{ access_token?: string; pending_token?: string }>("POST", "/v1/auth/login", body);
  if (login.pending_token) {
    const code = (await ask("code of the authenticator, or a recovery code")).trim();
    const given = /^\d{6}$/.test(code) ? { code } : { recovery_code: code };
    login = await anonymous.call("POST", "/v1/auth/login/2fa", { pending_token: login.pending_token, ...given });
  }
  const session = createClient(url, login.access_token);
  const expires_at = new Date(Date.now() + KEY_DAYS * 24 * 3_600_000).toISOString();
  const name = `skep login on ${hostname()}`;
  const made = await session.call<{ key: string; id: string }>("POST", "/v1/auth/api-keys", { name, expires_at });
  await session.call("POST", "/v1/auth/logout");
  return { access_token: made.key, key_id: made.id };
}

/** A key that is dead already is revoked enough; one that cannot be revoked now is kept, so that this can be tried again. */
async function revoked(client: Client, keyId: string): Promise<void> {
  try {
    await client.call("DELETE", `/v1/auth/api-keys/${keyId}`);
  } catch (error) {
    if (!isProblem(error) || (error.status !== 401 && error.status !== 404)) throw error;
  }
}

function all(): Record<string, Kept> {
  try {
    return JSON.parse(readFileSync(credentialsPath(), "utf8")) as Record<string, Kept>;
  } catch {
    return {};
  }
}

/** Written whole to a new file that takes the old one's place: never half, never readable by others. */
function keep(url: string, kept: Kept | undefined): void {
  const { [url]: _, ...others } = all();
  const path = credentialsPath();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(kept ? { ...others, [url]: kept } : others, null, 2)}\n`, { mode: 0o600 });
  chmodSync(next, 0o600);
  renameSync(next, path);
}
