/** `skep sso`: identity providers through which users sign on. */
import type { BodyOf, Schemas } from "../../api/types.ts";
import { readSecret } from "../read-input.ts";
import { fieldLines } from "../terminal/table.ts";
import { type Call, type Flags, type OptionSpec, type Resource, verbMakers } from "./resource.ts";
import { groupsVerb } from "./sso-groups.ts";
import { bodyOf, deleteVerb, editVerb, listOf, switchVerbs } from "./words.ts";

type List = "/v1/auth/oidc";
/** Administrators see all fields of a provider; other users see only what its sign-on button needs. */
type Item = Partial<Schemas["Oidc"]> & Pick<Schemas["Oidc"], "slug" | "name">;
type One = Call<Item, `${List}/${string}`>;
const { actOnList, actOnOne } = verbMakers<List, Item>();

const OPTIONS: OptionSpec[] = [
  { flags: "--name <text>", about: "display name" },
  { flags: "--issuer <url>", about: "issuer address of the provider" },
  { flags: "--client-id <id>", about: "client id that the provider gave you" },
  { flags: "--client-secret-env <name>", about: "take the client secret from this environment variable" },
  { flags: "--secret", about: "ask for the client secret, or read it from standard input" },
  { flags: "--scopes <words>", about: "scopes to ask the provider for, separated by commas" },
  {
    flags: "--domains <names>",
    about: "domains of e-mail addresses whose accounts may be linked or created, separated by commas; * is any",
  },
  { flags: "--group-claim <name>", about: "claim that holds the user's groups; a dot goes one level deeper" },
  { flags: "--auto-create <yes>", about: "whether to create an account at the first sign-on", choices: ["yes", "no"] },
];

export const sso: Resource<List, Item, Item> = {
  name: "sso",
  one: "provider",
  about: "list the OpenID Connect providers that users sign on through, or show one",
  path: "/v1/auth/oidc",
  idOf: ({ slug }) => slug,
  single: false,
  columns: [
    { head: "PROVIDER", of: ({ slug }) => slug },
    { head: "NAME", of: ({ name }) => name },
    { head: "STATE", of: ({ enabled }) => (enabled === false ? "off" : "on") },
    { head: "ISSUER", of: ({ issuer }) => issuer, shrinks: true },
    { head: "DOMAINS", of: ({ allowed_domains }) => allowed_domains?.join(", "), shrinks: true },
  ],
  empty: "No providers. Add one: skep sso add SLUG --name TEXT --issuer URL --client-id ID --secret",
  verbs: [
    actOnList("add", "add a sign-on provider", {
      args: [{ name: "<slug>", about: "short name of the provider, used in addresses" }],
      options: OPTIONS,
      async run({ client, path, args: [slug = ""], flags }) {
        return showProvider(
          await client.call("POST", path, { ...requiredFrom(flags), ...(await bodyFrom(flags)), slug }),
        );
      },
    }),
    editVerb("update", "change a sign-on provider; options that you leave out keep their values", {
      options: OPTIONS,
      fieldsOf: ({ flags }) => bodyFrom(flags),
      linesOf,
    }),
    actOnOne(
      "test",
      "test a provider: its discovery document, keys, redirect address and secret",
      async ({ client, item }) => {
        const { slug, issuer = "", client_id = "", scopes = [] } = item;
        const tried = await client.call("POST", "/v1/auth/oidc/test", { slug, issuer, client_id, scopes });
        const lines = tried["findings"].flatMap(({ verdict, check, detail, remedy }) => [
          `${String(verdict).padEnd(5)} ${check}: ${detail}`,
          ...(remedy ? [`      ${remedy}`] : []),
        ]);
        return { json: tried, text: lines.join("\n"), code: tried["verdict"] === "fail" ? 1 : 0 };
      },
    ),
    groupsVerb,
    ...switchVerbs("let users sign on through a provider", "stop users from signing on through a provider", linesOf),
    deleteVerb("delete a sign-on provider; the accounts stay", (item: Item) => `sign-on through ${item["name"]}`),
  ],
};

/** The fields that a new provider needs. The server reports missing ones. */
const requiredFrom = (flags: Flags) => ({
  name: flags["name"],
  issuer: flags["issuer"],
  client_id: flags["clientId"],
});

async function bodyFrom(flags: Flags): Promise<BodyOf<"PUT", One["path"]>> {
  const env: string | undefined = flags["clientSecretEnv"];
  const secret =
    env !== undefined || flags["secret"] ? await readSecret("client secret", env ? { env } : {}) : undefined;
  return {
    ...bodyOf(flags, { name: "name", issuer: "issuer", clientId: "client_id", groupClaim: "group_claim" }),
    ...(secret === undefined ? {} : { client_secret: secret }),
    ...(flags["scopes"] === undefined ? {} : { scopes: listOf(flags["scopes"]) }),
    ...(flags["domains"] === undefined ? {} : { allowed_domains: listOf(flags["domains"]) }),
    ...(flags["autoCreate"] === undefined ? {} : { auto_create: flags["autoCreate"] === "yes" }),
  };
}

function linesOf(provider: Item): string[] {
  return fieldLines(Object.entries(provider));
}

const showProvider = (provider: Item) => ({ json: provider, text: linesOf(provider) });
