/**
 * Compares merging runs of a repository with 2,000 files with plain `git merge` of the same branches in a clone. The
 * whole request is measured, including moving the branch and updating the project's folder. Also measures what a step
 * of such a project costs more because its agent has git.
 *
 *   scripts/bench merge [--files 2000] [--rounds 9]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { createGit } from "../src/adapter/git.ts";
import type { Project } from "../src/feature/projects/model.ts";
import type { Run } from "../src/feature/runs/model.ts";
import { framesOf, framesUntil } from "../src/testing/event-reader.ts";
import { startServer, type TestServer } from "../src/testing/server.ts";
import { median } from "./bench-figures.ts";

const { values } = parseArgs({
  options: { files: { type: "string", default: "2000" }, rounds: { type: "string", default: "9" } },
});
const [FILES, ROUNDS] = [Number(values.files), Number(values.rounds)];
const CHANGED = 20;
const root = mkdtempSync(join(tmpdir(), "skep-bench-merge-"));
const env = { PATH: process.env["PATH"] ?? "", HOME: root };
const printRow = (name: string, value: string) => console.log(`${name.padEnd(46)} ${value}`);

async function runGit(cwd: string, ...args: string[]): Promise<void> {
  const who = ["-c", "user.name=U", "-c", "user.email=u@localhost", "-c", "gc.auto=0"];
  const child = Bun.spawn(["git", ...who, ...args], { cwd, env, stdout: "ignore", stderr: "pipe" });
  if ((await child.exited) !== 0) throw new Error(`git ${args[0]}: ${await new Response(child.stderr).text()}`);
}

async function createUpstream(): Promise<string> {
  const folder = join(root, "upstream");
  for (let n = 0; n < FILES; n++) {
    const path = join(folder, `d${n % 50}/file${n}.txt`);
    if (n < 50) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `line ${n}\n`.repeat(1 + (n % 100)));
  }
  await runGit(folder, "init", "-q", "-b", "main");
  await runGit(folder, "add", ".");
  await runGit(folder, "commit", "-qm", "begin");
  return folder;
}

async function waitForEvent(
  server: TestServer,
  query: string,
  fits: (data: { kind: string; run_id?: string }) => boolean,
) {
  await framesUntil(framesOf<{ kind: string }>(server, `/v1/events/stream?after=0&${query}`), ({ data }) => fits(data));
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Creates runs whose commands change different files, none of them merged yet. */
async function changedRuns(server: TestServer, project: Project): Promise<Run[]> {
  const runs: Run[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const numbers = Array.from({ length: CHANGED }, (_, at) => (round * CHANGED + at) % FILES);
    const run = numbers.map((n) => `echo more >> d${n % 50}/file${n}.txt`).join("; ");
    const id = `change-${round}`;
    await server.request("POST", "/v1/pipelines", { body: { id, name: id, steps: [{ id: "change", run }] } });
    const body = { pipeline_id: id, task_description: "change", project_name: project.name };
    const made = (await server.request<Run>("POST", "/v1/runs", { body })).body;
    await waitForEvent(server, `run_id=${made.id}`, ({ kind }) => kind === "run_complete");
    runs.push(made);
  }
  return runs;
}

async function measureMerges(server: TestServer, repository: string): Promise<void> {
  const body = { name: "bench", repository, fetch_before_run: "never" };
  const project = (await server.request<Project>("POST", "/v1/projects", { body })).body;
  await waitForEvent(server, "kinds=workspace_changed", () => true);
  const runs = await changedRuns(server, project);
  const clone = join(root, "plain");
  await runGit(root, "clone", "-q", "--no-local", repository, clone);
  await runGit(
    clone,
    "fetch",
    "-q",
    join(server.data, "projects", project.id, "git"),
    "+refs/heads/run/*:refs/heads/run/*",
  );
  const [ours, plain]: [number[], number[]] = [[], []];
  for (const { id } of runs) {
    plain.push(await time(() => runGit(clone, "merge", "-q", "--no-ff", "-m", "merge", `run/${id}`)));
    ours.push(
      await time(async () => {
        const { status } = await server.request("POST", `/v1/runs/${id}/merge`);
        if (status !== 200) throw new Error(`merge answered ${status}`);
      }),
    );
  }
  console.log(`## merge (${FILES} files, ${CHANGED} changed, median of ${ROUNDS}, load ${loadavg()[0]!.toFixed(1)})`);
  printRow("git merge in a clone", `${median(plain).toFixed(0)} ms`);
  printRow("POST /v1/runs/{id}/merge", `${median(ours).toFixed(0)} ms`);
  printRow("ratio", `${(median(ours) / median(plain)).toFixed(2)} ×`);
}

async function agentGit(): Promise<void> {
  const own = createGit({ env });
  const place = { repository: join(root, "own"), name: "run_1", path: join(root, "runs/run_1") };
  const remote = { source: join(root, "upstream"), transport: "file" } as const;
  const signal = new AbortController().signal;
  await own.clone({ ...remote, repository: place.repository, workspace: join(root, "own-files"), signal });
  const added = await time(() => own.addWorktree({ ...place, branch: "run/run_1", from: "HEAD" }));
  const given: number[] = [];
  for (let depth = 50; depth < 50 + ROUNDS; depth++)
    given.push(await time(() => own.giveRepository({ ...place, branch: "run/run_1", depth, base: null })));
  const again = await time(() => own.giveRepository({ ...place, branch: "run/run_1", depth: 49 + ROUNDS, base: null }));
  console.log("## git for an agent");
  printRow("the working copy itself", `${added.toFixed(0)} ms`);
  printRow("its repository, where the branch has moved", `${median(given).toFixed(0)} ms`);
  printRow("where it has not", `${again.toFixed(0)} ms`);
}

const server = await startServer({ env: { ALLOW_LOCAL_REPOSITORIES: "true", ALLOW_HOST_SHELL: "true" } });
try {
  await measureMerges(server, await createUpstream());
  await agentGit();
} finally {
  await server.remove();
  rmSync(root, { recursive: true, force: true });
}
