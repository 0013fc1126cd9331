/**
 * What 1,000 runs leave behind, and what remains of it after they were deleted: rows, bytes, files, loose objects.
 * `bun scripts/bench-history.ts [runs]`, with SKEP_BINARY.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { startServer } from "../src/testing/server.ts";

const RUNS = Number(process.argv[2] ?? 1_000);
const AT_ONCE = 8;
const root = mkdtempSync(join(tmpdir(), "skep-bench-history-"));
const write = { tool: "write", input: { path: "made.txt", content: "some lines\nof an agent\n" } };
const done = { tool: "complete", input: { outputs: {}, summary: "done" } };
const script = { version: 1, steps: { work: [{ tool_calls: [write] }, { tool_calls: [done] }] } };
writeFileSync(join(root, "script.json"), JSON.stringify(script));
const upstream = join(root, "upstream");
mkdirSync(upstream);
const runGit = (cwd: string, ...args: string[]) =>
  Bun.spawnSync(["git", "-c", "user.name=U", "-c", "user.email=u@example.com", ...args], { cwd }).stdout.toString();
runGit(upstream, "init", "-q", "-b", "trunk");
writeFileSync(join(upstream, "README.md"), "hello\n");
runGit(upstream, "add", ".");
runGit(upstream, "commit", "-qm", "first");

let server = await startServer({
  env: { DEMO_SCRIPT: join(root, "script.json"), ALLOW_HOST_SHELL: "true", ALLOW_LOCAL_REPOSITORIES: "true" },
});
const call = async <T = { id: string }>(method: string, path: string, body?: unknown): Promise<T> => {
  const { status, body: answer } = await server.request<T>(method, path, body === undefined ? {} : { body });
  if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
  return answer;
};
await call("POST", "/v1/agents", { id: "ann", name: "Ann", prompt: "Work." });
const steps = [{ id: "work", agent: "ann", input: "Do it" }];
await call("POST", "/v1/pipelines", { id: "p", name: "P", defaults: { model: "demo/scripted" }, steps });
const project = await call("POST", "/v1/projects", { name: "measured", repository: upstream });
while ((await call<{ workspace: { state: string } }>("GET", `/v1/projects/${project.id}`)).workspace.state !== "ready")
  await Bun.sleep(100);

/** Number of files below a folder, and their size in bytes. */
function filesBelow(folder: string): { files: number; bytes: number } {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const bytes = found.map(
    (entry) => statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return { files: found.length, bytes: bytes.reduce((all, one) => all + one, 0) };
}
const TABLES = ["runs", "steps", "sessions", "executions", "messages", "tool_calls", "events", "llm_calls", "prompts"];
function measure() {
  const db = new Database(join(server.data, "skep.db"), { readonly: true });
  const rows = TABLES.map((table) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0);
  db.close();
  const clone = join(server.data, "projects", project.id, "git");
  const [loose = "0"] = runGit(clone, "--git-dir", clone, "count-objects").split(" ");
  return {
    rows: Object.fromEntries(TABLES.map((table, at) => [table, rows[at]])),
    database: statSync(join(server.data, "skep.db")).size,
    wal: statSync(join(server.data, "skep.db-wal"), { throwIfNoEntry: false })?.size ?? 0,
    workspaces: readdirSync(join(server.data, "workspaces")).length,
    clone: filesBelow(clone),
    loose: Number(loose),
    branches: runGit(clone, "--git-dir", clone, "branch", "--list", "run/*").split("\n").filter(Boolean).length,
    data: filesBelow(server.data),
  };
}
async function oneRun(): Promise<string> {
  const { id } = await call("POST", "/v1/runs", {
    pipeline_id: "p",
    task_description: "Do it well",
    project_name: "measured",
  });
  await server.request("GET", `/v1/events/stream?run_id=${id}`);
  return id;
}

const report: Record<string, unknown> = { "before any run": measure() };
const ids: string[] = [];
const began = performance.now();
const makeRuns = async () => {
  while (ids.length < RUNS) {
    ids.push("");
    ids[ids.indexOf("")] = await oneRun();
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, makeRuns));
report["seconds of running"] = Math.round((performance.now() - began) / 1_000);
report[`after ${RUNS} runs`] = measure();
await call("PUT", "/v1/settings", { retention: { runs_days: 90 } });
await server.stop();
const old = new Database(join(server.data, "skep.db"));
old.exec("UPDATE runs SET finished_at = '2020-01-01T00:00:00.000Z'");
old.close();
server = await startServer({ data: server.data });
// Measure how long other requests take during the deletion, one after another.
const waits: number[] = [];
let isOver = false;
const watch = (async () => {
  while (!isOver) {
    const from = performance.now();
    await call("PUT", `/v1/projects/${project.id}`, { description: String(from) });
    waits.push(performance.now() - from);
    await Bun.sleep(20);
  }
})();
const from = performance.now();
for (let left = RUNS; left > 0; await Bun.sleep(200))
  left = (await call<{ items: unknown[] }>("GET", "/v1/runs?limit=1")).items.length;
for (let left = 1; left > 0; await Bun.sleep(200))
  left = (await call<{ items: { finished_at: string | null }[] }>("GET", "/v1/jobs?limit=50")).items.filter(
    (job) => job.finished_at === null,
  ).length;
isOver = true;
await watch.catch(() => {});
report["seconds of deleting"] = Math.round((performance.now() - from) / 100) / 10;
waits.sort((a, b) => a - b);
report["a write meanwhile, ms"] = {
  p50: waits[waits.length >> 1],
  p99: waits[Math.floor(waits.length * 0.99)],
  max: waits.at(-1),
};
report["after they were deleted"] = measure();
console.log(JSON.stringify(report, null, 1));
await server.remove();
rmSync(root, { recursive: true, force: true });
