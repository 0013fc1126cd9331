/**
 * Measures how one person's work affects others: how long a single run takes while another user's runs fill the queue,
 * and how long `/healthz` takes while memories are written and while a working copy with many files is removed.
 *   scripts/bench beside [--runs 500] [--files 50000]
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Account, makeUser, setupAdmin } from "../src/testing/accounts.ts";
import { startServer } from "../src/testing/server.ts";
import { median, quantile } from "./bench-figures.ts";
import { runGit } from "./source-copy.ts";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "500" }, files: { type: "string", default: "50000" } },
});
const [RUNS, FILES] = [Number(values.runs), Number(values.files)];
/** Number of files in each folder of the working copy that is removed. */
const IN_A_FOLDER = 50;
const WRITES = 300;

const server = await startServer({
  env: { AUTH_ENABLED: "true", SANDBOX: "process", RATE_LIMIT: "0", ALLOW_LOCAL_REPOSITORIES: "true" },
});
const admin = await setupAdmin(server);
const ann = await makeUser(server, admin, "ann@example.test");
const ben = await makeUser(server, admin, "ben@example.test");

async function ask<T = Record<string, unknown>>(
  who: Account,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const answer = await server.request<T>(method, path, { token: who.token, ...(body === undefined ? {} : { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

const inMs = (ms: number): string => `${ms.toFixed(1)} ms`;

/** Requests `/healthz` again and again until `isDone`, and measures the answers. */
async function watchHealth(isDone: () => boolean): Promise<string> {
  const took: number[] = [];
  while (!isDone()) {
    const began = performance.now();
    await server.request("GET", "/healthz");
    took.push(performance.now() - began);
    await Bun.sleep(2);
  }
  return `p50 ${inMs(median(took))}, p99 ${inMs(quantile(took, 0.99))}, longest ${inMs(Math.max(...took))} of ${took.length}`;
}

async function runOf(who: Account): Promise<number> {
  const began = performance.now();
  const { id } = await ask<{ id: string }>(who, "POST", "/v1/runs", {
    pipeline_id: "hello",
    task_description: "Greet",
  });
  for (;;) {
    const { status } = await ask<{ status: string }>(who, "GET", `/v1/runs/${id}`);
    if (status !== "queued" && status !== "running") return performance.now() - began;
    await Bun.sleep(20);
  }
}

/** Compares a single run alone with one beside another user's queue. */
async function measureFairness(): Promise<void> {
  await ask(admin, "PUT", "/v1/settings", { limits: { user_unfinished_runs: RUNS + 10 } });
  await runOf(ben);
  const alone = await runOf(ben);
  const begin = { pipeline_id: "hello", task_description: "Greet" };
  for (let n = 0; n < RUNS; n += 50)
    await Promise.all(Array.from({ length: Math.min(50, RUNS - n) }, () => ask(ann, "POST", "/v1/runs", begin)));
  const beside = await runOf(ben);
  console.log(
    `one run: alone ${inMs(alone)}, beside ${RUNS} queued of another user ${inMs(beside)} (${(beside / alone).toFixed(1)} ×)`,
  );
}

async function measureWriters(): Promise<void> {
  let idle = false;
  const rest = Bun.sleep(3_000).then(() => {
    idle = true;
  });
  const alone = await watchHealth(() => idle);
  await rest;
  let left = 2;
  const write = async (vault: string) => {
    for (let n = 0; n < WRITES; n++)
      await ask(ann, "POST", `/v1/memory/vaults/${vault}/entries`, {
        title: `Note ${vault} ${n}`,
        content: `Fact ${n} of ${vault}.`,
      });
    left--;
  };
  const writers = Promise.all([write("scribe"), write("engineer")]);
  const beside = await watchHealth(() => left === 0);
  await writers;
  console.log(`/healthz alone: ${alone}\n/healthz beside two writers of memories: ${beside}`);
}

async function measureRemoval(): Promise<void> {
  const repository = join(server.data, "..", `bench-beside-${process.pid}`);
  mkdirSync(repository);
  writeFileSync(join(repository, ".gitignore"), "built/\n");
  runGit(repository, "init", "-q", "-b", "main");
  runGit(repository, "add", "-A");
  runGit(repository, "commit", "-qm", "all");
  await ask(admin, "POST", "/v1/projects", { name: "many", repository });
  const steps = [
    { id: "greet", agent: "scribe", model: "demo/scripted", input: "Greet" },
    { id: "go", approval: { message: "Go on?" } },
  ];
  await ask(admin, "POST", "/v1/pipelines", { id: "waits", name: "Waits", steps });
  const { id } = await ask<{ id: string }>(admin, "POST", "/v1/runs", {
    pipeline_id: "waits",
    task_description: "x",
    project_name: "many",
  });
  const isWaiting = async () => (await ask<{ items: unknown[] }>(admin, "GET", "/v1/approvals")).items.length > 0;
  while (!(await isWaiting())) await Bun.sleep(50);
  const built = join(server.data, "workspaces", id, "built");
  for (let n = 0; n < FILES; n++) {
    const folder = join(built, String(Math.floor(n / IN_A_FOLDER)));
    if (n % IN_A_FOLDER === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, String(n)), "");
  }
  await ask(admin, "POST", `/v1/runs/${id}/approve`, { step_id: "go", approved: true });
  const began = performance.now();
  const health = await watchHealth(() => !existsSync(built));
  console.log(`/healthz while ${FILES} files are removed (${inMs(performance.now() - began)}): ${health}`);
  rmSync(repository, { recursive: true, force: true });
}

console.log(`load ${loadavg()[0]!.toFixed(1)}`);
try {
  await measureWriters();
  await measureRemoval();
  await measureFairness();
} finally {
  await server.remove();
}
