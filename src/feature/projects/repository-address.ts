/**
 * Which addresses of repositories are accepted, and how they are passed to git. Only https and ssh may reach the
 * internet; unencrypted transports reach only hosts that the operator lists, and paths only work where the operator
 * allows them. An address never contains credentials, because it is stored and shown.
 */

import { isAbsolute, normalize } from "node:path";
import { invalidField, type Problem } from "../../core/errors.ts";
import { keysOf } from "../../core/typed-keys.ts";

export interface RepositoryAddress {
  transport: "https" | "http" | "ssh" | "git" | "file";
  /** The address in the form that is stored, shown and given to git. */
  source: string;
  /** The host; absent for a path. */
  host?: { name: string; port: number };
}

export interface RepositoryRules {
  allowLocal: boolean;
  isListed(host: string): boolean;
  /** @returns the host in its canonical spelling. @throws Problem for a private one. */
  assertSpelling(host: string): string;
}

const PORTS = { https: 443, http: 80, ssh: 22, git: 9418 } as const;
const FORM = "Give an address such as https://host/path.git or git@host:path.git.";
const refuse = (message: string): Problem => invalidField("/repository", message);

/** @throws Problem 422 with the reason. */
export function parseRepository(text: string, rules: RepositoryRules): RepositoryAddress {
  if (/[\x00-\x20\x7f\\]/.test(text) || text.startsWith("-")) throw refuse(FORM);
  if (isAbsolute(text)) return localPath(text, rules);
  const scp = /^(?:([A-Za-z0-9_][A-Za-z0-9._-]*)@)([^:/@[\]]+):([^-/:][^:]*)$/.exec(text);
  if (scp && !text.includes("://")) {
    const [, user, host, path] = scp;
    return withHost({ transport: "ssh", user, host: host!, path: `/${path}`, relative: true }, rules);
  }
  if (!URL.canParse(text)) throw refuse(FORM);
  const url = new URL(text);
  const transport = url.protocol.slice(0, -1);
  if (transport === "file" && url.host === "") return localPath(decodeURIComponent(url.pathname), rules);
  const named = keysOf(PORTS).find((one) => one === transport);
  if (!named) throw refuse("Only https and ssh addresses can be cloned.");
  if (url.search || url.hash) throw refuse("A repository address has no query and no fragment.");
  if (url.password || (url.username && named !== "ssh"))
    throw refuse("Leave credentials out of the address: it is stored and shown.");
  if (url.username && !/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(url.username))
    throw refuse("This is not a usable user name.");
  if (url.pathname.length < 2) throw refuse("The address names no repository.");
  return withHost(
    { transport: named, user: url.username || undefined, host: url.hostname, port: url.port, path: url.pathname },
    rules,
  );
}

interface Parts {
  transport: keyof typeof PORTS;
  user?: string | undefined;
  host: string;
  port?: string;
  path: string;
  /** Whether the path is relative to the ssh user's home, as in `user@host:path`. */
  relative?: boolean;
}

function withHost({ transport, user, host, port, path, relative }: Parts, rules: RepositoryRules): RepositoryAddress {
  const name = rules.assertSpelling(host);
  if ((transport === "http" || transport === "git") && !rules.isListed(name))
    throw refuse(`${transport} is not encrypted: use https, or have an operator list the host in FETCH_ALLOW.`);
  const number = port ? Number(port) : PORTS[transport];
  const shown = name.includes(":") ? `[${name}]` : name;
  const at = `${user ? `${user}@` : ""}${shown}`;
  const source = relative
    ? `${at}:${path.slice(1)}`
    : `${transport}://${at}${number === PORTS[transport] ? "" : `:${number}`}${path}`;
  return { transport, source, host: { name, port: number } };
}

function localPath(path: string, { allowLocal }: RepositoryRules): RepositoryAddress {
  if (!allowLocal)
    throw refuse(
      "This server clones no paths of its machine: start it with ALLOW_LOCAL_REPOSITORIES=true to allow them.",
    );
  return { transport: "file", source: normalize(path) };
}
