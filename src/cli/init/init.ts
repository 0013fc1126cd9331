/**
 * `skep init`: from nothing to a finished run with the user's own model. It finds or starts a server, sets up a
 * provider, chooses a model, adds the current repository and runs `hello`. Each answer can be given as a flag.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { readConfig } from "../../core/config.ts";
import { isProblem, Problem } from "../../core/errors.ts";
import { BUILD } from "../../core/version.ts";
import { exitCodeOf, followRun, type RunView } from "../follow/follow.ts";
import { followedLines } from "../follow/report.ts";
import { INTERRUPTED, onInterrupt } from "../interrupt.ts";
import { SCRIPTED } from "../model-choice.ts";
import { formatCommands } from "../overview.ts";
import { type Client, createClient } from "../server/client.ts";
import { tokenFor } from "../server/credentials.ts";
import { connect, type ServerFlags, withServer } from "../server/locate.ts";
import { isFree, startServer } from "../server/start.ts";
import { isPrivate } from "../server/trust.ts";
import { confirm, hasPerson, isStopped } from "../terminal/ask.ts";
import { untilStopped } from "../until-stopped.ts";
import { harnessFlag, setUpHarness } from "./harness.ts";
import { setUpModel } from "./provider.ts";
import { addRepository } from "./repository.ts";

export interface InitFlags extends ServerFlags {
  provider?: string;
  key?: boolean;
  keyEnv?: string;
  baseUrl?: string;
  model?: string;
  /** `builtin`, or the name of an external agent. */
  harness?: string;
  /** Path of a repository; false: add none; unset: the repository of the current folder. */
  project?: string | boolean;
  run: boolean;
  keep?: boolean;
  yes?: boolean;
}

const TASK = "Greet me, and tell me what this repository is.";

export function initCommand(program: Command, exit: (code: number) => void): void {
  withServer(program.command("init"))
    .description("set up a model and a project, and do a first run; asks for what no option gives")
    .option("--provider <id>", "model provider: anthropic, openai, google, ollama, …, custom-NAME; demo for none")
    .option("--key", "ask for the API key, or read it from standard input, even if one is stored")
    .option("--key-env <name>", "take the API key from this environment variable")
    .option("--base-url <url>", "address of the provider's server")
    .option("--model <provider/model>", "default model of the agents")
    .option("--harness <name>", "create an agent that this external agent drives: opencode, codex, …; builtin for none")
    .option("--project <dir>", "repository to add as a project (default: the one you are in)")
    .option("--no-project", "do not add a project")
    .option("--no-run", "do not do the first run (pipeline hello)")
    .option("--keep", "keep the server running until Ctrl-C, if this command started it")
    .option("--yes", "do not ask; use the first provider that answers, and the repository you are in")
    .action(async (flags: InitFlags) => exit(await init(flags)));
}

interface Joined {
  client: Client;
  /** Data folder of a server that this command started, and how to stop it. */
  own?: { data: string; stop(): Promise<void> };
}

async function init(flags: InitFlags): Promise<number> {
  const say = flags.json ? () => {} : (text: string) => console.log(text);
  harnessFlag(flags);
  say(`Skep ${BUILD.version}`);
  const { client, own } = await joinOrStart(flags);
  try {
    say(`Server      ${client.url}${own ? `, started for this; its data is in ${own.data}` : ""}`);
    const model = await setUpModel(client, flags, say);
    const { agent, project } = await setUpRest(client, flags, model, say);
    const run = flags.run ? await firstRun(client, flags, { model, project }, own !== undefined) : undefined;
    const result = { url: client.url, data: own?.data ?? null, model, agent: agent ?? null, project: project ?? null };
    if (flags.json) console.log(JSON.stringify({ ...result, run: run?.view ?? null }));
    else say(["", ...formatNextSteps(client, own?.data, { project, agent })].join("\n"));
    if (run?.interrupted) return INTERRUPTED;
    if (own && !flags.json && (await isToStay(flags))) await stay(client.url, say);
    return run ? exitCodeOf(run.view.status) : 0;
  } finally {
    await own?.stop();
  }
}

/** Sets up the agent and the project. If the person stops here, the error says that the model is already stored. */
async function setUpRest(client: Client, flags: InitFlags, model: string, say: (text: string) => void) {
  try {
    const agent = await setUpHarness(client, flags, model, say);
    return { agent, project: await addRepository(client, flags, say) };
  } catch (error) {
    if (!isStopped(error) || model === SCRIPTED) throw error;
    throw new Problem(400, error.code, `Stopped. The model ${model} stays set. Continue with: skep init`);
  }
}

/** Connects to the running server, or starts one for this command. */
async function joinOrStart(flags: InitFlags): Promise<Joined> {
  try {
    return { client: await connect(flags) };
  } catch (error) {
    if (!isProblem(error) || error.code !== "no_server" || flags.url || process.env["SKEP_URL"]) throw error;
  }
  const data = dataFolder(flags);
  const env = { LOG_LEVEL: "error", ...process.env };
  const config = readConfig(env, { data, host: "127.0.0.1" });
  const started = await startServer(isFree(config.port) ? config : { ...config, port: 0 }, { listed: true });
  const client = createClient(started.app.url, tokenFor(started.app.url), data);
  return { client, own: { data, stop: started.stop } };
}

/**
 * The folder of the flag or variable; else ./data if it is a private data folder of this user; else a folder in the
 * user's home, outside any repository.
 */
function dataFolder({ data }: InitFlags): string {
  const given = data ?? process.env["DATA"];
  if (given) return resolve(given);
  // A cloned repository can contain a data folder with its own providers, which would then receive the keys.
  if (isPrivate(resolve("data"), "folder") && existsSync("data/skep.db")) return resolve("data");
  return join(process.env["XDG_DATA_HOME"] || join(homedir(), ".local", "share"), "skep");
}

async function firstRun(
  client: Client,
  { json = false }: InitFlags,
  { model, project }: { model: string; project: string | undefined },
  ownServer: boolean,
) {
  const scripted = model === SCRIPTED ? { model } : {};
  const body = { pipeline_id: "hello", task_description: TASK, project_name: project, ...scripted };
  const { id } = await client.call("POST", "/v1/runs", body);
  if (!json) console.log("");
  const interrupt = onInterrupt(client, id, ownServer);
  const view = json
    ? await waitForEnd(client, id, interrupt.signal)
    : await followRun(client, id, { json }, interrupt.signal);
  interrupt.stopListening();
  if (!json) console.log((await followedLines(view, client, ownServer)).join("\n"));
  return { view, interrupted: interrupt.asked };
}

/** Waits for the end of a run without showing anything. */
async function waitForEnd(client: Client, id: string, signal: AbortSignal): Promise<RunView> {
  for await (const _ of client.events(`/v1/events/stream?run_id=${id}`, signal));
  return client.call("GET", `/v1/runs/${id}`);
}

function formatNextSteps(
  client: Client,
  data: string | undefined,
  { project, agent }: { project: string | undefined; agent: string | undefined },
): string[] {
  const task = project
    ? `skep run feature "Add …" --project ${project} --follow`
    : 'skep run hello "Greet me" --follow';
  return formatCommands([
    ...(data === undefined ? [] : [[`skep serve --data ${data}`, "run the server permanently"] as const]),
    [task, "put the team to work"],
    ...(agent === undefined
      ? []
      : [
          [`skep image build --harness ${agent}`, "make the image that it runs in"] as const,
          [`skep chat ${agent}`, "talk to it"] as const,
        ]),
    ["skep runs", "what has run"],
    ["skep open", client.url],
  ]);
}

async function isToStay({ keep, yes }: InitFlags): Promise<boolean> {
  if (keep === true || yes || !hasPerson()) return keep === true;
  try {
    return await confirm("Leave the server running here?", true);
  } catch (error) {
    // Ctrl-C at this question means no: all is done, and the exit code is that of the run.
    if (isStopped(error)) return false;
    throw error;
  }
}

async function stay(url: string, say: (text: string) => void): Promise<void> {
  say(`The server runs at ${url} until Ctrl-C.`);
  await untilStopped();
}
