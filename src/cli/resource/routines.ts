/** `skep routines`: work that agents do at scheduled times. */
import type { BodyOf, RowOf } from "../../api/types.ts";
import { DAY_SECONDS } from "../../core/clock.ts";
import { badUsage } from "../../core/errors.ts";
import { readText } from "../read-input.ts";
import type { Client } from "../server/client.ts";
import { fieldLines, tableLines, timeText } from "../terminal/table.ts";
import { findOne, listItems, queryOf } from "./find.ts";
import { projects } from "./projects.ts";
import { type Call, type Flags, type OptionSpec, type Resource, verbMakers } from "./resource.ts";
import { bodyOf, deleteVerb, editVerb, listOf, statusStyle, switchVerbs } from "./words.ts";

type List = "/v1/pulse-routines";
type Item = RowOf<List>;
const { actOnList, actOnOne } = verbMakers<List>();
type Blackout = Item["blackouts"][number];
type Fields = BodyOf<"POST", `${List}/${string}`>;
type Timed = RowOf<`${List}/${string}/${string}/ticks`> | RowOf<`${List}/${string}/timeline`>;

const LOOK_MS = 500;
const SHOWN = 500;

/** A schedule in words. */
function scheduleText(schedule: Item["schedule"], timezone: string): string {
  if (typeof schedule === "string") return `${schedule}  ${timezone}`;
  const { every_minutes, offset_minutes } = schedule;
  return `every ${every_minutes} min${offset_minutes ? ` + ${offset_minutes}` : ""}`;
}
const blackoutText = ({ start, end, days }: Blackout): string => `${start}-${end}${days ? ` ${days.join(",")}` : ""}`;

/** Parses a blackout: `22:00-06:00` or `22:00-06:00 sat,sun`. */
function blackoutOf(text: string) {
  const [, start, end, days] = /^(\d\d:\d\d)-(\d\d:\d\d)(?:\s+([a-z,][a-z, ]*))?$/.exec(text.trim()) ?? [];
  if (start === undefined) throw badUsage(`--blackout takes 22:00-06:00, or "22:00-06:00 sat,sun"; not ${text}.`);
  return { start, end, ...(days === undefined ? {} : { days: listOf(days) }) };
}

interface Whole {
  flag: string;
  least: number;
  most: number;
}

function wholeOf(flags: Flags, name: string, { flag, least, most }: Whole): number | undefined {
  if (flags[name] === undefined) return undefined;
  const value = /^\d{1,6}$/.test(flags[name]) ? Number(flags[name]) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw badUsage(`${flag} takes a whole number from ${least} to ${most}.`);
}

const EVERY = { flag: "--every", least: 1, most: 44_640 };
const OFFSET = { flag: "--offset", least: 0, most: 44_639 };
const TIMEOUT = { flag: "--timeout", least: 1, most: DAY_SECONDS };
const AT_ONCE = { flag: "--max-concurrent", least: 1, most: 8 };

function scheduleOf(flags: Flags): Item["schedule"] | undefined {
  const { cron } = flags;
  const [every, offset] = [wholeOf(flags, "every", EVERY), wholeOf(flags, "offset", OFFSET)];
  if (cron !== undefined && every !== undefined) throw badUsage("Give --cron or --every, not both.");
  if (offset !== undefined && every === undefined) throw badUsage("--offset goes with --every.");
  if (every === undefined) return cron;
  return { every_minutes: every, ...(offset === undefined ? {} : { offset_minutes: offset }) };
}

const CHOICES: readonly OptionSpec[] = [
  { flags: "--cron <text>", about: 'times as five fields of cron, e.g. "0 9 * * mon-fri"' },
  { flags: "--every <minutes>", about: "run every N minutes, from 1 to 44640, counted from 1970-01-01T00:00Z" },
  { flags: "--offset <minutes>", about: "with --every: run this many minutes later" },
  { flags: "--timezone <zone>", about: "time zone of the routine's times, e.g. Europe/Berlin (default: UTC)" },
  { flags: "--say <text>", about: "instructions for the agent, in one line" },
  { flags: "--instructions <file>", about: "file with the instructions for the agent; - for standard input" },
  { flags: "--description <text>", about: "what the routine is for" },
  {
    flags: "--blackout <times...>",
    about: 'times at which not to run: 22:00-06:00, or "00:00-00:00 sat,sun"; none removes them',
  },
  { flags: "--project <project>", about: "project that the agent works in; empty: none" },
  { flags: "--model <provider/model>", about: "model that the routine uses; empty: the agent's own" },
  {
    flags: "--tools <names>",
    about: "limit the routine to these of the agent's tools, separated by commas; empty: all",
  },
  { flags: "--timeout <seconds>", about: "most seconds that one execution may take (default: the agent's limit)" },
  { flags: "--max-concurrent <n>", about: "most executions of the routine at the same time, from 1 to 8 (default: 1)" },
];

async function fieldsOf({ client, flags }: Pick<Call, "client" | "flags">): Promise<Partial<Fields>> {
  const { say, instructions, blackout, project, tools } = flags;
  if (say !== undefined && instructions !== undefined) throw badUsage("Give --say or --instructions, not both.");
  const blackouts = blackout?.join(" ") === "none" ? [] : blackout?.map(blackoutOf);
  return {
    ...bodyOf(flags, { timezone: "timezone", description: "description", model: "model" }),
    schedule: scheduleOf(flags),
    instructions: instructions === undefined ? say : await readText(instructions),
    blackouts,
    project_id: project ? (await findOne(client, projects, project)).id : project === "" ? null : undefined,
    tools: tools === undefined ? undefined : tools === "" ? null : listOf(tools),
    timeout_seconds: wholeOf(flags, "timeout", TIMEOUT),
    max_concurrent: wholeOf(flags, "maxConcurrent", AT_ONCE),
  };
}

const placeOf = ({ agent_id, id }: Item) => `/v1/pulse-routines/${encodeURIComponent(agent_id)}/${id}` as const;

export const routines: Resource<List, Item, Item> = {
  name: "routines",
  one: "routine",
  about: "list the routines, work that agents do at set times; or show one",
  path: "/v1/pulse-routines",
  idOf: ({ id }) => id,
  namesOf: ({ name }) => [name],
  pathOf: placeOf,
  single: false,
  filters: [{ flags: "--agent <agent>", about: "only routines of this agent", query: "agent_id" }],
  columns: [
    { head: "NAME", of: ({ name }) => name, shrinks: true },
    { head: "AGENT", of: ({ agent_id }) => agent_id },
    { head: "WHEN", of: ({ schedule, timezone }) => scheduleText(schedule, timezone) },
    { head: "NEXT", of: ({ enabled, next_run_at }) => (enabled ? timeText(next_run_at) : "off") },
    { head: "LAST", of: ({ last_run_at }) => timeText(last_run_at) || "never" },
    { head: "RUNS", of: ({ runs }) => runs, right: true },
    { head: "BLOCKED", of: ({ blocked }) => blocked?.message, style: () => "yellow", shrinks: true, optional: true },
    { head: "ID", of: ({ id }) => id },
  ],
  empty: 'No routines. Make one: skep routines add AGENT NAME --cron "0 9 * * mon-fri" --say TEXT',
  show: async (routine) => linesOf(routine),
  verbs: [
    actOnList("add", "create a routine: an agent does something at set times", {
      args: [
        { name: "<agent>", about: "agent that does the work" },
        { name: "<name>", about: "name of the routine" },
      ],
      options: CHOICES,
      async run({ client, path, args: [agent = "", name = ""], flags }) {
        const { schedule, instructions, ...fields } = await fieldsOf({ client, flags });
        if (schedule === undefined) throw badUsage('Say when: --cron "0 9 * * mon-fri", or --every MINUTES.');
        if (instructions === undefined) throw badUsage("Say what to do: --say TEXT, or --instructions FILE.");
        const made = await client.call("POST", `${path}/${encodeURIComponent(agent)}`, {
          ...fields,
          schedule,
          instructions,
          name,
        });
        return { json: made, text: linesOf(made) };
      },
    }),
    editVerb("edit", "change a routine; options that you leave out keep their values", {
      options: [{ flags: "--name <text>", about: "name of the routine" }, ...CHOICES],
      fieldsOf: async (call) => ({ ...bodyOf(call.flags, { name: "name" }), ...(await fieldsOf(call)) }),
      linesOf,
    }),
    ...switchVerbs("let a routine run at its times", "keep a routine from running", linesOf),
    actOnOne("run", "run a routine now", {
      options: [{ flags: "--wait", about: "wait until the routine has ended; exit 1 when it did not succeed" }],
      run,
    }),
    actOnOne("ticks", "list the times at which a routine was due, each with its result", async ({ client, item }) => {
      const list = await listItems(client, `${placeOf(item)}/ticks`, SHOWN);
      const text = list.items.length === 0 ? "It was not due yet." : tickLines(list.items, ({ due_at }) => due_at);
      return { json: list, text };
    }),
    actOnList(
      "timeline",
      "show when an agent's routines were due and will be due (default: a day back and a day ahead)",
      {
        args: [{ name: "<agent>", about: "agent whose routines to show" }],
        options: [
          { flags: "--from <time>", about: "start of the period: a day or an RFC 3339 time" },
          { flags: "--to <time>", about: "end of the period: a day or an RFC 3339 time" },
        ],
        async run({ client, path, args: [agent], flags }) {
          const query = queryOf({ from: flags["from"], to: flags["to"] });
          const list = await listItems(client, `${path}/${encodeURIComponent(agent!)}/timeline`, SHOWN, query);
          const more = list.next_cursor === null ? [] : [`The first ${SHOWN}. Narrow it with --from and --to.`];
          const lines = [...tickLines(list.items, ({ at }) => at), ...more];
          return { json: list, text: list.items.length === 0 ? "Nothing in that time." : lines };
        },
      },
    ),
    deleteVerb("delete a routine and stop its running work", (item: Item) => `routine ${item["name"]}`),
  ],
};

function linesOf(routine: Item): string[] {
  const { schedule, timezone, enabled, next_run_at, blocked, instructions } = routine;
  return [
    ...fieldLines([
      ["routine", routine["name"]],
      ["id", routine["id"]],
      ["agent", routine["agent_id"]],
      ["description", routine["description"]],
      ["project", routine["project_id"]],
      ["when", scheduleText(schedule, timezone)],
      ["not", routine["blackouts"].map(blackoutText).join("; ")],
      ["next", enabled ? next_run_at : "off"],
      ["blocked", blocked?.message],
      ["last", routine["last_run_at"]],
      ["runs", routine["runs"]],
      ["model", routine["model"]],
      ["tools", routine["tools"]],
      ["timeout", routine["timeout_seconds"]],
      ["at once", routine["max_concurrent"]],
    ]),
    "",
    ...String(instructions).split("\n"),
  ];
}

const tickLines = <Tick extends Timed>(items: readonly Tick[], at: (tick: Tick) => string): string[] =>
  tableLines<Tick>(
    [
      { head: "DUE", of: (tick) => timeText(at(tick)) },
      { head: "ROUTINE", of: (tick) => ("name" in tick ? tick.name : ""), optional: true },
      { head: "STATUS", of: ({ status }) => status, style: ({ status }) => statusStyle(status) },
      { head: "SESSION", of: ({ session_id }) => session_id, optional: true },
      { head: "WHAT", of: ({ reason, summary }) => reason?.message ?? summary, shrinks: true, optional: true },
    ],
    items,
  );

async function run({ client, item, flags }: Call<Item>) {
  const path = placeOf(item);
  const begun = await client.call("POST", `${path}/trigger`);
  if (!flags["wait"])
    return { json: begun, text: `${begun["id"]} started: skep executions transcript ${begun["session_id"]}` };
  const tick = await untilOver(client, `${path}/ticks/${begun.id}`);
  const said = tick["reason"]?.message ?? tick["summary"] ?? "";
  return {
    json: tick,
    text: `${tick["status"]}${said ? `: ${said}` : ""}`,
    code: tick["status"] === "succeeded" ? 0 : 1,
  };
}

async function untilOver(client: Client, path: `${ReturnType<typeof placeOf>}/ticks/${string}`) {
  for (;;) {
    const tick = await client.call("GET", path);
    if (tick["finished_at"] !== null) return tick;
    await Bun.sleep(LOOK_MS);
  }
}
