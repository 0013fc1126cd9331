/** Secrets as the API shows them, and what their names may be. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { HOST_ENTRY } from "../../core/network.ts";
import { oneOf, orNull } from "../../core/schema.ts";

const SecretType = oneOf("api_key", "token", "ssh_key", "custom");

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

export const SecretEdge = t.Object(
  {
    hosts: t.Array(
      t.String({
        pattern: HOST_ENTRY,
        maxLength: 262,
        description: "A host, with or without a port; `*.example.org` covers its subdomains.",
      }),
      {
        minItems: 1,
        maxItems: 20,
        uniqueItems: true,
        description: "Hosts that get the value, over TLS: example.org (port 443), *.example.org, example.org:8443.",
      },
    ),
    header: t.String({
      pattern: "^[A-Za-z][A-Za-z0-9-]{0,63}$",
      description: "Name of the header, such as Authorization.",
    }),
    prefix: t.String({
      maxLength: 100,
      pattern: "^[\\x20-\\x7e]*$",
      description: "Text before the value in the header, such as `Bearer `.",
    }),
    methods: t.Optional(
      t.Array(oneOf(...METHODS), {
        minItems: 1,
        uniqueItems: true,
        description: "Methods of the requests that get the value; all if absent.",
      }),
    ),
    path: t.Optional(
      t.String({
        pattern: "^/[\\x21-\\x7e]*$",
        maxLength: 500,
        description: "Beginning of the paths whose requests get the value, from `/`.",
      }),
    ),
  },
  {
    title: "SecretEdge",
    additionalProperties: false,
    description:
      "The server's proxy adds the value to requests to these hosts, so that no sandbox ever holds it. This requires an agent whose network is an allow-list that contains the host.",
  },
);
export type SecretEdge = Static<typeof SecretEdge>;

export const Secret = t.Object({
  secret_id: t.String(),
  id: t.String({ description: "Same value as `secret_id`." }),
  name: t.String({ description: "Name of the secret and of its environment variable." }),
  description: t.String(),
  secret_type: SecretType,
  masked_preview: t.String(),
  warning: orNull(
    t.String({ description: "What to know about the value, for example that it is too short to be masked." }),
  ),
  edge: orNull(SecretEdge),
  granted_agents: t.Array(t.String()),
  created_at: t.String({ format: "date-time" }),
  updated_at: t.String({ format: "date-time" }),
  last_used_at: orNull(t.String({ format: "date-time", description: "When the value was last read." })),
  last_used_by: orNull(
    t.String({
      description:
        "Who last read the value: `agent:ID`, or a part of the server, such as `mcp:NAME` for a tool server.",
    }),
  ),
});
export type Secret = Static<typeof Secret>;

const Value = t.String({ minLength: 1, maxLength: LIMITS.secretValueBytes });
const Description = t.String({ maxLength: 2_000 });

export const SecretCreate = t.Object({
  name: t.String({ minLength: 1, maxLength: LIMITS.nameCharacters, pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }),
  description: t.Optional(orNull(Description)),
  secret_type: t.Optional(SecretType),
  value: Value,
  edge: t.Optional(orNull(SecretEdge)),
});
export type SecretCreate = Static<typeof SecretCreate>;

export const SecretUpdate = t.Object({
  description: t.Optional(orNull(Description)),
  secret_type: t.Optional(SecretType),
  value: t.Optional(Value),
  edge: t.Optional(orNull(SecretEdge)),
});
export type SecretUpdate = Static<typeof SecretUpdate>;

/** Variables that the sandbox sets or that change how programs load. No secret may have these names. */
const RESERVED = new Set([
  "PATH",
  "HOME",
  "USER",
  "SHELL",
  "IFS",
  "ENV",
  "BASH_ENV",
  "TMPDIR",
  "ENGINE_INTERNAL_TOKEN",
  "API_BASE_URL",
]);
const RESERVED_PREFIXES = ["LD_", "DYLD_", "SKEP_", "NODE_OPTIONS"];

export const isReservedName = (name: string): boolean =>
  RESERVED.has(name.toUpperCase()) || RESERVED_PREFIXES.some((prefix) => name.toUpperCase().startsWith(prefix));
