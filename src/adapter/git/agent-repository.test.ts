/** The repositories of agents: what they show, and that nothing an agent does to them reaches the server. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { dockerForTests } from "../../testing/docker-image.ts";
import { gitImage } from "../../testing/git-image.ts";
import { EXEC, sandboxFixture } from "../../testing/sandbox-fixture.ts";
import type { DockerClient } from "../docker.ts";
import { createGit, type WorktreePlace } from "../git.ts";

const root = mkdtempSync(join(tmpdir(), "skep-agent-git-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const git = createGit({ env: { PATH: process.env["PATH"] ?? "" } });
const AUTHOR = { name: "Skep", email: "skep@localhost" };

/** Runs git as an agent would, with all settings of its repository. */
function agentGit(path: string, ...args: string[]): string {
  const env = { PATH: process.env["PATH"] ?? "", HOME: path, GIT_CONFIG_NOSYSTEM: "1" };
  const safe = ["-c", "safe.directory=*"];
  const { stdout, stderr, exitCode } = Bun.spawnSync(["git", ...safe, ...args], { cwd: path, env });
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout.toString().trim();
}

let place: WorktreePlace;
let repository: string;
let base: string;
const branch = "run/mine";
const commit = async (file: string, message: string) => {
  writeFileSync(join(place.path, file), `${message}\n`);
  return (await git.commitAll(place, { message, author: AUTHOR })).commit!;
};
const give = (depth = 50) => git.giveRepository({ ...place, branch, depth, base });

beforeEach(async () => {
  const home = mkdtempSync(join(root, "home-"));
  repository = join(home, "git");
  await git.init({ repository, workspace: join(home, "workspace"), branch: "main" });
  const other = { repository, name: "other", path: join(home, "runs/other") };
  await git.addWorktree({ ...other, branch: "run/other", from: "HEAD" });
  writeFileSync(join(other.path, "theirs.txt"), "their secret plan\n");
  await git.commitAll(other, { message: "theirs", author: AUTHOR });
  base = (await git.head(repository)).commit!;
  place = { repository, name: "mine", path: join(home, "runs/mine") };
  await git.addWorktree({ ...place, branch, from: "HEAD" });
});

describe("the repository of an agent", () => {
  test("shows the history of its own branch, clean, with the tag base where the run began", async () => {
    await commit("a.txt", "one");
    await commit("a.txt", "two");
    expect(await give()).toBe(true);
    expect(agentGit(place.path, "log", "--format=%s").split("\n")).toEqual(["two", "one", "Start"]);
    expect(agentGit(place.path, "status", "--porcelain", "--branch")).toBe(`## ${branch}`);
    expect(agentGit(place.path, "rev-parse", "base^{commit}")).toBe(base);
    expect(agentGit(place.path, "diff", "--stat", "base")).toContain("a.txt");
    expect(agentGit(place.path, "blame", "-s", "a.txt")).toContain("two");
  });

  test("holds nothing else of the project: no other branch or its content, no remote, no hook", async () => {
    await give();
    expect(agentGit(place.path, "for-each-ref", "--format=%(refname)").split("\n")).toEqual([
      `refs/heads/${branch}`,
      "refs/tags/base",
    ]);
    expect(agentGit(place.path, "remote")).toBe("");
    const theirs = (await git.commitOf(repository, "refs/heads/run/other"))!;
    expect(() => agentGit(place.path, "cat-file", "-e", theirs)).toThrow();
    expect(existsSync(join(place.path, ".git/hooks"))).toBe(false);
    const words = readdirSync(join(place.path, ".git"), { recursive: true }) as string[];
    for (const name of words.filter((one) => /^(config|HEAD|packed-refs|info\/.*|shallow)$/.test(one)))
      expect(readFileSync(join(place.path, ".git", name), "utf8")).not.toContain(dirname(repository));
  });

  test("goes down to the depth that is set", async () => {
    for (const text of ["1", "2", "3", "4"]) await commit("a.txt", text);
    await give(2);
    expect(agentGit(place.path, "log", "--format=%s").split("\n")).toEqual(["4", "3"]);
    await give(4);
    expect(agentGit(place.path, "log", "--format=%s").split("\n")).toEqual(["4", "3", "2", "1"]);
  });

  test("takes an agent's commits as what they left in the files; the next step finds the server's commit instead", async () => {
    await give();
    writeFileSync(join(place.path, "work.txt"), "done\n");
    agentGit(place.path, "add", "work.txt");
    agentGit(place.path, "commit", "-q", "-m", "by the agent");
    expect(await give()).toBe(false);
    expect(agentGit(place.path, "log", "-1", "--format=%s")).toBe("by the agent");
    const { commit: kept } = await git.commitAll(place, { message: "build: done", author: AUTHOR });
    expect(kept).not.toBeNull();
    expect(await give()).toBe(true);
    expect(agentGit(place.path, "log", "--format=%s").split("\n")).toEqual(["build: done", "Start"]);
    expect(agentGit(place.path, "status", "--porcelain")).toBe("");
    expect(await git.commitOf(repository, `refs/heads/${branch}`)).toBe(kept);
  });

  const PLANTED: Record<string, (dotGit: string, outside: string, ran: string) => void> = {
    "hooks, a monitor, filters and a pager": (dotGit, _outside, ran) => {
      const script = `#!/bin/sh\ntouch ${ran}\n`;
      for (const name of ["pre-commit", "post-commit", "post-checkout", "reference-transaction", "post-index-change"]) {
        mkdirSync(join(dotGit, "hooks"), { recursive: true });
        writeFileSync(join(dotGit, "hooks", name), script);
        chmodSync(join(dotGit, "hooks", name), 0o755);
      }
      const run = `touch ${ran}; cat`;
      writeFileSync(
        join(dotGit, "config"),
        `[core]\n\tfsmonitor = ${run}\n\tpager = ${run}\n\tsshCommand = ${run}\n[filter "x"]\n\tclean = ${run}\n\tsmudge = ${run}\n[uploadpack]\n\tpackObjectsHook = ${run}\n`,
      );
      writeFileSync(join(dirname(dotGit), ".gitattributes"), "* filter=x\n");
    },
    "a link in place of .git": (dotGit, outside) => {
      rmSync(dotGit, { recursive: true });
      symlinkSync(outside, dotGit);
    },
    "a file that names the project's repository": (dotGit) => {
      rmSync(dotGit, { recursive: true });
      writeFileSync(dotGit, `gitdir: ${repository}\n`);
    },
    "links in place of its folders": (dotGit, outside) => {
      for (const name of ["objects", "refs", "info"]) {
        rmSync(join(dotGit, name), { recursive: true });
        symlinkSync(outside, join(dotGit, name));
      }
    },
    "alternates of other repositories": (dotGit) => {
      writeFileSync(join(dotGit, "objects/info/alternates"), `${join(repository, "objects")}\n`);
      writeFileSync(join(dotGit, "commondir"), `${repository}\n`);
    },
    "no .git at all": (dotGit) => rmSync(dotGit, { recursive: true }),
  };

  test.each(Object.keys(PLANTED))("stays the agent's own affair when it plants %s", async (name) => {
    const outside = mkdtempSync(join(root, "outside-"));
    writeFileSync(join(outside, "kept"), "kept");
    const ran = join(root, `ran-${Bun.hash(name)}`);
    await give();
    const dotGit = join(place.path, ".git");
    if (name.startsWith("alternates")) mkdirSync(join(dotGit, "objects/info"), { recursive: true });
    PLANTED[name]!(dotGit, outside, ran);
    const heads = () => Bun.spawnSync(["git", "--git-dir", repository, "for-each-ref"]).stdout.toString();
    const before = heads();
    const mine = await commit("a.txt", "one");
    expect(await give()).toBe(true);
    expect(heads()).toBe(before.replace(`${base} commit\trefs/heads/run/mine`, `${mine} commit\trefs/heads/run/mine`));
    expect(existsSync(ran)).toBe(false);
    expect(readdirSync(outside)).toEqual(["kept"]);
    expect(agentGit(place.path, "log", "-1", "--format=%s")).toBe("one");
    expect(existsSync(join(dotGit, "hooks"))).toBe(false);
    await git.removeWorktree(place);
    expect(readdirSync(outside)).toEqual(["kept"]);
    expect(readdirSync(dirname(place.path))).toEqual(["other"]);
  });
});

const docker = await dockerForTests(process.env);

describe.skipIf(!docker)("git in a container", () => {
  test("reads, blames and commits on the branch, and reaches nothing of the project", async () => {
    const engine = docker as DockerClient;
    const fixture = sandboxFixture({ docker: engine, defaultImage: await gitImage(engine) });
    try {
      await commit("a.txt", "one");
      await give();
      const sandbox = await fixture.start({ home: place.path });
      const sh = async (script: string) => (await sandbox.exec(["sh", "-c", script], EXEC)).output.trim();
      expect(await sh("git log --format=%s && git status --porcelain && git blame -s a.txt | grep -c one")).toBe(
        "one\nStart\n1",
      );
      expect(
        await sh("echo two > a.txt && git diff --stat && git commit -qam two && git log -1 --format='%s %an'"),
      ).toContain("two Skep");
      expect(await sh("git branch -a; git remote; git fetch 2>&1; git push 2>&1 | head -1")).toContain("* run/mine");
      await sandbox.stop();
      const { commit: kept } = await git.commitAll(place, { message: "build: two", author: AUTHOR });
      const { patch } = await git.patch(repository, { from: base, to: kept! }, { maxBytes: 10_000 });
      expect(patch).toContain("+two");
    } finally {
      await fixture.end();
    }
  }, 300_000);
});
