/** A project's repository that others change: with rewritten history, hooks, another default branch, or hidden refs. */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { becomes } from "../../testing/attacks/waiting.ts";
import { plainGit } from "../../testing/plain-git.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { resolveAddress } from "./submodules.ts";

setDefaultTimeout(300_000);

const root = mkdtempSync(join(tmpdir(), "skep-upstream-"));
let server: TestServer;
let upstream: string;
let bare: string;
let id: string;
beforeAll(async () => {
  server = await startServer({ env: { ALLOW_HOST_SHELL: "true", ALLOW_LOCAL_REPOSITORIES: "true" } });
  const steps = [
    {
      id: "write",
      run: "echo changed >> README.md; [ ! -f hide ] || { echo '*.js -diff' > .gitattributes; echo 'evil()' > a.js; }",
    },
  ];
  await call("POST", "/v1/pipelines", { id: "write", name: "Write", steps });
});
afterAll(async () => {
  await server.remove();
  rmSync(root, { recursive: true, force: true });
});

const call = (method: string, path: string, body?: unknown) =>
  server.request<Record<string, unknown>>(method, path, { body });
const get = async (path: string) => (await call("GET", path)).body;
const commit = (file: string, text: string) => {
  writeFileSync(join(upstream, file), text);
  plainGit(upstream, "add", ".");
  plainGit(upstream, "commit", "-qm", `${file} ${text.slice(0, 20)}`);
  return plainGit(upstream, "rev-parse", "HEAD");
};
const push = (...options: string[]) => plainGit(upstream, "push", "-q", ...options, bare, "--all");
/** Fetches the project. @returns the job's error, null when there is none. */
async function fetchProject(): Promise<Record<string, unknown> | null> {
  const { id: job } = (await call("POST", `/v1/projects/${id}/fetch`)).body;
  await becomes(async () => ["succeeded", "failed"].includes(String((await get(`/v1/jobs/${job}`))["state"])), true);
  return (await get(`/v1/jobs/${job}`))["error"] as Record<string, unknown> | null;
}
async function waitForEnd(run: string): Promise<void> {
  const over = ["succeeded", "failed", "cancelled"];
  await becomes(async () => over.includes(String((await get(`/v1/runs/${run}`))["status"])), true);
  expect(await get(`/v1/runs/${run}`)).toMatchObject({ error: null, status: "succeeded" });
}
async function ran(): Promise<string> {
  const project_name = (await get(`/v1/projects/${id}`))["name"];
  const body = { pipeline_id: "write", task_description: "Write", project_name };
  const { id: run } = (await call("POST", "/v1/runs", body)).body;
  await waitForEnd(String(run));
  return String(run);
}
const merge = (run: string, body: Record<string, unknown>) => call("POST", `/v1/runs/${run}/merge`, body);

beforeEach(async () => {
  const home = mkdtempSync(join(root, "home-"));
  [upstream, bare] = [join(home, "upstream"), join(home, "bare.git")];
  plainGit(home, "init", "-q", "-b", "main", upstream);
  plainGit(home, "init", "-q", "--bare", "-b", "main", bare);
  commit("README.md", "one\n");
  commit("secret.txt", "to be removed\n");
  push();
  id = String((await call("POST", "/v1/projects", { name: home.split("-").at(-1), repository: bare })).body["id"]);
  await becomes(async () => ((await get(`/v1/projects/${id}`))["workspace"] as { state: string }).state, "ready");
});

test("a history that was rewritten is said so and not joined, and a reset follows it; no merge brings removed commits back", async () => {
  const before = await ran();
  const removed = plainGit(upstream, "rev-parse", "HEAD");
  plainGit(upstream, "reset", "-q", "--hard", "HEAD~1");
  const now = commit("other.txt", "instead\n");
  push("--force");
  expect(await fetchProject()).toMatchObject({ code: "upstream_rewritten" });
  expect(await get(`/v1/projects/${id}`)).toMatchObject({ workspace: { head: removed } });
  const reset = await call("POST", `/v1/projects/${id}/reset`);
  expect(reset).toMatchObject({ status: 200, body: { workspace: { head: now } } });
  expect(await fetchProject()).toBeNull();
  expect(await merge(before, { push: true })).toMatchObject({ status: 409, body: { code: "removed_commits" } });
  expect((await merge(await ran(), { push: true })).status).toBe(200);
  expect(plainGit(bare, "log", "--format=%H", "main").split("\n")).not.toContain(removed);
});

test("a history that was only shortened is noticed, too", async () => {
  plainGit(upstream, "reset", "-q", "--hard", "HEAD~1");
  push("--force");
  expect(await fetchProject()).toMatchObject({ code: "upstream_rewritten" });
});

test("another default branch is where runs begin and merges go; one that is not there is refused", async () => {
  plainGit(upstream, "checkout", "-q", "-b", "release");
  const tip = commit("release.txt", "r\n");
  push();
  expect(await call("PUT", `/v1/projects/${id}`, { default_branch: "release" })).toMatchObject({ status: 422 });
  expect(await fetchProject()).toBeNull();
  for (const name of ["HEAD", "FETCH_HEAD", "refs/heads/x", "a".repeat(40)])
    expect([name, (await call("PUT", `/v1/projects/${id}`, { default_branch: name })).status]).toEqual([name, 422]);
  const changed = await call("PUT", `/v1/projects/${id}`, { default_branch: "release" });
  expect(changed).toMatchObject({ status: 200, body: { default_branch: "release", workspace: { head: tip } } });
  expect((await merge(await ran(), {})).body).toMatchObject({ into: "release" });
});

test("a default branch that the repository has no more, or never had, is said so", async () => {
  plainGit(upstream, "checkout", "-q", "-b", "other");
  push();
  plainGit(bare, "update-ref", "-d", "refs/heads/main");
  const gone = {
    code: "branch_gone",
    message: expect.stringMatching(/no branch main any more\. .*projects update --branch/),
  };
  expect(await fetchProject()).toMatchObject(gone);
  // What the message says to do works, since the failed fetch brought the other branch.
  expect(await call("PUT", `/v1/projects/${id}`, { default_branch: "other" })).toMatchObject({ status: 200 });
  expect(await fetchProject()).toBeNull();
  const empty = join(root, "empty.git");
  plainGit(root, "init", "-q", "--bare", "-b", "main", empty);
  id = String((await call("POST", "/v1/projects", { name: "empty", repository: empty })).body["id"]);
  await becomes(async () => ((await get(`/v1/projects/${id}`))["workspace"] as { state: string }).state, "ready");
  const never = { code: "branch_gone", message: expect.stringContaining("no branch main yet") };
  expect(await fetchProject()).toMatchObject(never);
});

test("no branch is called HEAD: a merge into it is refused, and the next one works", async () => {
  const run = await ran();
  expect((await merge(run, { into: "HEAD" })).status).toBe(422);
  expect((await merge(run, {})).status).toBe(200);
});

test("a push that a hook refuses is told in the host's words", async () => {
  const hook = join(bare, "hooks/pre-receive");
  writeFileSync(hook, "#!/bin/sh\necho 'main is frozen until Monday' >&2\nexit 1\n");
  chmodSync(hook, 0o755);
  const refused = await merge(await ran(), { push: true });
  expect(refused).toMatchObject({ status: 409, body: { code: "push_refused" } });
  expect(refused.body["detail"]).toContain("main is frozen until Monday");
  expect(refused.body["detail"]).not.toContain("Fetch the project");
});

test("attributes of the repository hide nothing from a review", async () => {
  commit("hide", "x\n");
  push();
  expect((await merge(await ran(), {})).status).toBe(200);
  await call("POST", "/v1/pipelines", {
    id: "later",
    name: "Later",
    steps: [{ id: "w", run: "echo 'worse()' >> a.js" }],
  });
  const project_name = (await get(`/v1/projects/${id}`))["name"];
  const { id: run } = (
    await call("POST", "/v1/runs", { pipeline_id: "later", task_description: "Later", project_name })
  ).body;
  await waitForEnd(String(run));
  const answer = await fetch(`${server.url}/v1/runs/${run}/diff?format=patch`);
  expect(await answer.text()).toContain("+worse()");
});

/** A repository with a file `lib.txt`, by whose path the tests name it. */
function library(name: string): string {
  const path = join(mkdtempSync(join(root, "library-")), name);
  plainGit(root, "init", "-q", "-b", "main", path);
  writeFileSync(join(path, "lib.txt"), "of the library\n");
  plainGit(path, "add", ".");
  plainGit(path, "commit", "-qm", "library");
  return path;
}
const addSubmodule = (repository: string, url: string, path: string) =>
  plainGit(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, path);
/** Runs a command in the project. @returns the ended run, with the patch of its changes. */
async function ranCommand(command: string) {
  const pipeline = mkdtempSync(join(root, "p-")).split("-").at(-1)?.toLowerCase();
  await call("POST", "/v1/pipelines", { id: `p${pipeline}`, name: "One", steps: [{ id: "w", run: command }] });
  const project_name = (await get(`/v1/projects/${id}`))["name"];
  const body = { pipeline_id: `p${pipeline}`, task_description: "One", project_name };
  const { id: run } = (await call("POST", "/v1/runs", body)).body;
  await waitForEnd(String(run));
  const patch = await (await fetch(`${server.url}/v1/runs/${run}/diff?format=patch`)).text();
  return { run: await get(`/v1/runs/${run}`), patch };
}

test("submodules are in the working copy, also one in another, and their files are in no commit of the run", async () => {
  const [outer, inner] = [library("outer"), library("inner")];
  addSubmodule(outer, inner, "deep/inner");
  plainGit(outer, "commit", "-qm", "with another");
  addSubmodule(upstream, outer, "vendor/outer");
  plainGit(upstream, "commit", "-qm", "submodule");
  push();
  const command =
    "cat vendor/outer/lib.txt vendor/outer/deep/inner/lib.txt > read.txt; echo mine > vendor/outer/lib.txt";
  const { run, patch } = await ranCommand(command);
  expect(run["workspace_notice"]).toBeNull();
  expect(patch).toContain("+of the library\n+of the library\n");
  expect(patch).not.toContain("mine");
});

test("a submodule whose address is not allowed is named on the run with the reason, and Git LFS is named", async () => {
  const good = library("good");
  addSubmodule(upstream, good, "good");
  const bad = ["http://10.1.2.3/x.git", "ssh://git@example.com/x.git", "ext::sh -c touch% x", "--upload-pack=x"];
  const hash = plainGit(good, "rev-parse", "HEAD");
  const settings = bad.map((url, at) => {
    plainGit(upstream, "update-index", "--add", "--cacheinfo", `160000,${hash},bad${at}`);
    return `[submodule "bad${at}"]\n\tpath = bad${at}\n\turl = "${url}"\n`;
  });
  const file = join(upstream, ".gitmodules");
  writeFileSync(file, readFileSync(file, "utf8") + settings.join(""));
  writeFileSync(join(upstream, ".gitattributes"), "*.bin filter=lfs diff=lfs merge=lfs -text\n");
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 12\n`;
  writeFileSync(join(upstream, "picture.bin"), pointer);
  plainGit(upstream, "-c", "filter.lfs.clean=cat", "add", ".gitmodules", ".gitattributes", "picture.bin");
  plainGit(upstream, "commit", "-qm", "submodules");
  push();
  const { run, patch } = await ranCommand("cat good/lib.txt > read.txt; ls -A bad0 bad1 bad2 bad3 >> read.txt");
  expect(patch).toContain("+of the library\n+bad0:\n+\n+bad1:\n+\n+bad2:\n+\n+bad3:\n");
  const notice = String(run["workspace_notice"]);
  for (const at of bad.keys()) expect(notice).toMatch(new RegExp(`bad${at} \\([A-Z][^)]+\\)`));
  expect(notice).not.toContain("good");
  expect(notice).toContain("picture.bin (Git LFS is reached over http and https alone.)");
});

test("a relative address of a submodule is one beside the repository that names it", () => {
  expect(resolveAddress("../lib.git", "https://example.com/team/web.git")).toBe("https://example.com/team/lib.git");
  expect(resolveAddress("../../x/lib.git", "git@example.com:team/web.git")).toBe("git@example.com:x/lib.git");
  expect(resolveAddress("./sub.git", "/srv/web.git/")).toBe("/srv/web.git/sub.git");
  expect(resolveAddress("https://example.org/x.git", "/srv/web")).toBe("https://example.org/x.git");
});

test("what a hook says in a refusal is masked and cut", async () => {
  const secret = "hook-secret-7f3a9c1e5b2d";
  expect((await call("POST", "/v1/secrets", { name: "HOOK_SECRET", value: secret })).status).toBeLessThan(300);
  const hook = join(bare, "hooks/pre-receive");
  writeFileSync(
    hook,
    `#!/bin/sh\n{ echo 'key ${secret} is known'; yes "$(seq -s ' ' 300)" | head -n 3000; echo last; } >&2\nexit 1\n`,
  );
  chmodSync(hook, 0o755);
  const run = await ran();
  const refused = await merge(run, { push: true });
  expect(refused).toMatchObject({ status: 409, body: { code: "push_refused" } });
  expect(String(refused.body["detail"]).length).toBeLessThan(1_500);
  writeFileSync(hook, `#!/bin/sh\necho 'key ${secret} is known' >&2\nexit 1\n`);
  const again = await merge(await ran(), { push: true });
  expect(again.body["detail"]).toContain("is known");
  expect(JSON.stringify([again.body, await get("/v1/jobs?limit=50")])).not.toContain(secret);
});
