/**
 * Tests whether the checks of real repositories pass in the environment that is proposed for them, and without its
 * set-up.
 *
 *   scripts/bench environments [--make-images] [--allow NETWORK] FOLDER…
 *
 * Each folder is a repository and becomes a project of a separate server. Its check first runs in the bare image. Then
 * the repository's proposal is accepted as it is, set up, and checked. `--make-images` builds images that the engine
 * lacks, from Debian. `--allow` permits private addresses (`FETCH_ALLOW`), for networks that reach a registry through
 * one. Prints a Markdown table.
 */
import { loadavg } from "node:os";
import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { ProjectEnvironment } from "../src/feature/environments/model.ts";
import type { Project } from "../src/feature/projects/model.ts";
import type { ProjectSetup } from "../src/feature/setups/model.ts";
import { skep } from "../src/testing/command.ts";
import { dockerForTests } from "../src/testing/docker-image.ts";
import { startServer } from "../src/testing/server.ts";
import { makeImage } from "./bench-environment-images.ts";

const LONGEST_MS = 3_600_000;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { "make-images": { type: "boolean", default: false }, allow: { type: "string", default: "" } },
});
if (positionals.length === 0) {
  console.error("bench environments: name folders of repositories");
  process.exit(2);
}
if (!(await dockerForTests(process.env))) process.exit(2);

interface Outcome {
  passed: boolean;
  seconds: number;
  why: string;
}

const began = loadavg()[0] ?? 0;
const server = await startServer({
  env: {
    SANDBOX: "docker",
    IMAGE_PULL: "false",
    RATE_LIMIT: "0",
    LOG_LEVEL: "error",
    ...(values.allow === "" ? {} : { FETCH_ALLOW: values.allow }),
  },
});
const totals = { all: 0, bare: 0, proposed: 0 };
try {
  console.log(
    "| repository | image | set-up | check | bare | proposed | seconds | why not |\n|---|---|---|---|---|---|---|---|",
  );
  for (const folder of positionals) console.log(await rowOf(resolve(folder)));
  const [first, last] = [began, loadavg()[0] ?? 0].map((load) => load.toFixed(1));
  console.log(`\n${totals.bare} of ${totals.all} bare, ${totals.proposed} proposed; load ${first} to ${last}`);
} finally {
  for (const { name } of (await ask<{ items: Project[] }>("GET", "/v1/projects?limit=100")).items)
    await skep(["projects", "setup", name, "--clear", "--data", server.data]);
  await server.remove();
}

async function rowOf(folder: string): Promise<string> {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-");
  const title = basename(folder).replace("__", "/");
  totals.all++;
  const project = await createProject(name, folder);
  if (project.workspace.state !== "ready") return formatRow([title, "", "", "", "", "", "", "it could not be cloned"]);
  const { proposal } = await ask<ProjectEnvironment>("GET", `/v1/projects/${project.id}/environment`);
  const { image, setup = "", check = "", env } = proposal?.definition ?? {};
  const proposed = [title, image ?? "", formatCode(setup), formatCode(check)];
  if (!proposal || image === undefined || check === "")
    return formatRow([...proposed, "", "no", "", "nothing that runs tests is proposed"]);
  // Open a new connection each time, because minutes pass between two uses.
  const engine = await dockerForTests(process.env);
  const lack = values["make-images"] && engine ? await makeImage(engine, image) : undefined;
  if (lack !== undefined) return formatRow([...proposed, "", "no", "", lack]);
  const bare = await outcomeOf(project, { definition: { image, check, ...(env && { env }) } });
  const whole = await outcomeOf(project, { hash: proposal.hash });
  totals.bare += Number(bare.passed);
  totals.proposed += Number(whole.passed);
  const formatOutcome = (one: Outcome) => (one.passed ? "passes" : "no");
  return formatRow([...proposed, formatOutcome(bare), formatOutcome(whole), whole.seconds.toFixed(0), whole.why]);
}

async function createProject(name: string, repository: string): Promise<Project> {
  let project = await ask<Project>("POST", "/v1/projects", { name, repository });
  while (project.workspace.state === "cloning") {
    await Bun.sleep(200);
    project = await ask<Project>("GET", `/v1/projects/${project.id}`);
  }
  return project;
}

/** The outcome of an environment that is accepted, set up and checked. */
async function outcomeOf({ id, name }: Project, environment: object): Promise<Outcome> {
  await ask("PUT", `/v1/projects/${id}/environment`, environment);
  const start = performance.now();
  const ran = await skep(["projects", "setup", name, "--data", server.data], { timeoutMs: LONGEST_MS });
  const seconds = (performance.now() - start) / 1_000;
  const { last, check } = await ask<ProjectSetup>("GET", `/v1/projects/${id}/setup`);
  if (last?.state !== "failed" && check?.passed) return { passed: true, seconds, why: "" };
  const log = last?.state === "failed" ? last.log : (check?.log ?? ran.stdout);
  process.stderr.write(`--- ${name}, exit code ${ran.code}\n${log.slice(-3_000)}\n`);
  return { passed: false, seconds, why: `${last?.state === "failed" ? "set-up" : "check"}: ${reasonIn(log)}` };
}

/** The line of a log that most likely names the cause. */
function reasonIn(log: string): string {
  const lines = log.split("\n").map((one) => one.trim());
  const wanted = lines.findLast((one) => one.startsWith("[It wanted to reach"));
  const named = lines.find((one) => /\b(?:error|not found|no module|cannot|fatal)\b/i.test(one));
  return (wanted ?? named ?? lines.at(-1) ?? "").slice(0, 140);
}

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await server.request<T>(method, path, { body });
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

function formatCode(text: string): string {
  return text === "" ? "" : `\`${text.replaceAll("|", "\\|")}\``;
}

function formatRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("\n", " ")).join(" | ")} |`;
}
