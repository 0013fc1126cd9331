/** The commands of a chat: lines that begin with a slash. */
import { writeFileSync } from "node:fs";
import type { Schemas } from "../../api/types.ts";
import { badUsage, codeOf, Problem } from "../../core/errors.ts";
import { didYouMean } from "../../core/near.ts";
import { assertPath } from "../read-input.ts";
import { agents } from "../resource/agents.ts";
import { findOne, listItems } from "../resource/find.ts";
import type { Client } from "../server/client.ts";
import { oneLine, ownColoursOnly, paint } from "../terminal/style.ts";
import { fieldLines, fullCostText } from "../terminal/table.ts";
import { attachFiles } from "./attach.ts";
import { type ChatView, type MessageView, pathOf } from "./session.ts";
import type { ChatState } from "./terminal-chat.ts";

interface SlashCommand {
  takes: string;
  about: string;
  run(state: ChatState, word: string): Promise<string | readonly string[]>;
}

type JobView = Schemas["Job"];

const LOOK_MS = 200;
const LISTED = 10;
const MESSAGES = 200;
const MODELS = 200;
const SAID_CHARACTERS = 70;

export const COMMANDS: Readonly<Record<string, SlashCommand>> = {
  help: { takes: "", about: "list the commands", run: async () => helpLines() },
  model: { takes: "[provider/model]", about: "list models, or change the one that answers", run: chooseModel },
  agent: { takes: "[agent]", about: "list agents, or start a chat with another one", run: chooseAgent },
  attach: { takes: "FILE…", about: "files for the next message", run: attach },
  rewind: { takes: "[N]", about: "list your messages, or take back from the Nth last on", run: rewind },
  fork: {
    takes: "[N]",
    about: "continue in a copy, or one up to your Nth last message",
    run: fork,
  },
  compact: { takes: "", about: "let the model read a summary; you keep every word", run: compact },
  export: { takes: "[FILE]", about: "write the chat as Markdown, or as JSON to X.json", run: exportChat },
  try: { takes: "", about: "ask the provider again at once, for whose quota the reply waits", run: tryNow },
  cost: { takes: "", about: "what the chat has cost, how full the window is", run: reportCost },
  quit: {
    takes: "",
    about: "leave; skep chat -c continues",
    async run(state) {
      state.leaving = true;
      return [];
    },
  },
};

/** Runs a line as a command. @returns whether the line was a command. A path such as /etc/hosts is none. */
export async function runCommand(state: ChatState, line: string): Promise<boolean> {
  const [, name, rest = ""] = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(line) ?? [];
  if (name === undefined) return false;
  const command = COMMANDS[name];
  if (!command) {
    const near = didYouMean(name, Object.keys(COMMANDS));
    throw badUsage(["There is no command", `/${name}.`, near, "/help lists them."].filter(Boolean).join(" "));
  }
  const said = await command.run(state, rest.trim());
  for (const text of [said].flat()) console.log(ownColoursOnly(text));
  return true;
}

const helpLines = (): string[] =>
  Object.entries(COMMANDS).map(
    ([name, { takes, about }]) => `${`/${name} ${takes}`.padEnd(26)} ${paint("dim", about)}`,
  );

async function chooseModel({ client, session }: ChatState, id: string): Promise<string | string[]> {
  if (id !== "") {
    const changed = await client.call("PUT", pathOf(session.id), { model: id });
    return `From now on ${changed.model} answers.`;
  }
  const { items } = await listItems(client, "/v1/models", MODELS);
  const known = items.map((one) => String(one["id"]));
  const all = session.model === null || known.includes(session.model) ? known : [session.model, ...known];
  return all.map((one) => (one === session.model ? `* ${one}` : `  ${one}`));
}

async function chooseAgent(state: ChatState, word: string): Promise<string | string[]> {
  const { client, session } = state;
  if (word === "") {
    const { items } = await listItems(client, agents.path, MODELS);
    return items
      .filter(({ enabled }) => enabled)
      .map(
        ({ id, description }) => `${id === session.agent_id ? "*" : " "} ${id}  ${paint("dim", oneLine(description))}`,
      );
  }
  const { id } = await findOne(client, agents, word);
  const { project_id } = session;
  state.session = await client.call("POST", "/v1/chat/sessions", { agent_id: id, project_id });
  return `A new chat with ${id}.`;
}

async function attach(state: ChatState, words: string): Promise<string> {
  if (words === "") throw badUsage("Name a file: /attach notes.txt. Put a name with blanks in quotes.");
  const files = [...words.matchAll(/"([^"]+)"|'([^']+)'|(\S+)/g)].map(([, a, b, c]) => (a ?? b ?? c)!);
  const made = await attachFiles(state.client, state.session.id, files);
  state.attached = [...state.attached, ...made];
  return `With the next message: ${state.attached.map(({ filename }) => oneLine(filename)).join(", ")}`;
}

/** The messages that were not withdrawn: all of them, and the person's own with the newest first. */
async function messagesOf({ client, session }: ChatState): Promise<{ own: MessageView[]; all: MessageView[] }> {
  const { messages } = await client.call("GET", `${pathOf(session.id)}?limit=${MESSAGES}`);
  const all = messages.filter(({ withdrawn }) => !withdrawn);
  return { all, own: all.filter(({ role }) => role === "user").reverse() };
}

function pickMessage(own: readonly MessageView[], word: string): MessageView {
  const found = /^\d+$/.test(word) ? own[Number(word) - 1] : undefined;
  if (!found)
    throw badUsage(own.length === 0 ? "You have said nothing yet." : `Give a number from 1 to ${own.length}.`);
  return found;
}

async function rewind(state: ChatState, word: string): Promise<string | string[]> {
  const { own } = await messagesOf(state);
  if (word === "") {
    const said = own
      .slice(0, LISTED)
      .map(({ content }, at) => `${at + 1}  ${oneLine(content).slice(0, SAID_CHARACTERS)}`);
    return said.length === 0 ? "You have said nothing yet." : said;
  }
  const { id, content } = pickMessage(own, word);
  await state.client.call("POST", `${pathOf(state.session.id)}/rewind`, { message_id: id });
  if (!content.includes("\n")) state.draft = content;
  return "Taken back. The agent no longer reads it or anything after it.";
}

async function fork(state: ChatState, word: string): Promise<string> {
  const { client, session } = state;
  const { own, all } = await messagesOf(state);
  const at = word === "" ? all.length : all.indexOf(pickMessage(own, word));
  const last = all[at - 1];
  if (word !== "" && !all[at]!.content.includes("\n")) state.draft = all[at]!.content;
  const { agent_id, project_id, model } = session;
  const made: ChatView & { files_job_id?: string | null } = last
    ? await client.call("POST", `${pathOf(session.id)}/fork`, { message_id: last.id })
    : await client.call("POST", "/v1/chat/sessions", { agent_id, project_id, model });
  const { files_job_id = null, ...copy } = made;
  state.session = copy;
  const said = "You continue in a copy; the other chat stays as it is.";
  const job = files_job_id === null ? undefined : await endOf(client, files_job_id);
  if (job && job.state !== "succeeded") return `${said} It has no files: ${endText(job)}`;
  const files_left_out = Number(job?.result?.["left_out"] ?? 0);
  if (files_left_out === 0) return said;
  return `${said} Files that could not be copied, and stay with the other chat alone: ${files_left_out}.`;
}

const endText = ({ error, state }: JobView): string => error?.message ?? `It was ${state}.`;

/** Waits for a job. */
async function endOf(client: Client, id: string): Promise<JobView> {
  for (;;) {
    const job = await client.call("GET", `/v1/jobs/${id}`);
    if (job.state !== "queued" && job.state !== "running") return job;
    await Bun.sleep(LOOK_MS);
  }
}

async function compact({ client, session }: ChatState): Promise<string> {
  const { id } = await client.call("POST", `${pathOf(session.id)}/compact`);
  const job = await endOf(client, id);
  if (job.state !== "succeeded") throw new Problem(409, job.error?.code ?? job.state, endText(job));
  return "The model reads a summary from now on. /export still writes every word.";
}

async function exportChat({ client, session }: ChatState, word: string): Promise<string> {
  const file = word === "" ? `${session.id}.md` : word;
  assertPath(file);
  const format = file.endsWith(".json") ? "json" : "markdown";
  const text = await client.text(`${pathOf(session.id)}/export?format=${format}`);
  try {
    writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    const why = codeOf(error) === "EEXIST" ? "already exists. Give another name." : "cannot be written.";
    throw new Problem(422, "unwritable", `${file} ${why}`);
  }
  return `Written to ${file}`;
}

async function reportCost({ client, session }: ChatState): Promise<string[]> {
  const chat = await client.call("GET", pathOf(session.id));
  const { tokens, context, model, message_count } = chat;
  const { used, window } = context;
  const of = window === null ? "" : ` of ${window.toLocaleString("en")}`;
  return fieldLines([
    ["model", model],
    ["cost", fullCostText(chat)],
    ["tokens", tokens.toLocaleString("en")],
    [
      "context",
      message_count === 0
        ? "empty"
        : used === null
          ? "known after the next reply"
          : `${used.toLocaleString("en")}${of}`,
    ],
  ]);
}

async function tryNow({ client, session }: ChatState): Promise<string> {
  await client.call("POST", `${pathOf(session.id)}/try-now`);
  return "asked again";
}
