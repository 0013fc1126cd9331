/** `skep skills`: instructions that agents load when a task calls for them. */
import type { RowOf } from "../../api/types.ts";
import { readText } from "../read-input.ts";
import { fieldLines } from "../terminal/table.ts";
import { type Resource, type Verb, verbMakers } from "./resource.ts";
import { assertMeant, bodyOf, listOf, YES } from "./words.ts";

type List = "/v1/skills";
type Item = RowOf<List>;
const { actOnList, actOnOne } = verbMakers<List>();
type Key = Pick<Item, "name" | "agent_id">;

/** The path of a skill. An agent's own skill needs the agent's id, since a shared skill may have the same name. */
const placeOf = (item: Key) => `/v1/skills/${encodeURIComponent(item.name)}?${placeIn(item)}` as const;
const placeIn = ({ agent_id }: Key): string => (agent_id ? `agent_id=${encodeURIComponent(agent_id)}` : "");
const nameOf = ({ name, agent_id }: Key): string => (agent_id ? `${agent_id}/${name}` : name);

const stateOf = ({ enabled, problems, trusted }: Item): string => {
  if (problems.length > 0) return "broken";
  if (!trusted) return "unconfirmed";
  return enabled ? "on" : "off";
};

export const skills: Resource<List> = {
  name: "skills",
  one: "skill",
  about: "list the skills, instructions that agents load when a task needs them; or show one",
  path: "/v1/skills",
  idOf: nameOf,
  pathOf: placeOf,
  columns: [
    { head: "SKILL", of: nameOf },
    {
      head: "STATE",
      of: stateOf,
      style: ({ problems, trusted }) => (problems.length > 0 ? "red" : trusted ? undefined : "yellow"),
    },
    { head: "TAGS", of: ({ tags }) => tags.join(", "), shrinks: true },
    { head: "DESCRIPTION", of: ({ description }) => description, shrinks: true },
  ],
  filters: [{ flags: "--agent <agent>", about: "only skills that this agent sees", query: "agent_id" }],
  empty: "No skills. Add one: skep skills add NAME --description TEXT --content FILE",
  async show(skill) {
    const problems = skill["problems"].map(({ line, column, message }) => `${line}:${column}  ${message}`);
    return [
      ...fieldLines([
        ["skill", nameOf(skill)],
        ["description", skill["description"]],
        ["tags", skill["tags"]],
        ["on", skill["enabled"]],
        ["written by", [skill["origin"].by, skill["origin"].author].filter(Boolean).join(" ")],
        ["for the work of", skill["owner_id"] ?? "everybody"],
        ["unconfirmed because", skill["trusted"] ? undefined : skill["origin"].outside],
        ["file", skill["source_file"]],
        ["problems", problems],
      ]),
      "",
      skill["content"].trimEnd(),
    ];
  },
  verbs: [
    actOnList("add", "create a skill", {
      args: [
        {
          name: "[name]",
          about: "name of the skill: lower-case letters, digits and hyphens (default: from the front matter)",
        },
      ],
      options: [
        {
          flags: "--description <text>",
          about: "what agents see of the skill before they load it (default: from the front matter)",
        },
        {
          flags: "--content <file>",
          about: "file with the instructions (Markdown); - for standard input",
          default: "-",
        },
        { flags: "--tags <words>", about: "words of a task that bring in the skill, separated by commas" },
        { flags: "--agent <agent>", about: "offer the skill to this agent only" },
      ],
      async run({ client, path, args: [name], flags }) {
        const skill = await client.call("POST", path, {
          name,
          description: flags["description"],
          content: await readText(flags["content"]),
          ...(flags["tags"] ? { tags: listOf(flags["tags"]) } : {}),
          ...(flags["agent"] === undefined ? {} : { scope: "agent", agent_id: flags["agent"] }),
        });
        return { json: skill, text: `${nameOf(skill)}: saved in ${skill["source_file"]}` };
      },
    }),
    actOnOne("update", "change a skill", {
      options: [
        { flags: "--description <text>", about: "what agents see of the skill before they load it" },
        {
          flags: "--content <file>",
          about: "file with the instructions; its front matter sets the description and tags; - for standard input",
        },
        { flags: "--tags <words>", about: "words of a task that bring in the skill, separated by commas" },
      ],
      async run({ client, item, flags }) {
        const skill = await client.call("PUT", placeOf(item), {
          ...bodyOf(flags, { description: "description" }),
          ...(flags["content"] ? { content: await readText(flags["content"]) } : {}),
          ...(flags["tags"] === undefined ? {} : { tags: listOf(flags["tags"]) }),
        });
        return { json: skill, text: `${nameOf(skill)}: changed` };
      },
    }),
    actOnOne("confirm", "confirm that you trust a skill that an agent wrote after it had read outside text", {
      options: [{ flags: "--for-everybody", about: "also use the skill in everybody's work (administrators only)" }],
      async run({ client, item, flags }) {
        const body = { trusted: true as const, ...(flags["forEverybody"] ? { for_everybody: true as const } : {}) };
        const skill = await client.call("PUT", placeOf(item), body);
        return { json: skill, text: `${nameOf(skill)}: confirmed` };
      },
    }),
    switchVerb("enable", "offer a skill to agents", true),
    switchVerb("disable", "stop offering a skill to agents, but keep it", false),
    actOnOne("delete", "delete a skill", {
      options: [YES],
      async run({ client, item, flags }) {
        await assertMeant(`Delete skill ${nameOf(item)}?`, flags);
        await client.call("DELETE", placeOf(item));
        return { json: { deleted: true, what: nameOf(item) }, text: `deleted skill ${nameOf(item)}` };
      },
    }),
  ],
};

function switchVerb(name: string, about: string, enabled: boolean): Verb<Item, List> {
  return actOnOne(name, about, async ({ client, item }) => {
    const skill = await client.call("PATCH", `/v1/skills/${encodeURIComponent(item.name)}/enabled?${placeIn(item)}`, {
      enabled,
    });
    return { json: skill, text: `${nameOf(skill)}: ${skill["enabled"] ? "on" : "off"}` };
  });
}
