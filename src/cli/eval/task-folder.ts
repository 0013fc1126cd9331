/**
 * Tasks as folders: `task.toml`, `instruction.md`, `environment/` (the agent's initial files), `tests/test.sh` and
 * `solution/solve.sh`.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { BodyOf } from "../../api/types.ts";
import { messageOf, Problem } from "../../core/errors.ts";
import { badTask, memoryOf, readSettings } from "./settings.ts";

export type Task = BodyOf<"POST", "/v1/evals">["tasks"][number];
type TaskFile = Task["tests"][number];

const SETTINGS = "task.toml";
const PARTS = { workspace: "environment", tests: "tests", solution: "solution" } as const;
const PART_NAMES = ["workspace", "tests", "solution"] as const;
const MOST_FILES = 200;
const MOST_BYTES = 400_000;

/** Reads the task in the folder, or the tasks in its subfolders, by name. @throws Problem 422 with what is wrong. */
export function readTasks(folder: string): Task[] {
  const names = list(folder);
  if (names.includes(SETTINGS)) return [readTask(folder)];
  const tasks = names
    .map((name) => join(folder, name))
    .filter((path) => lstatSync(path).isDirectory() && list(path).includes(SETTINGS))
    .map(readTask);
  if (tasks.length === 0)
    throw badTask(
      `${folder} holds no task: a task is a folder with ${SETTINGS}. For ten to begin with: skep eval shipped ${folder}`,
    );
  return tasks;
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    throw badTask(`${folder} cannot be read: ${messageOf(error)}`);
  }
}

function readTask(folder: string): Task {
  const file = join(folder, SETTINGS);
  const settings = readSettings(textIn(file), file);
  const { agent, verifier, environment, skep } = settings;
  const name = basename(resolve(folder));
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name))
    throw badTask(`${folder}: a task's folder is called by small letters, digits and dashes.`);
  if (lstatSync(join(folder, "steps"), { throwIfNoEntry: false }))
    throw badTask(
      `${folder} has a folder steps/: a task here is one instruction with one check. Make each step a task of its own, or leave the task out.`,
    );
  const workspace = filesIn(join(folder, PARTS.workspace));
  const recipe = workspace.find(({ path }) => RECIPES.test(path))?.path;
  if (recipe !== undefined)
    throw badTask(
      `${folder}: a task's ${recipe} is not built. Agents work in their own image; remove the file and give the agent an image.`,
    );
  const tests = filesIn(join(folder, PARTS.tests));
  const solution = filesIn(join(folder, PARTS.solution));
  for (const script of [...tests, ...solution]) assertOwnPaths(script, folder);
  if (!skep?.reward && tests.some(({ content }) => Buffer.from(content, "base64").includes("VERIFIER_LOGS")))
    throw badTask(
      `${folder}: its tests write a reward to $VERIFIER_LOGS, which is not read. Write reward = true below [skep] in ${SETTINGS}, so that the reward decides instead of the exit code of test.sh.`,
    );
  const memory_mb = memoryOf(settings);
  return {
    name,
    instruction: textIn(join(folder, "instruction.md")),
    workspace,
    tests,
    solution,
    ...(agent?.timeout_sec === undefined ? {} : { timeout_seconds: Math.ceil(agent.timeout_sec) }),
    ...(verifier?.timeout_sec === undefined ? {} : { check_seconds: Math.ceil(verifier.timeout_sec) }),
    ...(environment?.cpus === undefined ? {} : { cpus: environment.cpus }),
    ...(memory_mb === undefined ? {} : { memory_mb }),
    ...(skep?.budget_usd === undefined ? {} : { budget_usd: skep.budget_usd }),
    ...(skep?.project === undefined ? {} : { project_name: skep.project }),
    ...(skep?.commit === undefined ? {} : { commit: skep.commit }),
    ...(skep?.reward === undefined ? {} : { reward: skep.reward }),
  };
}

/** Files that describe images and services. Harbor would build and start them; Skep does not. */
const RECIPES = /^(Dockerfile|Containerfile|(docker-)?compose\.ya?ml|image\.def)$/i;

/**
 * Paths where Harbor's own harness puts a task's files and reads its reward. A script that reports failure only as a
 * reward of 0 there may still exit with 0, which would count as passed here.
 */
const FOREIGN_PATHS = /\/logs\/verifier\b|(?<![\w.$})"'-])\/(tests|solution)\//;

/** @throws Problem 422 for a script that uses paths of Harbor's harness, which do not exist here. */
function assertOwnPaths({ path, content }: TaskFile, folder: string): void {
  if (!path.endsWith(".sh")) return;
  const found = FOREIGN_PATHS.exec(Buffer.from(content, "base64").toString())?.[0];
  if (found !== undefined)
    throw badTask(
      `${folder}: ${path} uses ${found}, which is not there. Its files are in $TASK_FILES, it runs in the agent's workspace, and the exit code of test.sh decides. For a reward, write it to $VERIFIER_LOGS/reward.txt, and reward = true below [skep] in ${SETTINGS}.`,
    );
}

function textIn(path: string): string {
  try {
    const found = lstatSync(path);
    if (!found.isFile() || found.size > MOST_BYTES) throw badTask(`${path} is no file of at most ${MOST_BYTES} bytes.`);
    return readFileSync(path, "utf8");
  } catch (error) {
    throw error instanceof Problem ? error : badTask(`${path} cannot be read: ${messageOf(error)}`);
  }
}

/** Every file below a folder, without symbolic links; empty if the folder does not exist. */
function filesIn(folder: string): TaskFile[] {
  const files: TaskFile[] = [];
  let bytes = 0;
  const walk = (at: string, prefix: string): void => {
    for (const name of readdirSync(at).sort()) {
      const path = join(at, name);
      const found = lstatSync(path);
      if (found.isDirectory()) walk(path, `${prefix}${name}/`);
      if (!found.isFile()) continue;
      bytes += found.size;
      if (bytes > MOST_BYTES || files.length === MOST_FILES)
        throw badTask(`${folder} holds more than ${MOST_FILES} files or ${MOST_BYTES} bytes.`);
      const content = readFileSync(path).toString("base64");
      files.push({ path: prefix + name, content, ...(found.mode & 0o100 ? { executable: true } : {}) });
    }
  };
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) walk(folder, "");
  return files;
}

/** Writes a task as a folder. @throws Problem 409 if the folder exists. */
export function writeTask(folder: string, task: Task): void {
  if (lstatSync(folder, { throwIfNoEntry: false })) throw new Problem(409, "exists", `${folder} is there already.`);
  const put = (path: string, content: string | Uint8Array, mode = 0o644): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { mode });
  };
  put("instruction.md", task.instruction.endsWith("\n") ? task.instruction : `${task.instruction}\n`);
  put(SETTINGS, settingsText(task));
  for (const part of PART_NAMES)
    for (const file of task[part] ?? [])
      put(join(PARTS[part], file.path), Buffer.from(file.content, "base64"), file.executable ? 0o755 : 0o644);
}

function settingsText({ timeout_seconds, check_seconds, budget_usd, project_name, commit, reward }: Task): string {
  const own: [name: string, value: unknown][] = [
    ["budget_usd", budget_usd],
    ["project", project_name],
    ["commit", commit],
    ["reward", reward],
  ];
  const given = own.filter(([, value]) => value !== undefined && value !== null);
  return [
    'version = "1.0"',
    "",
    "[agent]",
    `timeout_sec = ${timeout_seconds ?? 900}`,
    "",
    "[verifier]",
    `timeout_sec = ${check_seconds ?? 300}`,
    ...(given.length > 0 ? ["", "[skep]", ...given.map(([name, value]) => `${name} = ${JSON.stringify(value)}`)] : []),
    "",
  ].join("\n");
}
