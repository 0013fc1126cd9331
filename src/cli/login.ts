/**
 * `skep login`, `logout`, `whoami`. A log-in is exchanged for an API key of 90 days, stored by server address with mode
 * 0600. The key needs no renewal, so commands that run at the same time do not end each other's log-in, and it can be
 * revoked by name.
 */
import { hostname } from "node:os";
import type { Command } from "commander";
import { DAY_MS } from "../core/clock.ts";
import { isProblem, Problem } from "../core/errors.ts";
import { type Client, createClient } from "./server/client.ts";
import { type Credential, credentialFor, forgetCredential, keepCredential } from "./server/credentials.ts";
import { connect, type ServerFlags, withServer } from "./server/locate.ts";
import { ask, askHidden } from "./terminal/ask.ts";
import { codeOf } from "./two-factor.ts";

interface Flags extends ServerFlags {
  email?: string;
  token?: boolean;
}

const KEY_DAYS = 90;

export function loginCommands(program: Command): void {
  const addCommand = (name: string, about: string) => withServer(program.command(name)).description(about);

  addCommand("login", "log in to a server, and use that server from now on")
    .option("--email <address>", "e-mail address of the account (default: asked for)")
    .option("--token", "store an API key that you have, read from standard input, instead of creating one")
    .action(async (flags: Flags) => {
      const server = await connect(flags);
      const open = flags.token || flags.email ? undefined : await accountWithoutLogin(server.url);
      if (open)
        return say(
          flags,
          { url: server.url, ...open },
          `${server.url} asks for no credentials: you work there as ${open.display_name}, without a log-in.`,
        );
      const kept = flags.token
        ? { access_token: await askHidden("API key") }
        : await tradeForKey(server.url, flags.email);
      const me = await createClient(server.url, kept.access_token).call("GET", "/v1/auth/me");
      if (me.session.kind !== "user") throw new Problem(401, "unauthorized", "The server does not know this key.");
      keepCredential(server.url, kept);
      say(flags, { url: server.url, ...me }, `Logged in to ${server.url} as ${me.email} (${me.role}).`);
    });
  addCommand("logout", "log out: delete the stored key of a server, and revoke it there").action(
    async (flags: Flags) => {
      const server = await connect(flags);
      const kept = credentialFor(server.url);
      if (!kept) return say(flags, { url: server.url, logged_out: false }, `Not logged in to ${server.url}.`);
      if (kept.key_id) await revokeKey(createClient(server.url, kept.access_token), kept.key_id);
      forgetCredential(server.url);
      say(flags, { url: server.url, logged_out: true }, `Logged out of ${server.url}.`);
    },
  );
  addCommand("whoami", "show the account that you are logged in with").action(async (flags: Flags) => {
    const server = await connect(flags);
    const me = await server.call("GET", "/v1/auth/me");
    const held = me.session.scopes ? `, key limited to ${me.session.scopes.join(", ")}` : "";
    say(flags, { url: server.url, ...me }, `${me.display_name} <${me.email}>, ${me.role}${held}, at ${server.url}`);
  });
}

const say = ({ json }: Flags, object: unknown, words: string): void =>
  console.log(json ? JSON.stringify(object) : words);

/**
 * The account that the server gives to everybody without a log-in; undefined if it requires one.
 * @throws Problem when the server does not answer, so that nobody types a password in vain.
 */
async function accountWithoutLogin(url: string) {
  try {
    const me = await createClient(url).call("GET", "/v1/auth/me");
    return me.session.kind === "local" ? me : undefined;
  } catch (error) {
    if (isProblem(error) && error.status === 401) return undefined;
    throw error;
  }
}

/** Logs in, creates an API key, and logs out again. */
async function tradeForKey(url: string, email: string | undefined): Promise<Credential> {
  const anonymous = createClient(url);
  const body = { email: email ?? (await ask("e-mail address")), password: await askHidden("password") };
  const login = await anonymous.call("POST", "/v1/auth/login", body);
  const signedIn =
    "pending_token" in login
      ? await anonymous.call("POST", "/v1/auth/login/2fa", {
          pending_token: login.pending_token,
          ...codeOf(await ask("code of the authenticator, or a recovery code")),
        })
      : login;
  const session = createClient(url, signedIn.access_token);
  const expires_at = new Date(Date.now() + KEY_DAYS * DAY_MS).toISOString();
  const name = `skep login on ${hostname()}`;
  const made = await session.call("POST", "/v1/auth/api-keys", {
    name,
    kind: "login",
    expires_at,
  });
  await session.call("POST", "/v1/auth/logout");
  return { access_token: made.key ?? "", key_id: made.id };
}

/**
 * Revokes a key. A key that is already invalid counts as revoked. Other errors are thrown, so the key stays stored and
 * log-out can be repeated.
 */
async function revokeKey(client: Client, keyId: string): Promise<void> {
  try {
    await client.call("DELETE", `/v1/auth/api-keys/${keyId}`);
  } catch (error) {
    if (!isProblem(error) || (error.status !== 401 && error.status !== 404)) throw error;
  }
}
