/**
 * The file that `skep login` writes: a key for each server address, and which server was chosen last. Its mode is 0600.
 */

import { mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { badUsage } from "../../core/errors.ts";
import { ownJson } from "../../core/own-json.ts";
import { writePrivately } from "./server-file.ts";

export interface Credential {
  access_token: string;
  /** Id of the API key, to revoke it at log-out. */
  key_id?: string;
}

interface Kept {
  /** Address of the server that commands talk to by default. */
  current?: string;
  servers: Record<string, Credential>;
}

export const credentialsPath = (): string =>
  join(process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "skep", "credentials.json");

function readAll(): Kept {
  try {
    const kept = ownJson<Partial<Kept>>(readFileSync(credentialsPath(), "utf8"));
    return { ...kept, servers: kept.servers ?? {} };
  } catch {
    return { servers: {} };
  }
}

export const credentialFor = (url: string): Credential | undefined => readAll().servers[url];

/**
 * The value of SKEP_TOKEN, else the key that is stored for this server. @throws Problem 422 `bad_usage` for a token that
 * no request can carry.
 */
export function tokenFor(url: string): string | undefined {
  const given = process.env["SKEP_TOKEN"]?.trim();
  if (given && /[^\x21-\x7e]/.test(given))
    throw badUsage("SKEP_TOKEN is no key: it holds a space, a line end or a letter that keys do not have.");
  return given || credentialFor(url)?.access_token;
}

/** The server of the last `skep login`. */
export const currentServer = (): string | undefined => readAll().current;

/** Stores a credential and makes its server the current one. */
export function keepCredential(url: string, credential: Credential): void {
  write({ current: url, servers: { ...readAll().servers, [url]: credential } });
}

export function forgetCredential(url: string): void {
  const { current, servers } = readAll();
  const { [url]: _, ...others } = servers;
  write({ ...(current === undefined || current === url ? {} : { current }), servers: others });
}

function write(kept: Kept): void {
  const path = credentialsPath();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writePrivately(path, kept);
}
