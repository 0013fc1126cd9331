/**
 * Sign-on through a provider. A flow belongs to one browser (by a cookie of its own) and one provider. The first answer
 * uses up its state, whatever the result. Issuer and subject are linked to an account; a first sign-on is linked by
 * verified address only, or creates an account if the provider allows that.
 */

import { randomBytes } from "node:crypto";
import type { OidcClient, OidcPerson, OidcSettings } from "../../adapter/oidc.ts";
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { domainOf, isEmail, normalEmail } from "../../core/email.ts";
import { badRequest, forbidden, Problem, unauthorized } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { membersOf } from "../../core/is-object.ts";
import { LIMITS } from "../../core/limits.ts";
import { sameToken } from "../../http/authenticate.ts";
import { otherAdministrator } from "../../store/administrators.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import { identities, type Role, users } from "../../store/tables/accounts.ts";
import type { MembersOfGroups } from "../members/groups.ts";
import { newUserRow, type UserRow } from "../users/model.ts";
import type { OidcProviders, ProviderRow } from "./providers.ts";

interface Begun {
  url: string;
  state: string;
  /** Value of the cookie that binds the answer to this browser. */
  binding: string;
}

export interface Arrived {
  userId: string;
  oidc: { slug: string; idToken: string };
  returnTo: string | undefined;
}

export type SignOn = ReturnType<typeof createSignOn>;

interface Flow {
  slug: string;
  issuer: string;
  redirectUri: string;
  nonce: string;
  verifier: string;
  binding: string;
  returnTo: string | undefined;
  /** Monotonic ms. */
  until: number;
}

const MOST_FLOWS = 10_000;
/** A secret of 256 random bits, which also has the right length for a PKCE verifier. */
const newSecret = (): string => randomBytes(32).toString("base64url");

export function createSignOn({
  store,
  clock,
  audit,
  providers,
  client,
  endSessions,
  takeGroups,
}: {
  store: Store;
  clock: Clock;
  audit: Audit;
  providers: OidcProviders;
  client: OidcClient;
  endSessions(userId: string): void;
  /**
   * Makes the user a member of the projects that their groups give, and removes memberships from earlier groups. Joins
   * the surrounding transaction.
   */
  takeGroups: MembersOfGroups;
}) {
  const [people, links] = [store.rows(users), store.rows(identities)];
  const flows = createFlows(clock);
  const settingsOf = (row: ProviderRow): OidcSettings => ({
    issuer: row.issuer,
    clientId: row.client_id,
    clientSecret: providers.clientSecret(row),
  });

  const userOf = (id: string): UserRow | undefined => people.find({ id });

  /**
   * Finds the linked account, or the account with this address, which it links. Creates one if the provider allows
   * that. Joins the surrounding transaction.
   */
  function accountOf(provider: ProviderRow, person: OidcPerson): UserRow {
    const identity = links.find({ issuer: provider.issuer, subject: person.subject });
    const known = identity && userOf(identity.user_id);
    if (known) return known;
    const email = normalEmail(person.email ?? "");
    // An address that matches only after Unicode folding (full-width letters, for example) was verified for another
    // mailbox.
    const folded = email !== person.email?.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    if (!person.emailVerified || !isEmail(email) || folded)
      throw forbidden("The provider does not vouch for an e-mail address of yours.", "email_not_verified");
    const domains = provider.allowed_domains;
    const domainAllowed = domains.includes("*") || domains.includes(domainOf(email));
    const existing = people.find({ email });
    if (existing ? domains.length > 0 && !domainAllowed : !provider.auto_create || !domainAllowed)
      throw forbidden("There is no account for you here. Ask an administrator.", "account_unknown");
    const user = existing ?? createUser(email, person, provider);
    const link = {
      issuer: provider.issuer,
      subject: person.subject,
      user_id: user.id,
      created_at: toTimestamp(clock.now()),
    };
    links.insert(link);
    audit({ action: "identity.linked", actor: user.id, subject: user.id, data: { provider: provider.slug } });
    return user;
  }
  function createUser(email: string, person: OidcPerson, provider: ProviderRow): UserRow {
    const display_name = person.name?.replace(/[\x00-\x1f\x7f]/g, "").slice(0, LIMITS.nameCharacters) || undefined;
    const at = toTimestamp(clock.now());
    const row = newUserRow({ id: newId("user"), email, display_name, role: "user", password_hash: null, at });
    people.insert(row);
    audit({ action: "user.created", actor: row.id, subject: row.id, data: { provider: provider.slug } });
    return row;
  }
  /** Sets the user's role from the claim at each sign-on. The last administrator stays one. */
  function takeRole(user: UserRow, provider: ProviderRow, person: OidcPerson): void {
    if (provider.role_claim === null) return;
    const role: Role = valuesAt(person.claims, provider.role_claim).some((value) =>
      provider.admin_values.includes(value),
    )
      ? "admin"
      : "user";
    if (role === user.role || (role === "user" && otherAdministrator(store, user.id) === undefined)) return;
    people.update({ role, updated_at: toTimestamp(clock.now()) }, { id: user.id });
    if (role === "user") endSessions(user.id);
    audit({
      action: "user.role_from_claim",
      actor: user.id,
      subject: user.id,
      data: { provider: provider.slug, role },
    });
  }

  return {
    async begin(slug: string, redirectUri: string, returnTo: string | undefined): Promise<Begun> {
      const provider = providers.getEnabled(slug);
      const [state, nonce, verifier] = [newSecret(), newSecret(), newSecret()] as const;
      const scopes = provider.scopes;
      const url = await client.authorizationUrl(settingsOf(provider), { redirectUri, scopes, state, nonce, verifier });
      const binding = newSecret();
      const until = clock.monotonic() + LIMITS.signOnMs;
      flows.remember(state, { slug, issuer: provider.issuer, redirectUri, nonce, verifier, binding, returnTo, until });
      return { url, state, binding };
    },
    /**
     * @param binding the cookie of the browser that brings the answer.
     * @throws Problem 400 for an unknown, expired or used state, 401 when the sign-on is refused, 403 when there is no
     * account.
     */
    async finish(
      slug: string,
      parameters: URLSearchParams,
      binding: string | undefined,
      address?: string,
    ): Promise<Arrived> {
      const state = parameters.get("state") ?? "";
      const { nonce, verifier, redirectUri, returnTo, issuer } = flows.take(slug, state, binding);
      const provider = providers.getEnabled(slug);
      const recordFailure = (error: unknown) => {
        const why = error instanceof Problem ? error.code : "internal";
        audit({ action: "sign_on.failed", actor: "anonymous", subject: slug, address, data: { why } });
      };
      try {
        if (provider.issuer !== issuer) throw createChangedProblem();
        const person = await client.exchange(settingsOf(provider), { redirectUri, parameters, state, nonce, verifier });
        const user = store.write(() => {
          // The provider may have been switched off or changed during the exchange.
          const now = providers.getEnabled(slug);
          if (now.issuer !== issuer) throw createChangedProblem();
          const found = accountOf(now, person);
          if (!found.active) throw unauthorized("This account may not log in.", "wrong_credentials");
          takeRole(found, now, person);
          const groups = valuesAt(person.claims, now.group_claim);
          const roles = now.group_roles.filter(({ group }) => groups.includes(group));
          takeGroups(found.id, slug, roles);
          return found;
        });
        return { userId: user.id, oidc: { slug, idToken: person.idToken }, returnTo };
      } catch (error) {
        recordFailure(error);
        throw error;
      }
    },
    /** The address that ends the session at the provider. */
    async logoutUrl(slug: string, idToken: string, returnTo: string): Promise<string | undefined> {
      const row = providers.all().find((provider) => provider.slug === slug);
      return row && client.logoutUrl(settingsOf(row), idToken, returnTo);
    },
  };
}

/** Flows that were begun and are not yet answered, by state. */
function createFlows(clock: Clock) {
  const flows = new Map<string, Flow>();
  return {
    remember(state: string, flow: Flow): void {
      for (const [old, { until }] of flows) {
        if (until > clock.monotonic() && flows.size < MOST_FLOWS) break;
        flows.delete(old);
      }
      flows.set(state, flow);
    },
    /**
     * Takes a flow out of the map.
     * @throws Problem 400 unless the flow was begun in this browser and has not expired.
     */
    take(slug: string, state: string, binding: string | undefined): Flow {
      const flow = flows.get(state);
      flows.delete(state);
      const mine =
        flow && flow.slug === slug && flow.until >= clock.monotonic() && sameToken(binding ?? "", flow.binding);
      if (!mine)
        throw badRequest(
          "This log-in was not started in this browser, or has expired. Start it again.",
          "sign_on_unknown",
        );
      return flow;
    },
  };
}

const createChangedProblem = () => badRequest("The provider was changed meanwhile. Start again.", "sign_on_unknown");

/** The strings at a dotted path of the claims: a single string, or those of an array. */
function valuesAt(claims: Readonly<Record<string, unknown>>, path: string): string[] {
  let at: unknown = Object.hasOwn(claims, path) ? claims[path] : undefined;
  if (at === undefined) {
    at = claims;
    for (const part of path.split(".")) at = Object.hasOwn(membersOf(at), part) ? membersOf(at)[part] : undefined;
  }
  return (Array.isArray(at) ? at : [at]).filter((value): value is string => typeof value === "string");
}
