import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FILE_PATCH_CHARACTERS } from "./git/changes.ts";
import { createGitCommand } from "./git/command.ts";
import { createGit } from "./git.ts";

const root = mkdtempSync(join(tmpdir(), "skep-git-"));
const upstream = join(root, "upstream");
const canary = join(root, "canary");
const env = { PATH: process.env["PATH"] ?? "", HOME: root };
const git = createGit({ env });
const never = new AbortController().signal;
const author = { name: "Agent", email: "agent@skep.localhost" };

/** Runs git as a user would, to make and read repositories. */
function plain(cwd: string, ...args: string[]): string {
  const identity = ["-c", "user.name=U", "-c", "user.email=u@example.com", "-c", "protocol.file.allow=always"];
  const ran = Bun.spawnSync(["git", ...identity, ...args], { cwd, env: { ...env, GIT_CONFIG_NOSYSTEM: "1" } });
  if (ran.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${ran.stderr.toString()}`);
  return ran.stdout.toString().trim();
}

let made = 0;
async function cloneProject() {
  const home = join(root, `project-${made++}`);
  const place = { repository: join(home, "git"), workspace: join(home, "workspace") };
  await git.clone({ source: upstream, transport: "file", ...place, signal: never });
  const run = { repository: place.repository, name: "run_1", path: join(root, `runs-${made}`, "run_1") };
  await git.addWorktree({ ...run, branch: "run/run_1", from: "HEAD" });
  return { ...place, run };
}
const filesOf = (repository: string, ref: string) =>
  plain(repository, `--git-dir=${repository}`, "ls-tree", "-r", "--name-only", ref).split("\n");

beforeAll(() => {
  mkdirSync(join(upstream, "docs"), { recursive: true });
  plain(root, "init", "-q", "-b", "trunk", upstream);
  writeFileSync(join(upstream, "README.md"), "hello\n");
  writeFileSync(join(upstream, "docs/a.md"), "a\n");
  const inner = join(root, "inner");
  mkdirSync(inner);
  plain(root, "init", "-q", "-b", "main", inner);
  writeFileSync(join(inner, "x"), "x");
  plain(inner, "add", ".");
  plain(inner, "commit", "-qm", "inner");
  plain(upstream, "submodule", "add", "-q", inner, "sub");
  plain(upstream, "add", ".");
  plain(upstream, "commit", "-qm", "first");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("clone", () => {
  test("keeps the repository apart from the working copy, and leaves submodules empty", async () => {
    const { repository, workspace } = await cloneProject();
    expect(existsSync(join(workspace, "README.md"))).toBe(true);
    expect(readdirSync(join(workspace, "sub"))).toEqual([]);
    expect(existsSync(join(repository, "hooks"))).toBe(false);
    const head = await git.head(repository);
    expect(head).toEqual({ commit: plain(upstream, "rev-parse", "HEAD"), branch: "trunk" });
  });

  test("over http: tells its progress, connects to the pinned address, follows no redirect", async () => {
    const bare = join(root, "served.git");
    plain(root, "clone", "-q", "--bare", upstream, bare);
    plain(bare, "update-server-info");
    const hosts = new Set<string | null>();
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const { pathname, search } = new URL(request.url);
        hosts.add(request.headers.get("host"));
        if (pathname.startsWith("/moved/")) return Response.redirect(`/served.git/${pathname.slice(7)}${search}`, 301);
        const file = Bun.file(join(root, pathname));
        return (await file.exists()) ? new Response(file) : new Response("", { status: 404 });
      },
    });
    try {
      const pin = { host: "git.example", port: server.port!, address: "127.0.0.1" };
      const into = (name: string) => ({
        repository: join(root, name, "git"),
        workspace: join(root, name, "workspace"),
      });
      const source = `http://git.example:${server.port}/served.git`;
      const lines: string[] = [];
      const onProgress = (line: string) => void lines.push(line);
      await git.clone({ source, transport: "http", pin, ...into("by-http"), signal: never, onProgress });
      expect(existsSync(join(root, "by-http/workspace/README.md"))).toBe(true);
      expect([...hosts]).toEqual([`git.example:${server.port}`]);
      expect(lines.some((line) => line.startsWith("Cloning into"))).toBe(true);
      const moved = { ...into("moved"), source: `http://git.example:${server.port}/moved` };
      const refused = git.clone({ ...moved, transport: "http", pin, signal: never });
      expect(await refused.catch((error) => error.code)).toBe("git_failed");
      expect(existsSync(moved.workspace) || existsSync(moved.repository)).toBe(false);
    } finally {
      await server.stop(true);
    }
  });

  test.each([
    ["an option as the address", "--upload-pack=touch CANARY", "file"],
    ["the ext transport", "ext::sh -c touch% CANARY", "https"],
    ["a path when only https may be used", "PATH", "https"],
    ["a file address when only ssh may be used", "file://PATH", "ssh"],
    ["an ssh host that is an option", "ssh://-oProxyCommand=touch CANARY/x", "ssh"],
    ["a helper's address", "fd::17/foo", "https"],
  ] as const)("refuses %s, and runs nothing", async (_what, source, transport) => {
    const target = join(root, `refused-${made++}`);
    const named = source.replace("CANARY", canary).replace("PATH", upstream);
    const place = { repository: join(target, "git"), workspace: join(target, "workspace") };
    const failed = await git.clone({ source: named, transport, ...place, signal: never }).catch((error) => error.code);
    expect(["git_failed", "bad_git_name"]).toContain(failed);
    expect([existsSync(canary), existsSync(place.workspace), existsSync(place.repository)]).toEqual([
      false,
      false,
      false,
    ]);
  });

  test("refuses branch names that git could read as something else", async () => {
    for (const branch of ["-b", "--upload-pack=x", "a..b", "a b", "", "@", "x.lock", "a/-b", "refs/../x", "a\nb"]) {
      const target = join(root, `branch-${made++}`);
      const place = { repository: join(target, "git"), workspace: join(target, "workspace") };
      const asked = git.clone({ source: upstream, transport: "file", branch, ...place, signal: never });
      expect([branch, await asked.catch((error) => error.code)]).toEqual([branch, "bad_git_name"]);
    }
  });

  test("an abort ends it and leaves nothing", async () => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise<Response>(() => {}) });
    const abort = new AbortController();
    const place = { repository: join(root, "aborted/git"), workspace: join(root, "aborted/workspace") };
    const pin = { host: "slow.example", port: server.port!, address: "127.0.0.1" };
    const source = `http://slow.example:${server.port}/x.git`;
    const onProgress = () => abort.abort(new Error("stopped"));
    const cloning = git.clone({ source, transport: "http", pin, ...place, signal: abort.signal, onProgress });
    expect(await cloning.catch((error) => error.message)).toBe("stopped");
    expect(existsSync(place.workspace) || existsSync(place.repository)).toBe(false);
    await server.stop(true);
  });

  test("carries no path of this machine in its messages", async () => {
    const place = { repository: join(root, "none/git"), workspace: join(root, "none/workspace") };
    const error = await git
      .clone({ source: join(root, "no-such"), transport: "file", ...place, signal: never })
      .catch((failed) => failed as Error);
    expect(String(error)).toContain("git clone failed");
    expect(String(error)).not.toContain(root);
  });
});

describe("worktrees", () => {
  test("work is committed on the run's branch and outlives the worktree", async () => {
    const { repository, workspace, run } = await cloneProject();
    writeFileSync(join(run.path, "new.txt"), "new\n");
    rmSync(join(run.path, "docs/a.md"));
    const first = await git.commitAll(run, { message: "step one", author });
    expect(first).toEqual({ commit: expect.stringMatching(/^[0-9a-f]{40}$/), skipped: [] });
    expect((await git.commitAll(run, { message: "nothing", author })).commit).toBeNull();
    await git.removeWorktree(run);
    await git.removeWorktree(run);
    expect(existsSync(run.path)).toBe(false);
    expect(filesOf(repository, "run/run_1")).toEqual([".gitmodules", "README.md", "new.txt", "sub"]);
    expect(existsSync(join(workspace, "new.txt"))).toBe(false);
    const range = { from: "trunk", to: "run/run_1" };
    expect((await git.changedPaths(repository, range, { after: null, limit: 10 })).files).toMatchObject([
      { path: "docs/a.md", status: "deleted", deletions: 1 },
      { path: "new.txt", status: "added", insertions: 1 },
    ]);
    expect((await git.patch(repository, range, { maxBytes: 10_000 })).patch).toContain("+new");
  });

  test("a change that is larger than asked for is cut where it is read, in the patch and in the hunks", async () => {
    const { repository, run } = await cloneProject();
    writeFileSync(join(run.path, "large.txt"), "a line of the file\n".repeat(200_000));
    await git.commitAll(run, { message: "large", author });
    const range = { from: "trunk", to: "run/run_1" };
    const { patch, cut } = await git.patch(repository, range, { maxBytes: 5_000 });
    expect([cut, patch.length]).toEqual([true, 5_000]);
    const { hunks, cut: isCut } = await git.hunks(repository, range, "large.txt");
    expect([isCut, hunks.length]).toEqual([true, 1]);
    expect(hunks[0]!.lines.join("\n").length).toBeLessThan(FILE_PATCH_CHARACTERS);
  });

  test("making one again finds it as it was left; after its removal it starts from its branch", async () => {
    const { run } = await cloneProject();
    const again = { ...run, branch: "run/run_1", from: "HEAD" };
    writeFileSync(join(run.path, "kept.txt"), "kept");
    expect(await git.addWorktree(again)).toBe(false);
    expect(existsSync(join(run.path, "kept.txt"))).toBe(true);
    await git.commitAll(run, { message: "kept", author });
    rmSync(run.path, { recursive: true });
    expect(await git.addWorktree(again)).toBe(true);
    expect(existsSync(join(run.path, "kept.txt"))).toBe(true);
  });

  test("an empty project starts with one commit and takes worktrees", async () => {
    const place = { repository: join(root, "empty/git"), workspace: join(root, "empty/workspace") };
    await git.init({ ...place, branch: "main" });
    const run = { repository: place.repository, name: "run_2", path: join(root, "empty/run_2") };
    expect(await git.addWorktree({ ...run, branch: "run/run_2", from: "HEAD" })).toBe(true);
    writeFileSync(join(run.path, "a"), "a");
    expect((await git.commitAll(run, { message: "a", author })).commit).not.toBeNull();
  });

  test("a file over the limit is left out and named, the rest is committed", async () => {
    const { repository, run } = await cloneProject();
    writeFileSync(join(run.path, "small"), "s");
    const large = Bun.spawnSync(["truncate", "-s", "101M", join(run.path, "large.bin")]);
    expect(large.exitCode).toBe(0);
    const { skipped } = await git.commitAll(run, { message: "m", author });
    expect(skipped).toEqual([{ path: "large.bin", why: "too large" }]);
    expect(filesOf(repository, "run/run_1")).toContain("small");
  });
});

/** Makes a repository that runs a program as soon as git trusts its settings. */
function armRepository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  plain(root, "init", "-q", "-b", "main", folder);
  writeFileSync(join(folder, "payload.txt"), "payload\n");
  plain(folder, "add", ".");
  plain(folder, "commit", "-qm", "armed");
  writeFileSync(join(folder, ".gitattributes"), "* filter=evil diff=evil\n");
  writeFileSync(join(folder, "payload.txt"), "changed\n");
  const script = join(root, "evil.sh");
  writeFileSync(script, `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 });
  for (const [key, value] of [
    ["core.fsmonitor", script],
    ["core.sshCommand", script],
    ["core.pager", script],
    ["filter.evil.clean", script],
    ["filter.evil.smudge", script],
    ["diff.evil.command", script],
    ["diff.evil.textconv", script],
    ["gpg.program", script],
    ["commit.gpgSign", "true"],
    ["core.hooksPath", root],
  ] as const)
    plain(folder, "config", key, value);
  mkdirSync(join(folder, ".git/hooks"), { recursive: true });
  for (const hook of ["pre-commit", "post-commit", "post-checkout", "post-index-change", "reference-transaction"])
    writeFileSync(join(folder, ".git/hooks", hook), `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 });
}

describe("what an agent may plant in its worktree", () => {
  test("the trap works when git is used carelessly (or the tests below prove nothing)", () => {
    const trap = join(root, "trap");
    armRepository(trap);
    plain(trap, "status");
    expect(existsSync(canary)).toBe(true);
    rmSync(canary);
  });

  test("a repository in place of its .git file is not obeyed; work still lands on the run's branch", async () => {
    const { repository, run } = await cloneProject();
    rmSync(join(run.path, ".git"));
    armRepository(run.path);
    const { commit } = await git.commitAll(run, { message: "m", author });
    expect(existsSync(canary)).toBe(false);
    expect(filesOf(repository, commit!)).toContain("payload.txt");
    expect(filesOf(repository, commit!).some((path) => path.startsWith(".git/"))).toBe(false);
  });

  test("a .git file that points elsewhere is not followed", async () => {
    const { repository, run } = await cloneProject();
    armRepository(join(root, "elsewhere"));
    writeFileSync(join(run.path, ".git"), `gitdir: ${join(root, "elsewhere/.git")}\n`);
    writeFileSync(join(run.path, "mine"), "mine");
    const { commit } = await git.commitAll(run, { message: "m", author });
    expect(filesOf(repository, commit!)).toContain("mine");
    await git.removeWorktree(run);
    expect(existsSync(join(root, "elsewhere/.git"))).toBe(true);
    expect(existsSync(canary)).toBe(false);
  });

  test("a nested repository is not entered; its files are kept as plain files, its ignored ones not", async () => {
    const { repository, run } = await cloneProject();
    armRepository(join(run.path, "app"));
    armRepository(join(run.path, "app/deep"));
    writeFileSync(join(run.path, ".gitignore"), "*.log\n");
    writeFileSync(join(run.path, "app/noise.log"), "noise");
    for (let round = 0; round < 2; round++) {
      writeFileSync(join(run.path, "app/round.txt"), String(round));
      const { commit } = await git.commitAll(run, { message: "m", author });
      const files = filesOf(repository, commit!);
      expect(files).toContain("app/payload.txt");
      expect(files).toContain("app/deep/payload.txt");
      expect(files).toContain("app/round.txt");
      expect(files).not.toContain("app/noise.log");
      expect(plain(repository, `--git-dir=${repository}`, "show", `${commit}:app/round.txt`)).toBe(String(round));
    }
    expect(existsSync(canary)).toBe(false);
  });

  test("a repository planted where the project has a submodule is not entered", async () => {
    const { repository, run } = await cloneProject();
    armRepository(join(run.path, "sub"));
    writeFileSync(join(run.path, "mine"), "mine");
    const { commit } = await git.commitAll(run, { message: "m", author });
    expect(filesOf(repository, commit!)).toContain("mine");
    expect(existsSync(canary)).toBe(false);
  });

  test("links are committed as links: nothing outside is read, written or deleted through them", async () => {
    const { repository, run } = await cloneProject();
    const outside = join(root, `outside-${made}`);
    mkdirSync(outside);
    writeFileSync(join(outside, "a.md"), "outside secret\n");
    rmSync(join(run.path, "docs"), { recursive: true });
    symlinkSync(outside, join(run.path, "docs"));
    symlinkSync("/etc/passwd", join(run.path, "passwd"));
    mkdirSync(join(run.path, "nest"));
    plain(root, "init", "-q", join(run.path, "nest"));
    symlinkSync(outside, join(run.path, "nest/way-out"));
    const { commit } = await git.commitAll(run, { message: "m", author });
    const tree = plain(repository, `--git-dir=${repository}`, "ls-tree", "-r", commit!);
    expect(tree).toMatch(/^120000 blob \w+\tdocs$/m);
    expect(tree).toMatch(/^120000 blob \w+\tpasswd$/m);
    expect(tree).toMatch(/^120000 blob \w+\tnest\/way-out$/m);
    expect(tree).not.toContain("docs/a.md");
    const objects = plain(repository, `--git-dir=${repository}`, "rev-list", "--objects", "--all");
    expect(objects).not.toContain("a.md\n");
    await git.removeWorktree(run);
    expect(readdirSync(outside)).toEqual(["a.md"]);
  });

  test("attributes, names and special files that would spoil a commit do not: the rest is committed", async () => {
    const { repository, run } = await cloneProject();
    writeFileSync(
      join(run.path, ".gitattributes"),
      "* filter=lfs diff=lfs merge=lfs -text working-tree-encoding=UTF-16\n",
    );
    writeFileSync(join(run.path, "-rf"), "x\n");
    writeFileSync(join(run.path, ":(exclude)*"), "x\n");
    writeFileSync(join(run.path, "new\nline"), "x\n");
    writeFileSync(join(run.path, "git~1"), "x\n");
    mkdirSync(join(run.path, "broken/.git"), { recursive: true });
    writeFileSync(join(run.path, "broken/file"), "x\n");
    Bun.spawnSync(["mkfifo", join(run.path, "pipe")]);
    writeFileSync(join(run.path, "good"), "\ufeffgood\n", "utf16le");
    const { commit } = await git.commitAll(run, { message: "--amend", author });
    const files = plain(repository, `--git-dir=${repository}`, "ls-tree", "-rz", "--name-only", commit!).split("\0");
    for (const name of ["-rf", ":(exclude)*", "new\nline", "good"]) expect(files).toContain(name);
    expect(existsSync(canary)).toBe(false);
  });

  test("files that belong to another user are committed all the same", async () => {
    if (process.getuid?.() !== 0) return;
    const { repository, run } = await cloneProject();
    writeFileSync(join(run.path, "theirs"), "theirs", { mode: 0o600 });
    Bun.spawnSync(["chown", "-R", "12345:12345", run.path]);
    const { commit } = await git.commitAll(run, { message: "m", author });
    expect(filesOf(repository, commit!)).toContain("theirs");
  });
});

test("a full disk is said as such, also where git says it before its last words; the other side's is not ours", async () => {
  const program = join(root, "git-on-a-full-disk");
  const says = (source: string, ...lines: string[]) => {
    const script = ["#!/bin/sh", ...lines.map((line) => `echo '${line}' >&2`), "exit 128", ""];
    writeFileSync(program, script.join("\n"), { mode: 0o755 });
    const ended = createGitCommand({ program, env })(["fetch", "--", source], { cwd: root, signal: never });
    return ended.then(
      () => ({ code: "", detail: "" }),
      (error: { code: string; detail: string }) => error,
    );
  };
  const last = "fatal: fetch-pack: invalid index-pack output";
  const http = "https://example.test/a.git";
  const full = "fatal: write error: No space left on device";
  expect((await says(http, full, last)).code).toBe("disk_full");
  expect((await says(http, `remote: ${full}`, last)).code).toBe("git_failed");
  expect((await says(http, "error: No space left on device: is not a file", last)).code).toBe("git_failed");
  // Either side may have written this line, so it does not count as this machine's full disk.
  for (const source of ["ssh://example.test/a.git", "/srv/a.git"])
    expect(await says(source, full, last)).toMatchObject({ code: "git_failed", detail: `git fetch failed: ${full}` });
});
