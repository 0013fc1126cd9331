/** `skep memory`: what agents remember. People can read, correct and confirm it. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { RowOf } from "../../api/types.ts";
import { badUsage, isProblem, Problem } from "../../core/errors.ts";
import { readText } from "../read-input.ts";
import type { Client } from "../server/client.ts";
import { paint, stripControls } from "../terminal/style.ts";
import { type Column, fieldLines, tableLines, timeText } from "../terminal/table.ts";
import { countOf, listItems, queryOf } from "./find.ts";
import { type Answer, type ArgumentSpec, type Call, type OptionSpec, type Resource, verbMakers } from "./resource.ts";
import { assertMeant, YES } from "./words.ts";

type List = "/v1/memory/vaults";
type Item = RowOf<List>;
const { actOnList, actOnOne } = verbMakers<List>();
type Entry = RowOf<`${List}/${string}`>;
type Contradiction = RowOf<"/v1/memory/contradictions">;

const ENTRY: ArgumentSpec = {
  name: "<agent/entry>",
  about: "entry, as lists and searches show it, e.g. lead/fact/deploy-day",
};
const TYPE: OptionSpec = {
  flags: "--type <type>",
  about: "only entries of this type: fact, decision, lesson, preference, …",
};
const UNCONFIRMED: OptionSpec = { flags: "--unconfirmed", about: "only entries that nobody has confirmed yet" };
const AGENT: OptionSpec = { flags: "--agent <agent>", about: "only the memory of this agent, or `shared`" };
const CONTENT: OptionSpec = {
  flags: "--content <file>",
  about: "file with the new text; - for standard input (default: edit the text in $VISUAL or $EDITOR)",
};

/** How many items are read of a list that is shown as a whole. */
const MOST_SHOWN = 1_000;
const SHOWN_CHARACTERS = 300;

export const memory: Resource<List, Item, Item> = {
  name: "memory",
  one: "agent",
  about: "list the agents that remember something, or show the entries of one",
  path: "/v1/memory/vaults",
  idOf: ({ agent_id }) => agent_id,
  single: false,
  absent: (agent) => `No agent ${agent} remembers anything yet.`,
  columns: [
    { head: "AGENT", of: ({ agent_id }) => agent_id },
    { head: "ENTRIES", of: ({ entries }) => entries, right: true },
    {
      head: "UNCONFIRMED",
      of: ({ unconfirmed }) => unconfirmed,
      right: true,
      style: ({ unconfirmed }) => (unconfirmed > 0 ? "yellow" : undefined),
    },
    { head: "CHANGED", of: ({ updated_at }) => timeText(updated_at) },
  ],
  empty: "No agent remembers anything yet.",
  options: [TYPE, UNCONFIRMED],
  show: async (vault, { client, flags }) => entriesOf(client, vault["agent_id"], flags),
  verbs: [
    actOnOne("list", "list the memory entries of an agent, or of `shared`", {
      options: [TYPE, UNCONFIRMED],
      run: ({ client, item, flags }) => entriesOf(client, item["agent_id"], flags),
    }),
    actOnList("search", "search the memory of agents; the best match comes first", {
      args: [{ name: "<word...>", about: "words to search for" }],
      options: [AGENT],
      async run({ client, args, flags }) {
        const query = queryOf({ query: args.join(" "), agent_id: flags["agent"] });
        const found = await client.call("GET", `/v1/memory/search?${query}`);
        if (found.items.length === 0) return { json: found, text: "Nobody remembers anything about that." };
        const text = found.items.flatMap((hit) => [
          `${paint("bold", stripControls(hit["title"]))}  ${paint("dim", nameOf(hit))}${hit["trusted"] ? "" : paint("yellow", "  unconfirmed")}`,
          `  ${stripControls(hit["snippet"]).replaceAll("\n", "\n  ")}`,
          "",
        ]);
        return { json: found, text: text.slice(0, -1) };
      },
    }),
    actOnList("show", "print a memory entry", { args: [ENTRY], run: show }),
    actOnList("edit", "change the text of a memory entry", { args: [ENTRY], options: [CONTENT], run: edit }),
    actOnList("undo", "undo the last change of a memory entry", {
      args: [ENTRY],
      async run({ client, args: [name] }) {
        const undone = await client.call("POST", `${pathOf(name!)}/undo`);
        return {
          json: undone,
          text: undone.entry ? `${name}: as it was` : `${name}: removed; it did not exist before`,
        };
      },
    }),
    actOnList("confirm", "confirm that you trust an entry that was written after outside text was read", {
      args: [ENTRY],
      async run({ client, args: [name] }) {
        const entry = await client.call("PUT", pathOf(name!), { trusted: true });
        return { json: entry, text: `${name}: confirmed` };
      },
    }),
    actOnList("delete", "delete a memory entry; skep memory undo brings it back", {
      args: [ENTRY],
      options: [YES],
      async run({ client, args: [name], flags }) {
        const path = pathOf(name!);
        await assertMeant(`Delete ${name}?`, flags);
        await client.call("DELETE", path);
        return {
          json: { deleted: true, what: name },
          text: `deleted ${name}; skep memory undo ${name} brings it back`,
        };
      },
    }),
    actOnOne(
      "consolidate",
      "start a job that merges entries that say the same and looks for contradictions",
      async ({ client, item }) => {
        const job = await client.call("POST", `/v1/memory/vaults/${encodeURIComponent(item["agent_id"])}/consolidate`);
        return { json: job, text: `${job["id"]}: started; skep jobs wait ${job["id"]} says how it ended` };
      },
    ),
    actOnList("contradictions", "list pairs of memory entries that seem to say opposite things", {
      options: [AGENT],
      run: contradictionsOf,
    }),
    actOnList("settle", "decide which entry of a contradiction is right", {
      args: [{ name: "<contradiction>", about: "id of the contradiction, as skep memory contradictions shows it" }],
      options: [
        { flags: "--keep <entry>", about: "entry that is right; it supersedes the other one" },
        { flags: "--both", about: "keep both entries as true; the pair is not listed again" },
      ],
      run: settle,
    }),
    actOnList("take-back", "undo everything that an execution or a consolidation wrote to memory", {
      args: [
        {
          name: "<execution>",
          about: "id of the execution, as an entry shows it; for a consolidation, the id of its job",
        },
      ],
      async run({ client, args: [id] }) {
        const done = await client.call("POST", `/v1/memory/executions/${encodeURIComponent(id!)}/take-back`);
        const lines = [
          ...done.taken_back.map((one) => `taken back: ${nameOf(one)}`),
          ...done.left.map((one) => `left: ${nameOf(one)} (${one["reason"]})`),
        ];
        return { json: done, text: lines.length === 0 ? "It wrote nothing that is still there." : lines };
      },
    }),
  ],
};

/** An entry as lists, searches and answers identify it: the field is `entry` or `id`. */
type Named = { agent_id: string } & ({ entry: string } | { id: string });
const nameOf = (one: Named): string => `${one.agent_id}/${"entry" in one ? one.entry : one.id}`;

/** @throws Problem 422 `bad_usage` for a name without an agent. */
function pathOf(name: string) {
  const [, agent, entry] = /^([^/]+)\/(.+)$/.exec(name) ?? [];
  if (agent === undefined || entry === undefined)
    throw badUsage(`${name}: write the agent and the entry, e.g. lead/fact/deploy-day.`);
  const id = encodeURIComponent(entry.replace(/\.md$/, ""));
  return `/v1/memory/vaults/${encodeURIComponent(agent)}/entries/${id}` as const;
}

const stateOf = ({ problem, superseded_by, trusted, pinned }: Entry): string => {
  if (problem !== null) return "broken";
  if (superseded_by !== null) return "superseded";
  return trusted ? (pinned ? "pinned" : "") : "unconfirmed";
};

async function entriesOf(client: Client, agent: string, flags: Call["flags"]): Promise<Answer> {
  const query = queryOf({ type: flags["type"], unconfirmed: flags["unconfirmed"] ? "true" : undefined });
  const most = countOf(flags["limit"]);
  const found = await listItems(client, `/v1/memory/vaults/${encodeURIComponent(agent)}`, most, query);
  if (found.items.length === 0) return { json: found, text: "No matching entries." };
  const columns: readonly Column<Entry>[] = [
    { head: "ENTRY", of: nameOf },
    { head: "STATE", of: stateOf, optional: true },
    { head: "CHANGED", of: ({ updated_at }) => timeText(updated_at) },
    { head: "TITLE", of: ({ title }) => title, shrinks: true },
    { head: "PROBLEM", of: ({ problem }) => problem, shrinks: true, optional: true },
  ];
  const more = found.next_cursor === null ? [] : [`More: --limit ${most * 2}`];
  return { json: found, text: [...tableLines(columns, found.items), ...more] };
}

async function contradictionsOf({ client, flags }: Call): Promise<Answer> {
  const query = queryOf({ agent_id: flags["agent"] });
  const found = await listItems(client, "/v1/memory/contradictions", MOST_SHOWN, query);
  if (found.items.length === 0)
    return { json: found, text: "None is known. skep memory consolidate AGENT looks for them." };
  const formatSide = (agent: string, { entry, updated_at, says, content }: Contradiction["a"]) => [
    `  ${agent}/${entry}  ${paint("dim", timeText(updated_at))}${says.length > 0 ? `  says: ${stripControls(says.join(", "))}` : ""}`,
    `    ${stripControls(content).slice(0, SHOWN_CHARACTERS).trimEnd().replaceAll("\n", "\n    ")}`,
  ];
  const text = found.items.flatMap(({ id, agent_id, a, b }) => [
    paint("bold", id),
    ...formatSide(agent_id, a),
    ...formatSide(agent_id, b),
    "",
  ]);
  return { json: found, text: text.slice(0, -1) };
}

async function settle({ client, args: [id], flags }: Call): Promise<Answer> {
  const { keep, both } = flags;
  if ((keep === undefined) === !both)
    throw badUsage("Say which entry is right with --keep ENTRY, or --both when both are true.");
  const path = `/v1/memory/contradictions/${encodeURIComponent(id!)}` as const;
  if (both) return { json: await client.call("PUT", path, { keep: null }), text: `${id}: both are true` };
  const { items } = await listItems(client, "/v1/memory/contradictions", MOST_SHOWN);
  const agent: string | undefined = items.find((one) => one["id"] === id)?.["agent_id"];
  // Accept the name as lists show it (agent/entry), or as it is in the vault.
  const entry = agent !== undefined && keep!.startsWith(`${agent}/`) ? keep!.slice(agent.length + 1) : keep!;
  const done = await client.call("PUT", path, { keep: entry });
  const other = agent === undefined ? done.superseded : `${agent}/${done.superseded}`;
  return { json: done, text: `${other}: superseded; skep memory undo ${other} brings it back` };
}

async function show({ client, args: [name] }: Call): Promise<Answer> {
  const entry = await client.call("GET", pathOf(name!));
  const { origin } = entry;
  const text = [
    ...fieldLines([
      ["entry", nameOf(entry)],
      ["title", entry["title"]],
      ["state", stateOf(entry) || undefined],
      ["problem", entry["problem"]],
      ["tags", entry["tags"]],
      ["written by", [origin.by, origin.author].filter(Boolean).join(" ")],
      ["execution", origin.execution],
      ["unconfirmed because", entry["trusted"] ? undefined : origin.outside],
      ["superseded by", entry["superseded_by"]],
      ["expires", entry["expires_at"]],
      ["changed", timeText(entry["updated_at"])],
    ]),
    "",
    stripControls(entry["content"]).trimEnd(),
  ];
  return { json: entry, text };
}

async function edit({ client, args: [name], flags }: Call): Promise<Answer> {
  const path = pathOf(name!);
  const { body, tag } = await client.readTagged<{ content: string }>(path);
  const inEditor = flags["content"] === undefined;
  const content = inEditor ? editText(body.content) : await readText(flags["content"]!);
  if (content === body.content) return { json: { changed: false }, text: `${name}: nothing was changed` };
  try {
    const entry = await client.call("PUT", path, { content }, tag);
    return { json: entry, text: `${name}: changed; skep memory undo ${name} puts it back` };
  } catch (error) {
    if (!inEditor || !isProblem(error)) throw error;
    throw new Problem(error.status, error.code, `${error.detail} Your text is kept in ${keep(content)}.`);
  }
}

/** Writes the text to a new file, so that it is not lost if the change fails. @returns the file's path. */
function keep(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), "skep-entry-")), "entry.md");
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

/**
 * Lets the person edit the text. @returns the edited text. @throws Problem 422 without an editor, 400 when it fails.
 */
function editText(text: string): string {
  const editor = process.env["VISUAL"] || process.env["EDITOR"];
  if (!editor || !process.stdin.isTTY)
    throw badUsage("Give the new text with --content FILE, or set EDITOR and run this in a terminal.");
  const file = keep(text);
  try {
    // The variable may contain arguments: "code --wait".
    const { exitCode } = Bun.spawnSync(["sh", "-c", `${editor} "$1"`, "sh", file], {
      stdio: ["inherit", "inherit", "inherit"],
    });
    if (exitCode !== 0) throw new Problem(400, "stopped", `${editor} ended with ${exitCode}; nothing was changed.`);
    return readFileSync(file, "utf8");
  } finally {
    rmSync(dirname(file), { recursive: true, force: true });
  }
}
