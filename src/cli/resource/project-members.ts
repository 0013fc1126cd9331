/** `skep projects members` and `skep projects share`: who may see a project, and what each may do there. */
import type { AnswerOf, RowOf } from "../../api/types.ts";
import { badUsage, Problem } from "../../core/errors.ts";
import { didYouMean } from "../../core/near.ts";
import type { Client } from "../server/client.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { readPages } from "./find.ts";
import { type Answer, type Call, type OptionSpec, type Resource, verbMakers } from "./resource.ts";
import { assertMeant, YES } from "./words.ts";

type List = "/v1/projects";
type Item = RowOf<List>;
const { actOnList, actOnOne } = verbMakers<List>();
type Member = AnswerOf<"PUT", "/v1/projects/{id}/members/{user_id}">;

export const ROLES = ["viewer", "contributor", "maintainer", "owner"] as const;
const ACTIONS = ["list", "add", "set", "remove"] as const;
const MOST = 1_000;

const ROLE: OptionSpec = { flags: "--role <role>", about: "role of the member (default: contributor)", choices: ROLES };
const COLUMNS: readonly Column<Member>[] = [
  { head: "NAME", of: ({ display_name }) => display_name },
  { head: "ROLE", of: ({ role }) => role },
  { head: "EMAIL", of: ({ email }) => email },
  { head: "BY", of: ({ source }) => (source === "oidc" ? "a group" : "hand") },
  { head: "ID", of: ({ user_id }) => user_id },
];

/** @param find finds the project of a name. It is a parameter because the project resource contains this verb. */
export const membersVerb = (find: (client: Client, name: string) => Promise<Item>): Resource<List>["verbs"][number] =>
  actOnList("members", "list, add or remove members of a project, or give a member another role", {
    args: [
      { name: "<action>", about: "what to do", choices: ACTIONS },
      { name: "<project>", about: "name or id of the project" },
      { name: "[user]", about: "e-mail address or id of the account" },
    ],
    options: [ROLE, YES],
    async run(call) {
      const { client, args, flags } = call;
      const [action = "list", name = "", user] = args;
      const project = await find(client, name);
      const path = `/v1/projects/${project.id}/members` as const;
      if (action === "list") return list(client, path);
      if (user === undefined)
        throw badUsage(`Name the account: skep projects members ${action} ${name} ann@example.com`);
      if (action === "add") {
        const made = await client.call("POST", path, { user, ...(flags["role"] ? { role: flags["role"] } : {}) });
        return { json: made, text: `${made.display_name} is ${aRole(made.role)} of ${project.name}` };
      }
      const member = await memberOf(client, path, user);
      if (action === "remove") {
        await assertMeant(`Remove ${member.display_name} from ${project.name}?`, flags);
        await client.call("DELETE", `${path}/${member.user_id}`);
        return {
          json: { removed: member.user_id },
          text: `${member.display_name} is no member of ${project.name} any more`,
        };
      }
      if (flags["role"] === undefined) throw badUsage(`Say which role: --role ${ROLES.join("|")}`);
      const changed = await client.call("PUT", `${path}/${member.user_id}`, { role: flags["role"] });
      return { json: changed, text: `${changed.display_name} is ${aRole(changed.role)} of ${project.name}` };
    },
  });

export const aRole = (role: string): string => `${role === "owner" ? "an" : "a"} ${role}`;

async function list(client: Client, path: `/v1/projects/${string}/members`): Promise<Answer> {
  const found = await readPages<Member>(client, path, MOST);
  const text =
    found.items.length === 0
      ? "It has no members: administrators alone decide on it."
      : tableLines(COLUMNS, found.items);
  return { json: found, text };
}

/** @throws Problem 404. */
async function memberOf(client: Client, path: `/v1/projects/${string}/members`, named: string): Promise<Member> {
  const { items } = await readPages<Member>(client, path, MOST);
  const word = named.toLowerCase();
  const fits = ({ user_id, email, display_name }: Member) =>
    [user_id, email, display_name].some((one) => one?.toLowerCase() === word);
  const found = items.filter(fits);
  if (found.length === 1) return found[0]!;
  if (found.length > 1) throw badUsage(`${named} is the name of several members. Give the id or the e-mail address.`);
  const names = items.map(({ email, display_name }) => email ?? display_name);
  throw new Problem(404, "not_found", `${named} is no member of the project. ${didYouMean(named, names)}`.trim());
}

export const shareVerb = actOnOne(
  "share",
  "open a project to everyone with an account, to its members, or to its owner alone",
  {
    args: [{ name: "<with>", about: "who sees the project", choices: ["everyone", "members", "me"] }],
    async run({ client, item, path, args: [whom = "members"] }: Call<Item, `${List}/${string}`>) {
      const access = whom === "me" ? "personal" : whom === "everyone" ? "everyone" : "members";
      const answer = await client.call("PUT", `${path}/access`, { access });
      const text = {
        everyone: "open to everyone",
        members: "open to its members",
        personal: "open to its owner alone",
      };
      return { json: answer, text: `${item.name} is ${text[answer.access]}` };
    },
  },
);
