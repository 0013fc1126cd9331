/** The configured providers. A client's secret is sealed, never part of an answer, and never sent to another issuer. */
import type { OidcSettings } from "../../adapter/oidc.ts";
import { toTimestamp } from "../../core/clock.ts";
import { isLoopback } from "../../core/config.ts";
import { conflict, expectFound, invalidField, notFound } from "../../core/errors.ts";
import { isSlug } from "../../core/ids.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { oidcProviders } from "../../store/tables/accounts.ts";
import type { Core } from "../feature.ts";
import type { OidcCreate, OidcTest, OidcUpdate } from "./model.ts";

export type ProviderRow = typeof oidcProviders.$inferSelect;

export type OidcProviders = ReturnType<typeof createOidcProviders>;

const DEFAULT_SCOPES = ["openid", "email", "profile"];

export function createOidcProviders({
  store,
  clock,
  sealer,
  audit,
}: Pick<Core, "store" | "clock" | "sealer" | "audit">) {
  const rows = store.rows(oidcProviders);
  /** @throws Problem 404. */
  const find = (slug: string): ProviderRow => expectFound(rows.find({ slug }), "OIDC provider");
  const record = (action: string, caller: Caller, slug: string, fields: string[] = []) =>
    audit({ action, ...actedBy(caller), subject: slug, data: { fields } });

  /** @throws Problem 422. */
  function assertProjects({ group_roles }: ProviderRow): void {
    const at = group_roles.findIndex(
      ({ project_id }) => store.statement("SELECT 1 FROM projects WHERE id = ?").get(project_id) === undefined,
    );
    if (at >= 0) throw invalidField(`/group_roles/${at}/project_id`, "There is no such project");
  }

  const clientSecret = (row: ProviderRow) =>
    row.client_secret_sealed === null ? undefined : sealer.open(row.client_secret_sealed);

  return {
    find,
    all: (): ProviderRow[] => rows.list([], { order: "slug" }),
    /** @throws Problem 404 unless the provider exists and is enabled. */
    getEnabled(slug: string): ProviderRow {
      const row = find(slug);
      if (!row.enabled) throw notFound("OIDC provider");
      return row;
    },
    /** @throws Problem 409 when the slug is taken, 422. */
    create({ slug, client_secret, ...input }: OidcCreate, caller: Caller): ProviderRow {
      if (!isSlug(slug)) throw invalidField("/slug", "This word is reserved");
      const at = toTimestamp(clock.now());
      const row: ProviderRow = normalize({
        scopes: DEFAULT_SCOPES,
        auto_create: false,
        allowed_domains: [],
        role_claim: null,
        admin_values: [],
        group_claim: "groups",
        group_roles: [],
        button: {},
        enabled: true,
        ...definedOf(input),
        name: input.name,
        issuer: input.issuer,
        client_id: input.client_id,
        slug,
        client_secret_sealed: client_secret ? sealer.seal(client_secret) : null,
        created_at: at,
        updated_at: at,
      });
      return store.write(() => {
        assertProjects(row);
        if (!rows.insertIfNew(row)) throw conflict("A provider with this slug exists. Update it, or delete it first.");
        record("oidc_provider.created", caller, slug);
        return row;
      });
    },
    update(slug: string, { client_secret, ...input }: OidcUpdate, caller: Caller): ProviderRow {
      return store.write(() => {
        const before = find(slug);
        const next = normalize({ ...before, ...definedOf(input), updated_at: toTimestamp(clock.now()) });
        if (client_secret !== undefined) next.client_secret_sealed = client_secret ? sealer.seal(client_secret) : null;
        else if (next.issuer !== before.issuer) next.client_secret_sealed = null;
        if (input.group_roles !== undefined) assertProjects(next);
        rows.update(next, { slug });
        record("oidc_provider.updated", caller, slug, Object.keys(input));
        return next;
      });
    },
    remove(slug: string, caller: Caller): void {
      store.write(() => {
        find(slug);
        rows.remove({ slug });
        record("oidc_provider.deleted", caller, slug);
      });
    },
    clientSecret,
    /** The settings of a form, in the form that a sign-on uses. @throws Problem 422. */
    draft({
      slug,
      issuer,
      client_id,
      client_secret,
      scopes = DEFAULT_SCOPES,
    }: OidcTest): OidcSettings & { scopes: readonly string[] } {
      assertIssuer(issuer);
      const row = rows.find({ slug });
      // The stored secret is sent only to the issuer for which it was stored.
      const kept = row?.issuer === issuer ? clientSecret(row) : undefined;
      return {
        issuer,
        clientId: client_id,
        scopes: [...new Set(["openid", ...scopes])],
        clientSecret: client_secret === undefined ? kept : (client_secret ?? undefined),
      };
    },
  };
}

function assertIssuer(text: string): void {
  const issuer = URL.canParse(text) ? new URL(text) : undefined;
  const safe = issuer?.protocol === "https:" || (issuer?.protocol === "http:" && isLoopback(issuer.hostname));
  if (!issuer || !safe || issuer.username || issuer.hash || issuer.search)
    throw invalidField("/issuer", "An issuer is an https address, or http on loopback, without query");
}

/** Brings a row into normal form. @throws Problem 422. */
function normalize(row: ProviderRow): ProviderRow {
  assertIssuer(row.issuer);
  const allowed_domains = [...new Set(row.allowed_domains.map((domain) => domain.toLowerCase()))];
  if (row.auto_create && allowed_domains.length === 0)
    throw invalidField("/allowed_domains", "auto_create needs the domains whose addresses may get an account, or *");
  if (row.role_claim !== null && row.admin_values.length === 0)
    throw invalidField("/admin_values", "role_claim needs the values that mean administrator");
  return { ...row, allowed_domains, scopes: [...new Set(["openid", ...row.scopes])] };
}

const definedOf = <T extends object>(input: T): Partial<T> =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Partial<T>;
