/**
 * Compares our commit, which works on file descriptors, with `git add`: for all files new and for few files changed.
 * Also measures the longest time that others waited meanwhile, and the cost of opening a file below a folder in an
 * executable.
 *
 *   scripts/bench commit [FILES]      100,000 unless said otherwise
 */
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createGit } from "../src/adapter/git.ts";
import { mainThreadMs } from "../src/testing/main-thread.ts";
import { median } from "./bench-figures.ts";

const FILES = Number(process.argv[2] ?? 100_000);
const ROUNDS = 5;
const CHANGED = 10;
const AT_ONCE = 100;
const base = mkdtempSync(join(tmpdir(), "skep-bench-commit-"));
const hostEnv = { PATH: process.env["PATH"] ?? "", HOME: base };
const git = createGit({ env: hostEnv });

const pathOf = (n: number) => `d${Math.floor(n / AT_ONCE) % 40}/e${Math.floor(n / AT_ONCE)}/file${n % AT_ONCE}.txt`;
const textOf = (n: number) => `content ${n} `.repeat(1 + ((n * 31) % 120));

function fill(root: string): void {
  for (let n = 0; n < FILES; n++) {
    const path = join(root, pathOf(n));
    if (n % AT_ONCE === 0) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, textOf(n));
  }
}

function change(root: string, round: number): void {
  for (let n = 0; n < CHANGED; n++) appendFileSync(join(root, pathOf((n * AT_ONCE + round) % FILES)), "more");
}

async function time(act: () => Promise<unknown>): Promise<{ ms: number; stallMs: number }> {
  // Measured in the main thread's own time, because other load on the machine is not our stall.
  let stallMs = 0;
  let last = mainThreadMs(process.pid);
  const watch = setInterval(() => {
    const now = mainThreadMs(process.pid);
    stallMs = Math.max(stallMs, now - last);
    last = now;
  }, 1);
  const started = performance.now();
  await act();
  const ms = performance.now() - started;
  clearInterval(watch);
  return { ms, stallMs };
}

/** `git add --all` for a copy of the same files, in a separate repository. */
function plainGit(workTree: string, gitDir: string) {
  const env = { ...hostEnv, GIT_DIR: gitDir, GIT_WORK_TREE: workTree };
  const run = async (...args: string[]) => {
    const code = await Bun.spawn(["git", "-c", "gc.auto=0", ...args], { cwd: workTree, env, stderr: "ignore" }).exited;
    if (code !== 0) throw new Error(`git ${args[0]} ended with ${code}`);
  };
  const by = ["-c", "user.name=U", "-c", "user.email=u@localhost"];
  return { add: () => run("add", "--all"), commit: () => run(...by, "commit", "-qm", "m") };
}

const show = (what: string, ms: number, beside: string) =>
  console.log(`${what.padEnd(34)} ${ms.toFixed(0).padStart(6)} ms  ${beside}`);
const formatRatio = (a: number, b: number) => `${(a / b).toFixed(2)} ×`;

async function measureCommits(): Promise<void> {
  const repository = join(base, "git");
  await git.init({ repository, workspace: join(base, "workspace"), branch: "main" });
  const run = { repository, name: "run_1", path: join(base, "run_1") };
  await git.addWorktree({ ...run, branch: "run/run_1", from: "HEAD" });
  fill(run.path);
  const copy = join(base, "copy");
  cpSync(run.path, copy, { recursive: true, filter: (path) => !path.endsWith("/.git") });
  Bun.spawnSync(["git", "init", "-q", "--bare", join(base, "plain")], { env: hostEnv });
  const plain = plainGit(copy, join(base, "plain"));
  const commit = () => git.commitAll(run, { message: "m", author: { name: "A", email: "a@localhost" } });

  console.log(`## commit (${FILES} files)`);
  const add = await time(plain.add);
  const made = await time(plain.commit);
  const first = await time(commit);
  show("all new: git add", add.ms, "");
  show("all new: git commit after it", made.ms, "");
  show(
    "all new: ours",
    first.ms,
    `${formatRatio(first.ms, add.ms)} git add; others waited ${first.stallMs.toFixed(0)} ms at most`,
  );
  // Wait until the files are no longer "racily clean" for git and for us, so that unchanged files need not be read.
  await Bun.sleep(4_000);
  await commit();
  await plain.add();
  const ours: { ms: number; stallMs: number }[] = [];
  const adds: number[] = [];
  const whole: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    change(copy, round);
    const added = await time(plain.add);
    adds.push(added.ms);
    whole.push(added.ms + (await time(plain.commit)).ms);
    change(run.path, round);
    ours.push(await time(commit));
  }
  const again = median(ours.map(({ ms }) => ms));
  const stall = Math.max(...ours.map(({ stallMs }) => stallMs));
  show(`${CHANGED} changed: git add`, median(adds), `median of ${ROUNDS}`);
  show(`${CHANGED} changed: git add and commit`, median(whole), "");
  const beside = `${formatRatio(again, median(adds))} git add, ${formatRatio(again, median(whole))} git add and commit`;
  show(`${CHANGED} changed: ours`, again, `${beside}; others waited ${stall.toFixed(0)} ms at most`);
}

async function measureOpens(): Promise<void> {
  const outfile = join(base, "open-cost");
  const built = await Bun.build({ entrypoints: [resolve(import.meta.dir, "open-cost.ts")], compile: { outfile } });
  if (!built.success) throw new Error(built.logs.join("\n"));
  writeFileSync(join(base, "file"), "x");
  const ran = Bun.spawnSync([outfile, base, "file"]);
  const figures = JSON.parse(ran.stdout.toString()) as [number, number][];
  const [below, plain] = [0, 1].map((at) => median(figures.map((pair) => pair[at]!))) as [number, number];
  console.log("## open and close in an executable");
  console.log(`below a folder, with its look    ${below.toFixed(2)} µs`);
  console.log(`node:fs by path                    ${plain.toFixed(2)} µs`);
}

try {
  await measureCommits();
  await measureOpens();
} finally {
  rmSync(base, { recursive: true, force: true });
}
