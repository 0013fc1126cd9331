/**
 * Values of environment variables and headers. They are sealed at rest, masked in answers, and given only to their
 * server. A value may name a stored secret, which is looked up each time the server starts.
 */

import type { GivenClient } from "../../adapter/mcp/oauth.ts";
import { isLoopback } from "../../core/config.ts";
import { conflict, invalidField } from "../../core/errors.ts";
import { isMaskable, type Masking, maskedPreview } from "../../core/masking.ts";
import { ownJson } from "../../core/own-json.ts";
import type { Core } from "../feature.ts";
import type { OAuthClient } from "./model.ts";
import type { ServerRow } from "./store.ts";

type Values = Record<string, string>;

export type McpValues = ReturnType<typeof createMcpValues>;

interface McpValuesDeps extends Pick<Core, "sealer"> {
  masking: Pick<Masking, "add">;
  /** The value of a stored secret; undefined when it does not exist or cannot be opened. Each reading is audited. */
  secretOf(name: string, reader: string): string | undefined;
}

const REFERENCE = /\$\{secret:([A-Za-z_][A-Za-z0-9_]*)\}/g;
const isPlain = (value: string): boolean => value.replace(REFERENCE, "") === "" || value.trim() === "";
/** Whether only a scheme's word surrounds the secret, as in `Bearer ${secret:NAME}`: such words are not secret. */
const isWords = (value: string): boolean => /^[A-Za-z]{1,16}$/.test(value.replace(REFERENCE, "").trim());
const SECRET_NAME = /key|token|secret|password|passwd|auth|credential|cookie/i;

export function createMcpValues({ sealer, masking, secretOf }: McpValuesDeps) {
  const known = new Map<string, () => void>();
  const clientIn = (sealed: string | null): OAuthClient | null =>
    sealed === null ? null : ownJson<OAuthClient>(sealer.open(sealed));
  const shownOf = (value: string): string =>
    isPlain(value) || (value.includes(`\${secret:`) && isWords(value)) ? value : maskedPreview(value);
  const resolvedOf = (server: string, name: string, value: string): string =>
    value.replace(REFERENCE, (_, secret: string) => {
      const found = secretOf(secret, `mcp:${server}`);
      if (found !== undefined) return found;
      throw conflict(
        `${name} needs the secret ${secret}, which does not exist. Store it: skep secrets set ${secret}`,
        "secret_missing",
      );
    });
  const self = {
    seal: (values: Values): string => sealer.seal(JSON.stringify(values)),
    open: (sealed: string): Values => ownJson<Values>(sealer.open(sealed)),
    /** The values as people see them: names of secrets are readable, other values are masked. */
    present: (values: Values): Values =>
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shownOf(value)])),
    /** The values that were sent. A masked value that came back unchanged is replaced by the old value. */
    merge: (sent: Values, before: Values): Values =>
      Object.fromEntries(
        Object.entries(sent).map(([name, value]) => {
          const old = Object.hasOwn(before, name) ? before[name] : undefined;
          return [name, old !== undefined && value === shownOf(old) ? old : value];
        }),
      ),
    /** The values, with references replaced by the secrets. @throws Problem 409 when a secret does not exist. */
    resolve: (server: string, values: Values): Values =>
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, resolvedOf(server, name, value)])),
    /**
     * Seals a client that was registered by hand; null for none. An unchanged client keeps its sealed text, so that
     * comparisons see no change.
     * @throws Problem 422.
     */
    sealedClient(
      sent: OAuthClient | null,
      { id, sealed_oauth }: Pick<ServerRow, "id" | "sealed_oauth">,
    ): string | null {
      if (sent === null) return null;
      const before = clientIn(sealed_oauth);
      const issuer = URL.parse(sent.issuer);
      const isWeb = issuer?.protocol === "https:" || (issuer?.protocol === "http:" && isLoopback(issuer.hostname));
      if (!isWeb) throw invalidField("/oauth/issuer", "Must be an https address");
      const isKept = typeof before?.client_secret === "string" && sent.client_secret === shownOf(before.client_secret);
      const secret = isKept ? before?.client_secret : sent.client_secret;
      if (isKept && sent.issuer !== before?.issuer)
        throw invalidField("/oauth/client_secret", "Give it again: another authorization server would get it");
      const now: OAuthClient = { ...sent, client_secret: secret ?? null };
      if (secret) self.mask(id, { oauth_client_secret: secret });
      return JSON.stringify(now) === JSON.stringify(before) ? sealed_oauth : sealer.seal(JSON.stringify(now));
    },
    shownClient(sealed: string | null): OAuthClient | null {
      const client = clientIn(sealed);
      return client && { ...client, client_secret: client.client_secret ? shownOf(client.client_secret) : null };
    },
    /** The client's secret as it was given, or an empty text. */
    secretOf: (sealed: string | null): string => clientIn(sealed)?.client_secret ?? "",
    /** The client, with its secret in plain text. @throws Problem 409 when it names a secret that does not exist. */
    openClient(server: string, sealed: string | null): GivenClient | undefined {
      const client = clientIn(sealed);
      if (!client) return undefined;
      const { client_secret, ...rest } = client;
      return client_secret ? { ...rest, client_secret: resolvedOf(server, "client_secret", client_secret) } : rest;
    },
    /** From now on, masks values that look like secrets in everything that is stored or shown. */
    mask(server: string, values: Values): void {
      for (const [name, value] of Object.entries(values)) {
        if (isPlain(value) || !SECRET_NAME.test(name) || !isMaskable(value)) continue;
        const key = `${server}/${name}/${value}`;
        // Old values stay masked: a server that is being replaced may still print them.
        if (!known.has(key)) known.set(key, masking.add(`${server}/${name}`, value));
      }
    },
  };
  return self;
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_.-]{0,255}$/;
/** Variables that change which program runs or what is loaded into it. */
const REFUSED =
  /^(LD_|DYLD_|GCONV_|SKEP_)|^(PATH|HOME|SHELL|BASH_ENV|ENV|IFS|NODE_OPTIONS|PYTHONPATH|PYTHONSTARTUP|PERL5OPT|RUBYOPT|GIT_SSH_COMMAND)$/i;

/** @throws Problem 422 for a name that is not valid in an environment, or that a tool server may not set. */
export function assertEnv(env: Values): void {
  for (const [name, value] of Object.entries(env)) {
    if (!VARIABLE.test(name)) throw invalidField("/env", `${name.slice(0, 64)} is not the name of a variable`);
    if (REFUSED.test(name)) throw invalidField("/env", `${name} cannot be set: it decides what else is run`);
    if (value.includes("\0")) throw invalidField("/env", `${name} holds a NUL character`);
  }
}

const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/;
/** Headers that the connection or the protocol sets. */
const OWN_HEADERS =
  /^(host|connection|content-length|content-type|transfer-encoding|upgrade|te|trailer|accept|accept-encoding|mcp-.*|last-event-id)$/i;

/** @throws Problem 422. */
export function assertHeaders(headers: Values): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER.test(name)) throw invalidField("/headers", `${name.slice(0, 64)} is not the name of a header`);
    if (OWN_HEADERS.test(name)) throw invalidField("/headers", `${name} cannot be set: the protocol sets it`);
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw invalidField("/headers", `${name} holds characters that no header can`);
  }
}
