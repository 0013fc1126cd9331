/** `skep users`: a server's accounts, for its administrators. */
import type { RowOf } from "../../api/types.ts";
import { askHidden } from "../terminal/ask.ts";
import { timeText } from "../terminal/table.ts";
import { everythingOf } from "./history.ts";
import { type Flags, type Resource, verbMakers } from "./resource.ts";
import { bodyOf, deleteVerb } from "./words.ts";

type List = "/v1/users";
type Item = RowOf<List>;
const { actOnList, actOnOne } = verbMakers<List>();

export const users: Resource<List> = {
  name: "users",
  one: "user",
  about: "list the user accounts of a server, or show one (administrators only)",
  path: "/v1/users",
  idOf: ({ id }) => id,
  namesOf: ({ email }) => [email],
  columns: [
    { head: "EMAIL", of: ({ email }) => email },
    { head: "NAME", of: ({ display_name }) => display_name, shrinks: true },
    { head: "ROLE", of: ({ role }) => role },
    {
      head: "STATE",
      of: ({ active }) => (active ? "active" : "off"),
      style: ({ active }) => (active ? undefined : "dim"),
    },
    { head: "2FA", of: ({ two_factor_enabled }) => (two_factor_enabled ? "yes" : "no") },
    { head: "LAST LOGIN", of: ({ last_login_at }) => timeText(last_login_at) || "never" },
  ],
  empty: "No users yet. Create one: skep users create EMAIL --password",
  verbs: [
    actOnList("create", "create a user; without --password, the user signs on through a provider", {
      args: [{ name: "<email>", about: "e-mail address of the user" }],
      options: [
        { flags: "--name <text>", about: "display name" },
        { flags: "--admin", about: "make the user an administrator" },
        { flags: "--password", about: "ask for a password, or read it from standard input" },
      ],
      async run({ client, path, args: [email = ""], flags }) {
        const role = flags["admin"] ? { role: "admin" as const } : {};
        const body = { ...(await bodyFrom(flags, "password")), email, ...role };
        return presentUser(await client.call("POST", path, body));
      },
    }),
    actOnOne("update", "change a user, named by e-mail address or id", {
      options: [
        { flags: "--name <text>", about: "display name" },
        { flags: "--role <role>", about: "role of the user", choices: ["admin", "user"] },
        { flags: "--active <yes>", about: "whether the user may log in", choices: ["true", "false"] },
        { flags: "--password", about: "ask for a new password, or read it from standard input" },
        { flags: "--reset-two-factor", about: "switch off the user's two-factor verification" },
      ],
      async run({ client, path, flags }) {
        const body = {
          ...(await bodyFrom(flags, "new password")),
          ...bodyOf(flags, { role: "role" }),
          ...(flags["active"] ? { active: flags["active"] === "true" } : {}),
          ...(flags["resetTwoFactor"] ? { two_factor_enabled: false as const } : {}),
        };
        return presentUser(await client.call("PUT", path, body));
      },
    }),
    deleteVerb("delete a user; what the user owned becomes yours", (item: Item) => `user ${item["email"]}`, {
      everything: everythingOf("users"),
    }),
  ],
};

async function bodyFrom(flags: Flags, what: string): Promise<Record<string, unknown>> {
  return {
    ...bodyOf(flags, { name: "display_name" }),
    ...(flags["password"] ? { password: await askHidden(what) } : {}),
  };
}

const presentUser = (user: Item) => ({
  json: user,
  text: `${user["email"]}: ${user["role"]}, ${user["active"] ? "active" : "off"}${user["two_factor_enabled"] ? ", two-factor verification" : ""}`,
});
