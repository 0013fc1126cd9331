/**
 * How the server reaches the code host: through the connection that an administrator stored here, with sealed secrets,
 * else through CODEHOST_… of the environment. Tokens stay in this process: git gets them through its environment,
 * containers never get them.
 */

import { readFileSync } from "node:fs";
import { Value } from "@sinclair/typebox/value";
import type { CodeHost, CodeHostAccess, CodeHostKind, HostAccount } from "../../adapter/codehost/code-host.ts";
import type { Config } from "../../core/config.ts";
import { codeOf, isProblem, messageOf, unavailable } from "../../core/errors.ts";
import { textIn } from "../../core/is-object.ts";
import type { Masking } from "../../core/masking.ts";
import { ownJson } from "../../core/own-json.ts";
import type { Sealer } from "../../core/sealing.ts";
import type { Caller } from "../../http/caller.ts";
import type { Core } from "../feature.ts";
import { type AppStatus, type Connection, ConnectionUpdate } from "./model.ts";

interface ConnectionDeps extends Pick<Core, "config" | "clock" | "sealer" | "masking"> {
  /** Named objects that are stored beside the instance's settings. */
  stored: { read(name: string): unknown; put(name: string, value: object, caller: Caller): void };
  open(access: CodeHostAccess, onToken: (token: string) => void): Promise<CodeHost>;
  /** `owner/name` of an address on that host; undefined for an address on another host. */
  repositoryName(access: Pick<CodeHostAccess, "kind" | "url">, address: string): string | undefined;
  /** The origin under which git finds the host's repositories. */
  gitOrigin(access: Pick<CodeHostAccess, "kind" | "url">): string;
}

export type CodeHostConnection = ReturnType<typeof createConnection>;

interface Secrets {
  private_key?: string | undefined;
  token?: string | undefined;
  webhook_secret?: string | undefined;
}
interface Known extends Secrets {
  source: Connection["source"];
  kind: CodeHostKind;
  url: string;
  app_id?: string | undefined;
  /** Why the App's key from the environment cannot be used. */
  problem?: { code: string; message: string } | undefined;
}
interface Stored {
  kind: CodeHostKind;
  url: string | null;
  app_id: string | null;
  sealed: string;
}

/** The stored value has this shape; after a reset it is an empty object. */
const isStored = (value: unknown): value is Stored => textIn(value, "sealed") !== undefined;

const NAME = "codehost";
const GITHUB = "https://api.github.com";
const SELF_MS = 300_000;
const STATUS_MS = 30_000;

export function createConnection(deps: ConnectionDeps) {
  const { config, clock, sealer, masking, stored } = deps;
  const mask = createMasks(masking);
  const maskToken = createTokenMasks(masking);
  const readStored = (): Stored | undefined => {
    const value = stored.read(NAME);
    return isStored(value) ? value : undefined;
  };
  let read: { text: string; known: Known } | undefined;
  const readKnown = (): Known => {
    const row = readStored();
    const text = row?.sealed ?? "";
    // Sealing uses a new nonce each time, so an equal sealed text means that nothing has changed.
    if (read?.text !== text) {
      read = { text, known: row ? fromStored(row, sealer) : fromEnvironment(config) };
      mask(read.known);
      opened = undefined;
    }
    return read!.known;
  };
  let opened: { host: Promise<CodeHost>; self?: { at: number; account: Promise<HostAccount> } } | undefined;
  let checked: { at: number; of: Known; status: Promise<Omit<AppStatus, "webhook">> } | undefined;

  const accessOf = ({ kind, url, app_id, private_key, token }: Known): CodeHostAccess | undefined => {
    if (kind === "github" && app_id && private_key) return { kind, url, app: { id: app_id, privateKey: private_key } };
    return token ? { kind, url, token } : undefined;
  };
  /** @throws Problem 503 `codehost_not_configured`. */
  async function openHost(): Promise<CodeHost> {
    const access = accessOf(readKnown());
    if (!access)
      throw unavailable(
        "codehost_not_configured",
        "No code host is connected. An administrator connects one: skep codehost connect, or CODEHOST_… in the environment.",
      );
    opened ??= { host: deps.open(access, maskToken) };
    return opened.host;
  }
  /** The account as which this server acts. The host is asked at most once in SELF_MS. */
  async function loadAccount(): Promise<HostAccount> {
    const theHost = await openHost();
    if (!opened) return theHost.self();
    if (!opened.self || clock.monotonic() - opened.self.at > SELF_MS) {
      const entry = { at: clock.monotonic(), account: theHost.self() };
      const owner = opened;
      owner.self = entry;
      entry.account.catch(() => {
        if (owner.self === entry) delete owner.self;
      });
    }
    return opened.self!.account;
  }
  async function check(now: Known): Promise<Omit<AppStatus, "webhook">> {
    const configured = accessOf(now) !== undefined;
    const base = { configured, connected: false, kind: now.kind, url: now.url, login: null, name: null };
    if (!configured)
      return {
        ...base,
        ...(now.source === "none" ? { kind: null, url: null } : {}),
        permissions: {},
        error: now.problem ?? null,
      };
    try {
      const { login, name, permissions } = await (await openHost()).self();
      return { ...base, connected: true, login, name, permissions, error: null };
    } catch (error) {
      const code = isProblem(error) ? error.code : "codehost_failed";
      return { ...base, permissions: {}, error: { code, message: messageOf(error) } };
    }
  }
  const get = (): Connection => {
    const { source, kind, url, app_id, private_key, token, webhook_secret } = readKnown();
    return {
      source,
      kind,
      url,
      app_id: app_id ?? null,
      has_private_key: private_key !== undefined,
      has_token: token !== undefined,
      has_webhook_secret: webhook_secret !== undefined,
    };
  };
  return {
    get,
    /** @param input is valid for the schema `ConnectionUpdate`. */
    update(input: ConnectionUpdate, caller: Caller): Connection {
      const before = readStored();
      const old = before ? secretsOf(before, sealer) : {};
      const secrets: Secrets = {};
      for (const name of ["private_key", "token", "webhook_secret"] as const) {
        const value = input[name] === undefined ? old[name] : (input[name] ?? undefined);
        if (value !== undefined) secrets[name] = value;
      }
      const row: Stored = {
        kind: input.kind ?? before?.kind ?? "github",
        url: input.url === undefined ? (before?.url ?? null) : (input.url?.replace(/(?<!\/)\/+$/, "") ?? null),
        app_id: input.app_id === undefined ? (before?.app_id ?? null) : input.app_id,
        sealed: sealer.seal(JSON.stringify(secrets)),
      };
      stored.put(NAME, row, caller);
      return get();
    },
    /** Forgets the stored connection, so that the environment counts again. */
    reset: (caller: Caller) => stored.put(NAME, {}, caller),
    kind: (): CodeHostKind => readKnown().kind,
    webhookSecret: (): string | undefined => readKnown().webhook_secret,
    openHost,
    loadAccount,
    /** The current state of the connection. The host is contacted at most once in STATUS_MS. */
    status(): Promise<Omit<AppStatus, "webhook">> {
      const now = readKnown();
      if (!checked || checked.of !== now || clock.monotonic() - checked.at > STATUS_MS)
        checked = { at: clock.monotonic(), of: now, status: check(now) };
      return checked.status;
    },
    /** `owner/name` when the address is on the connected host. */
    repositoryOf: (address: string | null): string | undefined =>
      address === null ? undefined : deps.repositoryName(readKnown(), address),
    /** The authorization header for git; undefined for addresses of other hosts, for ssh, and without credentials. */
    async authorizationFor(address: string, fresh: boolean): Promise<string | undefined> {
      const now = readKnown();
      if (!accessOf(now) || !address.startsWith(`${deps.gitOrigin(now)}/`)) return undefined;
      const name = deps.repositoryName(now, address);
      if (name === undefined) return undefined;
      const header = await (await openHost()).gitAuthorization(name, fresh).catch((error: unknown) => {
        // Our account cannot see the repository; it may still be public.
        if (isProblem(error) && error.code === "codehost_not_found") return undefined;
        throw error;
      });
      if (header === undefined) return undefined;
      maskToken(header.replace(/^Basic /, ""));
      return header;
    },
  };
}

const urlOf = (kind: CodeHostKind, url: string | null | undefined): string =>
  url ?? (kind === "github" ? GITHUB : "http://localhost:3000");

function secretsOf({ sealed }: Stored, sealer: Sealer): Secrets {
  const value: unknown = ownJson<unknown>(sealer.open(sealed));
  return Value.Check(ConnectionUpdate, value) ? (value as Secrets) : {};
}

const fromStored = (row: Stored, sealer: Sealer): Known => ({
  source: "settings",
  kind: row.kind,
  url: urlOf(row.kind, row.url),
  app_id: row.app_id ?? undefined,
  ...secretsOf(row, sealer),
});

function fromEnvironment(config: Config): Known {
  const { codehostType: kind, codehostAppKey: file, codehostAppId, codehostToken, codehostWebhookSecret } = config;
  const isSet = [file, codehostAppId, codehostToken, codehostWebhookSecret].some((one) => one !== undefined);
  return {
    source: isSet ? "environment" : "none",
    kind,
    url: urlOf(kind, config.codehostUrl),
    app_id: codehostAppId,
    ...(file === undefined ? {} : readKey(file)),
    token: codehostToken,
    webhook_secret: codehostWebhookSecret,
  };
}

function readKey(file: string): Pick<Known, "private_key" | "problem"> {
  try {
    return { private_key: readFileSync(file, "utf8") };
  } catch (error) {
    const message = `The file that CODEHOST_APP_KEY names cannot be read (${codeOf(error)}).`;
    return { problem: { code: "codehost_key_unreadable", message } };
  }
}

/** Masks the current secrets and stops masking the previous ones. */
function createMasks(masking: Masking): (secrets: Secrets) => void {
  let forget: (() => void)[] = [];
  return ({ private_key, token, webhook_secret }) => {
    for (const one of forget) one();
    forget = [
      ...(private_key ? [masking.add("CODEHOST_APP_KEY", private_key)] : []),
      ...(token ? [masking.add("CODEHOST_TOKEN", token)] : []),
      ...(webhook_secret ? [masking.add("CODEHOST_WEBHOOK_SECRET", webhook_secret)] : []),
    ];
  };
}

/** How many short-lived tokens are masked at the same time; each is valid for an hour. */
const TOKENS_KEPT = 200;

function createTokenMasks(masking: Masking): (token: string) => void {
  const kept = new Map<string, () => void>();
  return (token) => {
    if (kept.has(token)) return;
    kept.set(token, masking.add("CODEHOST_TOKEN", token));
    for (const [old, forget] of kept) {
      if (kept.size <= TOKENS_KEPT) break;
      forget();
      kept.delete(old);
    }
  };
}
