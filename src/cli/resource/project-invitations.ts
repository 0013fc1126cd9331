/** `skep projects invite`: links through which other people join a project. */
import type { AnswerOf, RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import type { Client } from "../server/client.ts";
import { type Column, tableLines, timeText } from "../terminal/table.ts";
import { readPages } from "./find.ts";
import { ROLES } from "./project-members.ts";
import { type Resource, verbMakers } from "./resource.ts";
import { assertMeant, YES } from "./words.ts";

type List = "/v1/projects";
type Item = RowOf<List>;
const { actOnList } = verbMakers<List>();
type Made = AnswerOf<"POST", "/v1/projects/{id}/invitations">;
type Invitation = Omit<Made, "token">;

const ACTIONS = ["create", "list", "revoke"] as const;
const MOST = 1_000;

const COLUMNS: readonly Column<Invitation>[] = [
  { head: "ROLE", of: ({ role }) => role },
  { head: "STATE", of: ({ state }) => state, style: ({ state }) => (state === "open" ? undefined : "dim") },
  { head: "USED", of: ({ uses, max_uses }) => `${uses} of ${max_uses}` },
  { head: "UNTIL", of: ({ expires_at }) => timeText(expires_at) },
  { head: "BY", of: ({ created_by_name }) => created_by_name, shrinks: true },
  { head: "ID", of: ({ id }) => id },
];

/** @throws Problem 422 `bad_usage`. */
function wholeNumber(value: unknown, flag: string): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw badUsage(`${flag} takes a whole number from 1.`);
  return number;
}

/** @param find finds the project of a name. It is a parameter because the project resource contains this verb. */
export const inviteVerb = (find: (client: Client, name: string) => Promise<Item>): Resource<List>["verbs"][number] =>
  actOnList(
    "invite",
    "create, list or revoke links that let others join a project; a new link is printed once, alone on stdout",
    {
      args: [
        { name: "<action>", about: "what to do", choices: ACTIONS },
        { name: "<project>", about: "name or id of the project" },
        { name: "[invitation]", about: "id of the invitation to revoke" },
      ],
      options: [
        {
          flags: "--role <role>",
          about: "role of those who join, at most your own (default: contributor)",
          choices: ROLES,
        },
        { flags: "--days <n>", about: "days that the link is valid (default: 7, at most 30)" },
        { flags: "--max-uses <n>", about: "number of people who may use the link (default: 1, at most 100)" },
        YES,
      ],
      async run({ client, args: [action = "list", name = "", id], flags }) {
        const project = await find(client, name);
        const path = `/v1/projects/${project.id}/invitations` as const;
        if (action === "create") {
          const { role } = flags;
          const made = await client.call("POST", path, {
            role: ROLES.find((one) => one === role),
            days: wholeNumber(flags["days"], "--days"),
            max_uses: wholeNumber(flags["maxUses"], "--max-uses"),
          });
          const url = `${client.url}/join/${made.token}`;
          return { json: { ...made, url }, text: url };
        }
        if (action === "revoke") {
          if (id === undefined)
            throw badUsage(`Name the invitation. List them with: skep projects invite list ${name}`);
          await assertMeant(`Revoke the invitation ${id} to ${project.name}?`, flags);
          await client.call("DELETE", `${path}/${encodeURIComponent(id)}`);
          return { json: { id, revoked: true }, text: `${id}: revoked` };
        }
        const found = await readPages<Invitation>(client, path, MOST);
        const empty = `No invitations. Make one: skep projects invite create ${name}`;
        return { json: found, text: found.items.length === 0 ? empty : tableLines(COLUMNS, found.items) };
      },
    },
  );
