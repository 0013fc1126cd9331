/**
 * `skep demo`: a complete first run without any set-up. It makes a small git repository, starts its own server on the
 * loopback address, lets the pipeline `hello` work on it, and shows the result. It touches nothing outside its folder.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { Command } from "commander";
import { type Config, type OptionName, readConfig } from "../core/config.ts";
import { isProblem, messageOf, Problem } from "../core/errors.ts";
import { BUILD } from "../core/version.ts";
import { openFolder } from "../working-copy/folder.ts";
import { makeDemoRepository } from "./demo-repository.ts";
import { type ChosenSandbox, chooseDemoSandbox } from "./demo-sandbox.ts";
import script from "./demo-script.yml" with { type: "text" };
import { exitCodeOf, followRun, type RunView } from "./follow/follow.ts";
import { reportLines } from "./follow/report.ts";
import { INTERRUPTED, onInterrupt } from "./interrupt.ts";
import { type ChosenModel, chooseModel, SCRIPTED } from "./model-choice.ts";
import { untilCloned } from "./resource/projects.ts";
import { type Client, createClient } from "./server/client.ts";
import { isFree, type Started, startServer } from "./server/start.ts";
import { untilStopped } from "./until-stopped.ts";

interface DemoFlags {
  folder: string;
  model?: string;
  keep?: boolean;
  json?: boolean;
}

const TASK = "Greet me, and tell me what this repository is.";
const MAX_HELLO_BYTES = 1024 * 1024;
/** Codes of errors that come from the container engine rather than from the work. */
const ENGINE_FAILED = /^(docker|image|sandbox)_/;

export function demoCommand(program: Command, exit: (code: number) => void): void {
  program
    .command("demo")
    .description("do a first run on a sample repository; needs no API key, container engine or network")
    .option("--folder <dir>", "folder for the repository and the data of the demo", "skep-demo")
    .option("--model <provider/model>", "model to use (default: one of your models that answers, else demo/scripted)")
    .option("--keep", "keep the server running afterwards, until Ctrl-C")
    .option("--json", "print one JSON line for each event, and the result last")
    .action(async (flags: DemoFlags) => exit(await runDemo(flags)));
}

async function runDemo(flags: DemoFlags): Promise<number> {
  const folder = resolve(flags.folder);
  const say = flags.json ? () => {} : (text: string) => console.log(text);
  const place = makePlace(folder);
  say(`Skep ${BUILD.version}: a first run, kept in ${folder}`);
  say(`Repository  ${place.repository ?? `none: ${place.why}; the agents work in an empty folder`}`);
  const sandbox = await chooseDemoSandbox(configIn(place, {}));
  const code = await attempt(flags, place, sandbox, say);
  if (code !== "engine_failed") return code;
  const again = await attempt(flags, place, { kind: "process", why: "the container engine failed" }, say);
  return again === "engine_failed" ? 1 : again;
}

interface Place {
  data: string;
  script: string;
  /** Path of the repository; undefined if it could not be made, for example without git. */
  repository: string | undefined;
  why: string;
}

/** Creates the demo's folder, or uses the one of an earlier demo again. */
function makePlace(folder: string): Place {
  mkdirSync(folder, { recursive: true });
  const place = { data: join(folder, "data"), script: join(folder, "transcript.yml"), why: "" };
  writeFileSync(place.script, script);
  const repository = join(folder, "repository");
  try {
    if (!existsSync(join(repository, ".git"))) makeDemoRepository(repository);
    return { ...place, repository };
  } catch (error) {
    return { ...place, repository: undefined, why: Bun.which("git") ? messageOf(error) : "git is not installed" };
  }
}

/** The operator's configuration, with the loopback address and the demo's data folder. */
const configIn = ({ data }: Place, flags: Partial<Record<OptionName, string>>): Config =>
  readConfig(
    { LOG_LEVEL: "error", ...process.env },
    { data, host: "127.0.0.1", authEnabled: "false", allowLocalRepositories: "true", ...flags },
  );

/**
 * Does one run from start to end. @returns its exit code, or `engine_failed` when the container engine prevented the
 * run.
 */
async function attempt(
  flags: DemoFlags,
  place: Place,
  sandbox: ChosenSandbox,
  say: (text: string) => void,
): Promise<number | "engine_failed"> {
  const { started, client } = await startOn(place, sandbox);
  const { url } = started.app;
  try {
    say(`Server      ${url}`);
    say(`Sandbox     ${sandbox.kind}, ${sandbox.why}`);
    const chosen = flags.model
      ? { model: flags.model, scripted: flags.model === SCRIPTED, why: `${flags.model}, as you said` }
      : await chooseModel(client);
    say(`Model       ${chosen.why}\n`);
    const { run, interrupted } = await runHello(client, place, chosen, flags.json ?? false);
    if (run.error && ENGINE_FAILED.test(run.error.code) && sandbox.kind === "docker") {
      say(`\n${run.error.message}\nOnce more without containers.\n`);
      return "engine_failed";
    }
    const hello = readHello(place, run);
    if (flags.json)
      console.log(JSON.stringify({ run, url, sandbox: sandbox.kind, model: chosen.model ?? null, hello }));
    else tellEnd(run, hello, chosen);
    if (interrupted) return INTERRUPTED;
    if (flags.keep) await keep(url, say);
    else say(`\nThe server at ${url} stops now. To look at it: ${ownName()} serve --data ${place.data}`);
    return exitCodeOf(run.status);
  } finally {
    await started.stop();
  }
}

async function startOn(place: Place, sandbox: ChosenSandbox): Promise<{ started: Started; client: Client }> {
  const wanted = configIn(place, {});
  const config = configIn(place, {
    sandbox: sandbox.kind,
    port: String(isFree(wanted.port) ? wanted.port : 0),
    ...(sandbox.image ? { agentImage: sandbox.image } : {}),
    ...(wanted.demoScript ? {} : { demoScript: place.script }),
  });
  const started = await startServer(config).catch(inTermsOfDemo);
  return { started, client: createClient(started.app.url) };
}

/** Replaces `--data` in an error of the server with `--folder`, which is the demo's flag for it. */
function inTermsOfDemo(error: unknown): never {
  if (!isProblem(error)) throw error;
  throw new Problem(error.status, error.code, error.detail.replaceAll("--data", "--folder"), error.extras);
}

async function runHello(client: Client, place: Place, { model }: ChosenModel, json: boolean) {
  const project_name = place.repository ? await projectOn(client, place.repository) : undefined;
  const body = { pipeline_id: "hello", task_description: TASK, model, project_name };
  const { id } = await client.call("POST", "/v1/runs", body);
  const interrupt = onInterrupt(client, id, true);
  const run = await followRun(client, id, { json, text: true }, interrupt.signal);
  interrupt.stopListening();
  return { run, interrupted: interrupt.asked };
}

/** Adds the repository as a project and waits for its clone. @returns the project's name. */
async function projectOn(client: Client, repository: string): Promise<string> {
  const name = "demo";
  const { items } = await client.call("GET", "/v1/projects?limit=200");
  const found = items.find((project) => project.name === name);
  await untilCloned(client, found ?? (await client.call("POST", "/v1/projects", { name, repository })));
  return name;
}

/** Reads the file that the agents wrote, from the run's branch or its folder. */
function readHello({ data, repository }: Place, run: RunView & { project_id?: string | null }): string | null {
  if (repository && run.project_id && run.branch) {
    const gitDir = join(data, "projects", run.project_id, "git");
    const shown = Bun.spawnSync(["git", `--git-dir=${gitDir}`, "show", `${run.branch}:HELLO.md`], { stderr: "ignore" });
    return shown.exitCode === 0 ? shown.stdout.toString() : null;
  }
  using workspaces = openFolder(join(data, "workspaces"));
  const path = `${run.id}/HELLO.md`;
  return workspaces.find(path) ? workspaces.text(path, MAX_HELLO_BYTES) : null;
}

function tellEnd(run: RunView, hello: string | null, { scripted }: ChosenModel): void {
  console.log("");
  console.log(reportLines(run).join("\n"));
  if (hello !== null) console.log(`\nHELLO.md${run.branch ? ` on branch ${run.branch}` : ""}:\n\n${indent(hello)}`);
  if (scripted)
    console.log(
      `\nWith a model of your own: OLLAMA_BASE_URL=http://127.0.0.1:11434 ${ownName()} demo, or ANTHROPIC_API_KEY=… ${ownName()} demo`,
    );
  else if (run.status !== "succeeded") console.log(`\nWithout a model: ${ownName()} demo --model ${SCRIPTED}`);
}

/** How this program is called from here, for command lines that people copy. */
function ownName(): string {
  if (!BUILD.compiled || Bun.which("skep") === process.execPath) return "skep";
  const path = relative(process.cwd(), process.execPath);
  return path.startsWith("..") ? process.execPath : path.includes("/") ? path : `./${path}`;
}

const indent = (text: string): string =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => `    ${line}`.trimEnd())
    .join("\n");

function keep(url: string, say: (text: string) => void): Promise<void> {
  say(`\nThe server runs at ${url} until Ctrl-C.`);
  return untilStopped().then(() => {});
}
