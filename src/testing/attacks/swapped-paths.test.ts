/**
 * A36: the server never resolves a path inside an agent's working copy. Folders and files are swapped with links
 * without pause while the server works on the same names. Nothing to which the links lead may come back. A pipe or an
 * endless device left there must not block anything.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGit } from "../../adapter/git.ts";
import { createProcessSandboxes } from "../../adapter/sandbox/process/driver.ts";
import { createWorkspaceFiles } from "../../adapter/sandbox/workspace-files.ts";
import { createGraphSession } from "../../graph/serve/session.ts";
import { startSwapper } from "../swapper.ts";

/** How long each race runs, in ms. An hour proves more than a second. */
const RACE_MS = Number(process.env["SKEP_RACE_SECONDS"] ?? 3) * 1_000;
setDefaultTimeout(300_000 + 4 * RACE_MS);

const NEEDLE = "NEEDLE-outside-of-every-workspace";
const base = mkdtempSync(join(tmpdir(), "skep-swapped-"));
const outside = join(base, "outside");
const env = { PATH: process.env["PATH"] ?? "", HOME: base };
const git = createGit({ env });
const author = { name: "Agent", email: "agent@skep.localhost" };
const secret = `"""${NEEDLE}"""\nTOKEN = "${NEEDLE}"\n\ndef connect(token="${NEEDLE}"):\n    return token\n`;
const harmless = '"""inside"""\nTOKEN = "inside"\n\ndef connect(token="inside"):\n    return token\n';

beforeAll(() => {
  mkdirSync(join(outside, "deep"), { recursive: true });
  for (const name of ["conf.py", "deep/conf.py", ".gitignore"]) writeFileSync(join(outside, name), secret);
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function plain(repository: string, ...args: string[]): Buffer {
  const ran = Bun.spawnSync(["git", `--git-dir=${repository}`, ...args], { env });
  if (ran.exitCode !== 0) throw new Error(`git ${args[0]}: ${ran.stderr}`);
  return ran.stdout;
}

let made = 0;
/** Creates a worktree with a folder, a nested folder and a file, each beside a similar link that leads outside. */
async function createTraps() {
  const home = join(base, `project-${made++}`);
  const repository = join(home, "git");
  await git.init({ repository, workspace: join(home, "workspace"), branch: "main" });
  const run = { repository, name: "run_1", path: join(home, "run_1") };
  await git.addWorktree({ ...run, branch: "run/run_1", from: "HEAD" });
  const at = (name: string) => join(run.path, name);
  for (const folder of ["d", "up/deep"]) mkdirSync(at(folder), { recursive: true });
  for (const file of ["d/conf.py", "up/deep/conf.py", "f.py"]) writeFileSync(at(file), harmless);
  symlinkSync(outside, at("l"));
  symlinkSync(outside, at("up-link"));
  symlinkSync(join(outside, "conf.py"), at("f-link.py"));
  const pairs = [
    ["d", "l"],
    ["up", "up-link"],
    ["f.py", "f-link.py"],
  ].map(([a, b]) => [at(a!), at(b!)] as const);
  return { home, run, pairs };
}

/** Repeats the action until the time is over and both sides of the swap were seen. */
async function race(pairs: readonly (readonly [string, string])[], act: (round: number) => Promise<void>) {
  const swapper = startSwapper(pairs);
  const seen = new Set<boolean>();
  const end = performance.now() + RACE_MS;
  try {
    for (let round = 0; performance.now() < end || seen.size < 2; round++) {
      seen.add(lstatSync(pairs[0]![0]).isSymbolicLink());
      await act(round);
    }
  } finally {
    await swapper.stop();
  }
}

function attempt(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return String(error);
  }
}

function filesHolding(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path, "latin1").includes(text));
}

describe("while names are swapped", () => {
  test("no commit holds what is outside", async () => {
    const { run, pairs } = await createTraps();
    let commits = 0;
    await race(pairs, async (round) => {
      writeFileSync(join(run.path, "round"), String(round));
      const { commit } = await git.commitAll(run, { message: "m", author });
      if (commit !== null) commits += 1;
    });
    expect(commits).toBeGreaterThan(2);
    const objects = plain(run.repository, "cat-file", "--batch-all-objects", "--batch").toString("latin1");
    expect(objects).toContain("inside");
    expect(objects.includes(NEEDLE)).toBe(false);
    plain(run.repository, "fsck", "--strict");
  });

  test("no file tool reads, writes or lists what is outside", async () => {
    const { run, pairs } = await createTraps();
    const files = createWorkspaceFiles(run.path);
    const answers = new Set<string>();
    await race(pairs, async () => {
      for (const path of ["d/conf.py", "up/deep/conf.py", "f.py"]) {
        const read = await files.read(path).catch((error) => error.code as string);
        answers.add(typeof read === "string" ? read : Buffer.from(read).toString());
      }
      await files.write("d/mine", Buffer.from("mine")).catch(() => {});
      const listed = await files.list("up").catch(() => []);
      expect(listed.map(({ name }) => name)).not.toContain("conf.py");
    });
    expect([...answers].filter((answer) => answer.includes(NEEDLE))).toEqual([]);
    expect(answers).toContain(harmless);
    expect(lstatSync(join(outside, "mine"), { throwIfNoEntry: false })).toBeUndefined();
  });

  test("no search by a process of this machine reads what is outside", async () => {
    const { run, pairs } = await createTraps();
    const spec = { executionId: "exec_1", sessionId: "sess_1", agentId: "a", home: run.path, network: "none" as const };
    const driver = createProcessSandboxes({ allowHostShell: false });
    const sandbox = await driver.start({ ...spec, memoryMb: 64, cpus: 1, env: {} }, new AbortController().signal);
    const files = ["d/conf.py", "up/deep/conf.py", "f.py"];
    let found = "";
    await race(pairs, async () => {
      const limits = { timeoutMs: 240_000, maxOutputBytes: 100_000 };
      found += (await sandbox.exec(["grep", "-H", "TOKEN", "--"], { ...limits, files })).output;
    });
    await sandbox.stop();
    expect(found).toContain('d/conf.py:TOKEN = "inside"');
    expect(found.includes(NEEDLE)).toBe(false);
  });

  test("no graph holds what is outside, nor does an answer", async () => {
    const { home, run, pairs } = await createTraps();
    const gitDir = join(run.repository, "worktrees/run_1");
    const session = createGraphSession({ root: run.path, gitDir, store: join(home, "graph") });
    const answers: string[] = [];
    await git.commitAll(run, { message: "m", author });
    await race(pairs, async (round) => {
      writeFileSync(join(run.path, "round.py"), `ROUND = ${round}\n`);
      await session.index({ force: round % 2 === 0 });
      for (const symbol of ["connect", "TOKEN"])
        answers.push(JSON.stringify([attempt(() => session.context(symbol)), await session.changes()]));
      answers.push(JSON.stringify(session.query({ query: "connect token inside", includeCode: true, limit: 50 })));
    });
    session.close();
    expect(answers.join("")).toContain("inside");
    expect(answers.join("").includes(NEEDLE)).toBe(false);
    expect(filesHolding(join(home, "graph"), NEEDLE)).toEqual([]);
  });

  test("removing a working copy removes nothing outside", async () => {
    const end = performance.now() + RACE_MS;
    do {
      const { run, pairs } = await createTraps();
      const swapper = startSwapper(pairs);
      await git.removeWorktree(run).catch(() => {});
      await swapper.stop();
      await git.removeWorktree(run);
    } while (performance.now() < end);
    for (const name of ["conf.py", "deep/conf.py"]) expect(lstatSync(join(outside, name)).isFile()).toBe(true);
  });
});

describe("what is no regular file", () => {
  test("is left out of a commit and named, and holds nothing up", async () => {
    const { run } = await createTraps();
    const at = (name: string) => join(run.path, name);
    Bun.spawnSync(["mkfifo", at("pipe"), at("d/pipe"), at("up/.gitignore")]);
    symlinkSync("/dev/zero", at(".gitignore"));
    symlinkSync("/dev/zero", at(".gitattributes"));
    rmSync(at("d/conf.py"));
    Bun.spawnSync(["mkfifo", at("d/conf.py")]);
    using socket = Bun.listen({ unix: at("socket"), socket: { data() {} } });
    const { commit, skipped } = await git.commitAll(run, { message: "m", author });
    expect(socket).toBeDefined();
    expect(commit).not.toBeNull();
    expect(skipped.map(({ path, why }) => `${path}: ${why}`).sort()).toEqual(
      ["d/conf.py", "d/pipe", "pipe", "socket", "up/.gitignore"].map((path) => `${path}: no regular file`),
    );
  });

  test("costs an index nothing: neither a pipe nor an endless device is read, wherever git or a language looks", async () => {
    const { home, run } = await createTraps();
    const at = (name: string) => join(run.path, name);
    for (const name of ["d/.gitignore", "tsconfig.json", "d/pyproject.toml", "pipe.py", "d/go.mod"])
      Bun.spawnSync(["mkfifo", at(name)]);
    for (const name of [".gitmodules", ".gitignore", "package.json", "zero.py", ".gitattributes"])
      symlinkSync("/dev/zero", at(name));
    writeFileSync(at("app.ts"), 'import { x } from "./other";\nexport const y = x;\n');
    const gitDir = join(run.repository, "worktrees/run_1");
    for (const place of [{ root: run.path, gitDir }, { root: run.path }]) {
      const session = createGraphSession({ ...place, store: join(home, `graph-${"gitDir" in place}`) });
      const memory = process.memoryUsage().rss;
      const { manifest } = await session.index({ force: true });
      await session.status();
      await session.changes();
      session.close();
      expect(process.memoryUsage().rss - memory).toBeLessThan(500 * 1024 * 1024);
      expect(manifest.files).toBe(4);
      expect(manifest.skipped).toContainEqual({ path: "zero.py", reason: "symbolic link" });
    }
  });
});

describe("a folder that became a link", () => {
  test("gives the graph nothing of what it leads to, nor do files beside the sources", async () => {
    const { home, run } = await createTraps();
    await git.commitAll(run, { message: "m", author });
    rmSync(join(run.path, "d"), { recursive: true });
    symlinkSync(outside, join(run.path, "d"));
    for (const name of ["package.json", "tsconfig.json"]) symlinkSync(join(outside, "conf.py"), join(run.path, name));
    const session = createGraphSession({
      root: run.path,
      gitDir: join(run.repository, "worktrees/run_1"),
      store: join(home, "graph"),
    });
    const { manifest } = await session.index({ force: true });
    const { nodes } = session.graphData({ limit: 1_000 });
    session.close();
    expect(nodes.map(({ file_path }) => file_path).filter((path) => path?.startsWith("d/"))).toEqual([]);
    expect(manifest.files).toBe(2);
    expect(filesHolding(join(home, "graph"), NEEDLE)).toEqual([]);
  });
});
