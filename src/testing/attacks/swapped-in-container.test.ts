/**
 * A36 with real means: a restricted container swaps a folder with a link to a file that only the server may read, while
 * the end of a parallel step commits the same working copy. Six of six such runs once found the file's text; now none
 * may.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGit } from "../../adapter/git.ts";
import { dockerForTests, testImage } from "../docker-image.ts";
import { lacks } from "../parts.ts";
import { type SandboxFixture, sandboxFixture } from "../sandbox-fixture.ts";
import { compileSwapper } from "../swapper.ts";

const RACE_MS = Number(process.env["SKEP_RACE_SECONDS"] ?? 3) * 1_000;
setDefaultTimeout(300_000 + 2 * RACE_MS);

const NEEDLE = "NEEDLE-for-the-server-alone";
const docker = await dockerForTests(process.env);
const base = mkdtempSync(join(tmpdir(), "skep-swapped-container-"));
const env = { PATH: process.env["PATH"] ?? "", HOME: base };
const git = createGit({ env });
const swapper = docker && compileSwapper();
let boxes: SandboxFixture | undefined;

beforeAll(async () => {
  if (docker) boxes = sandboxFixture({ docker, defaultImage: await testImage(docker) });
});
afterAll(async () => {
  await boxes?.end();
  swapper?.remove();
  rmSync(base, { recursive: true, force: true });
});

test.skipIf(!docker || lacks("C compiler", swapper !== undefined))(
  "nothing of the host comes into a commit, whatever a container swaps",
  async () => {
    const secret = join(base, "keys");
    mkdirSync(secret, { mode: 0o700 });
    writeFileSync(join(secret, "signing.key"), NEEDLE, { mode: 0o600 });
    const repository = join(base, "git");
    await git.init({ repository, workspace: join(base, "workspace"), branch: "main" });
    const run = { repository, name: "run_1", path: join(base, "run_1") };
    await git.addWorktree({ ...run, branch: "run/run_1", from: "HEAD" });
    const at = (name: string) => join(run.path, name);
    mkdirSync(at("d"));
    writeFileSync(at("d/signing.key"), "inside");
    writeFileSync(at("f"), "inside");
    symlinkSync(secret, at("l"));
    symlinkSync(join(secret, "signing.key"), at("g"));
    copyFileSync(swapper!.path, at("swapper"));
    const sandbox = await boxes!.start({ home: run.path });
    const swapping = sandbox
      .exec(["./swapper", "d", "l", "f", "g"], { timeoutMs: 600_000, maxOutputBytes: 1_000 })
      .catch(() => {});
    const seen = new Set<boolean>();
    const read = new Set<string>();
    let commits = 0;
    const end = performance.now() + RACE_MS;
    for (let round = 0; performance.now() < end || seen.size < 2 || commits < 3; round++) {
      seen.add(lstatSync(at("d")).isSymbolicLink());
      await sandbox.workspace.write("round", Buffer.from(String(round)));
      const text = await sandbox.workspace.read("d/signing.key").catch((error) => Buffer.from(error.code));
      read.add(Buffer.from(text).toString());
      const { commit } = await git.commitAll(run, { message: "m", author: { name: "A", email: "a@localhost" } });
      if (commit !== null) commits += 1;
    }
    await sandbox.stop();
    await swapping;
    expect([...read].filter((text) => text.includes(NEEDLE))).toEqual([]);
    const objects = Bun.spawnSync(["git", `--git-dir=${repository}`, "cat-file", "--batch-all-objects", "--batch"], {
      env,
    });
    expect(objects.stdout.toString("latin1")).toContain("inside");
    expect(objects.stdout.toString("latin1").includes(NEEDLE)).toBe(false);
  },
);
