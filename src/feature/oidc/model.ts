/** Providers of single sign-on. */

import { type Static, Type as t } from "@sinclair/typebox";
import { SLUG } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull } from "../../core/schema.ts";
import { Role } from "../members/model.ts";

const Name = t.String({ minLength: 1, maxLength: LIMITS.nameCharacters });
const Words = (maxItems: number) => t.Array(t.String({ minLength: 1, maxLength: 256 }), { maxItems });
const Button = t.Object({
  label: t.Optional(t.String({ maxLength: 64 })),
  icon: t.Optional(t.String({ maxLength: 64, pattern: "^[a-z0-9-]*$" })),
  color: t.Optional(t.String({ pattern: "^#[0-9a-fA-F]{6}$" })),
});

const fields = {
  name: Name,
  issuer: t.String({
    maxLength: 2_000,
    description: "Issuer as the discovery document names it: an https address, or http on loopback.",
  }),
  client_id: Name,
  client_secret: orNull(t.String({ minLength: 1, maxLength: 4_096 }), {
    description: "Never part of an answer. A change of the issuer drops the secret unless it is sent along.",
  }),
  scopes: Words(20),
  auto_create: t.Boolean({
    description: "Create an account at the first sign-on of a verified address in `allowed_domains`.",
  }),
  allowed_domains: t.Array(t.String({ pattern: "^(\\*|[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*)$", maxLength: 253 }), {
    maxItems: 100,
    description:
      "Domains of addresses whose accounts may be linked or created; `*` is any domain. An empty list links known addresses of any domain.",
  }),
  role_claim: orNull(Name, {
    description: "Claim that holds the role, such as `groups`; a dot in the name reads a nested claim.",
  }),
  admin_values: Words(50),
  group_claim: t.String({
    minLength: 1,
    maxLength: LIMITS.nameCharacters,
    description:
      "Claim that holds the groups for `group_roles`, by default `groups`; a dot in the name reads a nested claim.",
  }),
  group_roles: t.Array(
    t.Object({
      group: t.String({ minLength: 1, maxLength: 256 }),
      project_id: t.String({ maxLength: 64 }),
      role: Role,
    }),
    {
      maxItems: 200,
      description:
        "Each sign-on adds the user to the projects of their groups and removes them from the projects of groups they left. Members added by hand stay unchanged.",
    },
  ),
  button: Button,
  enabled: t.Boolean(),
};

const { client_secret: _secret, ...answered } = fields;
export const OidcProvider = t.Object({
  slug: t.String(),
  id: t.String({ description: "Same value as `slug`." }),
  ...answered,
  client_secret_set: t.Boolean(),
  redirect_uri: orNull(t.String(), {
    description: "Redirect address to register at the provider; null until PUBLIC_URL is set.",
  }),
  created_at: t.String({ format: "date-time" }),
  updated_at: t.String({ format: "date-time" }),
});
export type OidcProvider = Static<typeof OidcProvider>;

/** The fields of a provider that anybody may see: enough for a log-in button. */
export const OidcButton = t.Object({ slug: t.String(), name: t.String(), button: Button });

export const OidcCreate = t.Object({
  slug: t.String({ pattern: SLUG.source }),
  ...t.Partial(t.Object(fields)).properties,
  name: fields.name,
  issuer: fields.issuer,
  client_id: fields.client_id,
});
export type OidcCreate = Static<typeof OidcCreate>;
export const OidcUpdate = t.Partial(t.Object(fields));
export type OidcUpdate = Static<typeof OidcUpdate>;

/** Settings from a form, which are tried without being stored. */
export const OidcTest = t.Object({
  slug: t.String({ pattern: SLUG.source, description: "Slug that becomes part of the redirect address." }),
  issuer: fields.issuer,
  client_id: fields.client_id,
  client_secret: t.Optional(
    orNull(t.String({ minLength: 1, maxLength: 4_096 }), {
      description: "Without it, the stored secret of this slug is tried if the issuer is the same.",
    }),
  ),
  scopes: t.Optional(fields.scopes),
});
export type OidcTest = Static<typeof OidcTest>;

const Verdict = oneOf("ok", "warn", "fail");
export const OidcTestResult = t.Object({
  verdict: Verdict,
  redirect_uri: orNull(t.String(), { description: "Redirect address to register at the provider." }),
  findings: t.Array(
    t.Object({
      check: t.String({ description: "Name of the check: `discovery`, `keys`, `redirect`, `secret` or `scopes`." }),
      verdict: Verdict,
      detail: t.String(),
      remedy: orNull(t.String()),
    }),
  ),
});

export const CallbackBody = t.Object({
  code: t.Optional(t.String({ maxLength: 4_096 })),
  state: t.String({ minLength: 1, maxLength: 256 }),
  iss: t.Optional(t.String({ maxLength: 2_000 })),
  error: t.Optional(t.String({ maxLength: 256 })),
  session: t.Optional(oneOf("bearer", "cookie")),
});
