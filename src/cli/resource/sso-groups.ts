/** `skep sso groups`: maps groups of a sign-on provider to memberships of projects. */
import type { Schemas } from "../../api/types.ts";
import { badUsage, Problem } from "../../core/errors.ts";
import { didYouMean } from "../../core/near.ts";
import type { Client } from "../server/client.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { findOne, listItems } from "./find.ts";
import { aRole, ROLES } from "./project-members.ts";
import { projects } from "./projects.ts";
import { verbMakers } from "./resource.ts";
import { assertMeant, YES } from "./words.ts";

type List = "/v1/auth/oidc";
type Provider = Partial<Schemas["Oidc"]> & Pick<Schemas["Oidc"], "slug" | "name">;
type GroupRole = Schemas["Oidc"]["group_roles"][number];

const ACTIONS = ["list", "set", "remove"] as const;
const MOST = 2_000;

export const groupsVerb = verbMakers<List, Provider>().actOnOne(
  "groups",
  "list the roles that groups have in projects; give a group a role in a project, or take it away",
  {
    args: [
      { name: "<action>", about: "what to do", choices: ACTIONS },
      { name: "[group]", about: "name of the group, as in the provider's claim" },
      { name: "[project]", about: "name or id of the project" },
    ],
    options: [
      { flags: "--role <role>", about: "role of the group in the project (default: contributor)", choices: ROLES },
      YES,
    ],
    async run({ client, item, path, args: [action = "list", group, named], flags }) {
      const before = item.group_roles ?? [];
      if (action === "list") return { json: { items: before }, text: await linesOf(client, item.slug, before) };
      if (group === undefined || named === undefined)
        throw badUsage(`Name the group and the project: skep sso groups ${item.slug} ${action} GROUP PROJECT`);
      const project = await findOne(client, projects, named);
      const others = before.filter((one) => one.group !== group || one.project_id !== project.id);
      if (action === "remove") {
        if (others.length === before.length) throw notThere(group, project.name, before);
        await assertMeant(`Take the group ${group} out of ${project.name}?`, flags);
        const { group_roles } = await client.call("PUT", path, { group_roles: others });
        const text = `The group ${group} gives no role in ${project.name} any more. Who has it loses it at the next sign-on.`;
        return { json: { items: group_roles }, text };
      }
      const role = ROLES.find((one) => one === flags["role"]) ?? "contributor";
      const next = [...others, { group, project_id: project.id, role }];
      const { group_roles } = await client.call("PUT", path, { group_roles: next });
      const text = `Who is in the group ${group} is ${aRole(role)} of ${project.name} from the next sign-on.`;
      return { json: { items: group_roles }, text };
    },
  },
);

function notThere(group: string, project: string, before: readonly GroupRole[]): Problem {
  const near = didYouMean(
    group,
    before.map((one) => one.group),
  );
  return new Problem(404, "not_found", `The group ${group} has no role in ${project}. ${near}`.trim());
}

async function linesOf(client: Client, slug: string, roles: readonly GroupRole[]): Promise<string[]> {
  if (roles.length === 0)
    return [`No group is a member of a project. Add one: skep sso groups ${slug} set GROUP PROJECT`];
  const { items } = await listItems(client, "/v1/projects", MOST);
  const names = new Map(items.map(({ id, name }) => [id, name]));
  const columns: readonly Column<GroupRole>[] = [
    { head: "GROUP", of: ({ group }) => group, shrinks: true },
    { head: "PROJECT", of: ({ project_id }) => names.get(project_id) ?? project_id },
    { head: "ROLE", of: ({ role }) => role },
  ];
  return [...tableLines(columns, roles)];
}
