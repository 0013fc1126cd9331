/** `skep chat`: a chat with an agent in the terminal, or one turn of it for pipes. */
import type { Command } from "commander";
import { badUsage, Problem } from "../../core/errors.ts";
import { assertFile, readText } from "../read-input.ts";
import { agents } from "../resource/agents.ts";
import { findOne, queryOf } from "../resource/find.ts";
import { projects } from "../resource/projects.ts";
import type { Client } from "../server/client.ts";
import { connect, type ServerFlags, withServer } from "../server/locate.ts";
import { warnOfStandby } from "../server/standby.ts";
import { attachFiles } from "./attach.ts";
import { sayOnce } from "./once.ts";
import type { ChatView } from "./session.ts";
import { terminalChat } from "./terminal-chat.ts";

interface ChatFlags extends ServerFlags {
  continue?: boolean;
  print?: string;
  model?: string;
  project?: string;
  attach?: string[];
}

const DEFAULT_AGENT = "lead";

export function chatCommand(program: Command, exit: (code: number) => void): void {
  withServer(program.command("chat"))
    .description("talk with an agent")
    .argument("[agent]", "agent to talk with (default: the agent of your last chat, or lead)")
    .option("-c, --continue", "continue the last chat")
    .option(
      "-p, --print <text>",
      "send this message, print the reply and exit; - reads the message from standard input",
    )
    .option("--model <provider/model>", "model that answers")
    .option("--project <project>", "project to talk about; the agent sees its files and its code graph")
    .option("--attach <file...>", "files to attach to the first message")
    .addHelpText(
      "after",
      "\nIn a chat, /help lists the commands. Ctrl-C stops the reply, twice leaves; \\ at the end of a line continues in the next.\nExit code: 0 done, 1 the reply failed, 2 wrong use, 130 left with Ctrl-C.",
    )
    .action(async (agent: string | undefined, flags: ChatFlags) => exit(await chat(agent, flags)));
}

async function chat(agent: string | undefined, flags: ChatFlags): Promise<number> {
  if (flags.print === undefined) {
    if (!process.stdin.isTTY || !process.stdout.isTTY)
      throw badUsage("A chat needs a terminal. For one message: skep chat -p TEXT, or -p - for standard input.");
    if (flags.json) throw badUsage("--json goes with -p: a chat in the terminal is for people.");
  }
  const message = flags.print === "-" ? await readText("-") : flags.print;
  if (message?.trim() === "") throw badUsage("The message is empty.");
  // Before a chat is created, which would stay behind empty.
  flags.attach?.forEach(assertFile);
  const client = await connect(flags);
  const session = await sessionFor(client, agent, flags);
  await warnOfStandby(client);
  const attached = await attachFiles(client, session.id, flags.attach ?? []);
  if (message === undefined) return terminalChat(client, session, attached);
  return sayOnce(client, session, { message, attached, json: flags.json ?? false });
}

/** The chat to continue, or a new one. */
async function sessionFor(client: Client, word: string | undefined, flags: ChatFlags): Promise<ChatView> {
  const agent = word === undefined ? undefined : String((await findOne(client, agents, word))["id"]);
  if (flags.continue) {
    if (flags.project !== undefined) throw badUsage("--project is for a new chat; leave out -c.");
    const last = await lastChat(client, agent);
    if (!last)
      throw new Problem(
        404,
        "not_found",
        `There is no open chat${agent ? ` with ${agent}` : ""}. Start one: skep chat${agent ? ` ${agent}` : ""}`,
      );
    if (flags.model === undefined) return last;
    return client.call("PUT", `/v1/chat/sessions/${last.id}`, { model: flags.model });
  }
  const project_id = flags.project === undefined ? undefined : (await findOne(client, projects, flags.project))["id"];
  const agent_id = agent ?? (await lastChat(client, undefined))?.agent_id ?? (await firstAgent(client));
  return client.call("POST", "/v1/chat/sessions", { agent_id, project_id, model: flags.model });
}

async function lastChat(client: Client, agent: string | undefined): Promise<ChatView | undefined> {
  const query = queryOf({ limit: "1", agent_id: agent });
  return (await client.call("GET", `/v1/chat/sessions?${query}`)).items[0];
}

/** The agent that answers when none is named. */
export async function firstAgent(client: Client): Promise<string> {
  const { items } = await client.call("GET", "/v1/agents?limit=200");
  const able = items.filter(({ enabled }) => enabled);
  const found = able.find(({ id }) => id === DEFAULT_AGENT) ?? able[0];
  if (!found)
    throw new Problem(404, "not_found", "There is no agent to talk with. Add one: skep agents add ID --prompt FILE");
  return found.id;
}
