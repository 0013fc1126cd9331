/**
 * `skep onboard`: interviewers ask in the terminal what to build and make a project of it. The person can leave and
 * continue at any time.
 */

import type { Command } from "commander";
import type { AnswerOf, RowOf } from "../../api/types.ts";
import { Problem } from "../../core/errors.ts";
import { type Exit, optionOf, say, verbCommand } from "../resource/command.ts";
import { findOne, listItems } from "../resource/find.ts";
import { type Flags, type Resource, verbMakers } from "../resource/resource.ts";
import { listVerb } from "../resource/words.ts";
import type { Client } from "../server/client.ts";
import { connect, withServer } from "../server/locate.ts";
import { warnOfStandby } from "../server/standby.ts";
import { stripControls } from "../terminal/style.ts";
import { fieldLines, timeText } from "../terminal/table.ts";
import { terminalOnboarding } from "./terminal-onboarding.ts";

type List = "/v1/onboarding/sessions";
type Item = RowOf<List>;
const { actOnOne } = verbMakers<List>();
type Session = AnswerOf<"GET", `${List}/${string}`>;

const SHOWN = 50;

const onboardings: Resource<List> = {
  name: "onboard",
  one: "session",
  about: "tell four interviewers what you want to build; they create a project with a vision and tasks",
  path: "/v1/onboarding/sessions",
  idOf: ({ id }) => id,
  namesOf: ({ title }) => (title ? [title] : []),
  columns: [
    { head: "SESSION", of: ({ id }) => id },
    { head: "STATUS", of: ({ status }) => status },
    { head: "PHASE", of: ({ phase }) => phase },
    { head: "LAST", of: ({ last_activity_at }) => timeText(last_activity_at) },
    { head: "PROJECT", of: ({ project_id }) => project_id, optional: true },
    { head: "BEGAN WITH", of: ({ title }) => title, shrinks: true },
  ],
  empty: "No onboarding sessions. Begin one with: skep onboard",
  verbs: [
    listVerb("list your onboarding sessions, newest first", SHOWN, () => onboardings),
    actOnOne("show", "show what a session has found out so far", async ({ item }) => ({
      json: item,
      text: linesOf(item),
    })),
    actOnOne("abandon", "abandon a session; its messages stay readable", async ({ client, path, item }) => {
      await client.call("DELETE", path);
      return { json: { abandoned: item["id"] }, text: `${item["id"]} abandoned` };
    }),
  ],
};

const linesOf = ({ id, status, phase, title, project_id, context }: Item): string[] => [
  ...fieldLines([
    ["session", id],
    ["status", status],
    ["phase", phase],
    ["began with", title],
    ["project", project_id],
  ]),
  "",
  ...stripControls(JSON.stringify(context, null, 2)).split("\n"),
];

const OPTIONS = [
  { flags: "--continue", about: "continue your latest active session" },
  { flags: "--say <text>", about: "first answer: what you want to build" },
  { flags: "--model <model>", about: "model for all interviewers, as provider/model" },
];

export function onboardCommand(program: Command, exit: Exit): void {
  const command = withServer(program.command(onboardings.name))
    .description(onboardings.about)
    .argument("[session]", "session to continue: its id or the words that it began with; a unique beginning is enough");
  for (const option of OPTIONS) command.addOption(optionOf(option));
  command.action(async (word: string | undefined, flags: Flags) => {
    const client = await connect(flags);
    const chosen = await choose(client, word, flags);
    await warnOfStandby(client);
    const session = await terminalOnboarding(client, chosen, { json: flags["json"] === true });
    say(flags, { json: session, text: endOf(session) }, exit);
  });
  for (const verb of onboardings.verbs) verbCommand(command, onboardings, verb, exit);
}

async function choose(client: Client, word: string | undefined, flags: Flags): Promise<{ id: string }> {
  if (word !== undefined) return findOne(client, onboardings, word);
  if (flags["continue"]) {
    const { items } = await listItems(client, onboardings.path, 1, new URLSearchParams({ status: "active" }));
    if (!items[0]) throw new Problem(404, "not_found", "No session is active. Begin one with: skep onboard");
    return items[0];
  }
  const body = { message: flags["say"], model: flags["model"] };
  return client.call("POST", "/v1/onboarding/sessions", body);
}

/** Describes the onboarding's state when the person leaves it, and what to do next. */
function endOf({ id, status, project_id, context }: Session): string {
  if (status === "active") return `Left; nothing is lost. Continue: skep onboard ${id}`;
  if (status !== "completed") return `${id} is ${status}.`;
  const name = stripControls(context.intake?.name ?? project_id ?? "");
  return `The project ${name} is made. See it with: skep projects ${project_id}`;
}
