/** From an upstream repository through runs to merged branches: diff, merge, conflict, fetch, push, delete. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skep } from "../../testing/command.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Job } from "../jobs/model.ts";
import type { Project } from "../projects/model.ts";
import type { Run } from "../runs/model.ts";
import type { Task } from "../tasks/model.ts";
import type { Merge, RunDiff, RunFiles } from "./merge-model.ts";

const write = (path: string, content: string) => ({ tool: "write", input: { path, content } });
const DONE = { tool: "complete", input: { outputs: {}, summary: "done" } };
const SCRIPT = {
  version: 1,
  steps: {
    add: [{ tool_calls: [write("added.txt", "one\ntwo\n")] }, { tool_calls: [DONE] }],
    more: [{ tool_calls: [write("more.txt", "more\n")] }, { tool_calls: [DONE] }],
    left: [{ tool_calls: [write("README.md", "left\n")] }, { tool_calls: [DONE] }],
    right: [{ tool_calls: [write("README.md", "right\n")] }, { tool_calls: [DONE] }],
    idle: [{ tool_calls: [DONE] }],
    wait: [{ tool_calls: [{ tool: "bash", input: { command: "sleep 60" } }] }],
  },
};

const root = mkdtempSync(join(tmpdir(), "skep-merging-"));
let server: TestServer;

function git(cwd: string, ...args: string[]): string {
  const ran = Bun.spawnSync(["git", "-c", "user.name=U", "-c", "user.email=u@example.com", ...args], { cwd });
  if (ran.exitCode !== 0) throw new Error(ran.stderr.toString());
  return ran.stdout.toString().trim();
}

function commitTo(upstream: string, path: string, content: string): string {
  writeFileSync(join(upstream, path), content);
  git(upstream, "add", ".");
  git(upstream, "commit", "-qm", `change ${path}`);
  return git(upstream, "rev-parse", "HEAD");
}

beforeAll(async () => {
  writeFileSync(join(root, "script.json"), JSON.stringify(SCRIPT));
  server = await startServer({
    env: { DEMO_SCRIPT: join(root, "script.json"), ALLOW_HOST_SHELL: "true", ALLOW_LOCAL_REPOSITORIES: "true" },
  });
  expect(
    (await server.request("POST", "/v1/agents", { body: { id: "ann", name: "Ann", prompt: "Work." } })).status,
  ).toBe(201);
  for (const id of Object.keys(SCRIPT.steps)) {
    const body = { id, name: id, defaults: { model: "demo/scripted" }, steps: [{ id, agent: "ann", input: "Do it" }] };
    expect((await server.request("POST", "/v1/pipelines", { body })).status).toBe(201);
  }
});
afterAll(async () => {
  await server.remove();
  rmSync(root, { recursive: true, force: true });
});

/** Reads events from the first one until one fits. */
async function event(query: string, holds: (event: { kind: string; data: Record<string, never> }) => boolean) {
  type Event = Parameters<typeof holds>[0];
  const frames = await framesUntil(framesOf<Event>(server, `/v1/events/stream?after=0&${query}`), ({ data }) =>
    holds(data),
  );
  return frames.at(-1)!.data as Omit<Event, "data"> & { data: Record<string, unknown> };
}

/** Makes a project with a cloned repository of its own. */
async function project(
  name: string,
  { prepare, ...more }: { prepare?: (upstream: string) => void } & Record<string, unknown> = {},
) {
  const upstream = join(root, name);
  mkdirSync(upstream);
  git(upstream, "init", "-q", "-b", "trunk");
  commitTo(upstream, "README.md", "hello\n");
  prepare?.(upstream);
  const made = await server.request<Project>("POST", "/v1/projects", { body: { name, repository: upstream, ...more } });
  expect(made.status).toBe(201);
  const { id } = made.body;
  await event("kinds=workspace_changed", (one) => JSON.stringify(one).includes(id));
  return { id, name, upstream, repository: join(server.data, "projects", id, "git") };
}
const ENDS = ["run_complete", "run_failed", "run_cancelled"];
async function run(pipeline_id: string, project_name: string): Promise<Run> {
  const body = { pipeline_id, task_description: `Do ${pipeline_id}\nat once`, project_name };
  const { id } = (await server.request<Run>("POST", "/v1/runs", { body })).body;
  await event(`run_id=${id}`, ({ kind }) => ENDS.includes(kind));
  return (await server.request<Run>("GET", `/v1/runs/${id}`)).body;
}
const merge = (id: string, body: Record<string, unknown> = {}) =>
  server.request<Merge & { code: string; files: { path: string; kind: string; hunks: string[] }[] }>(
    "POST",
    `/v1/runs/${id}/merge`,
    { body },
  );
const diff = (id: string, query = "") => server.request<RunDiff>("GET", `/v1/runs/${id}/diff${query}`);

describe("merging", () => {
  test("a run's diff names files, hunks and sums, by pages and as a patch that git applies", async () => {
    const { name, upstream, repository } = await project("diffed");
    const done = await run("add", name);
    expect([done.status, done.base_commit]).toEqual(["succeeded", git(upstream, "rev-parse", "HEAD")]);
    const shown = await diff(done.id);
    expect(shown.status).toBe(200);
    expect(shown.body).toMatchObject({
      run_id: done.id,
      branch: `run/${done.id}`,
      base: done.base_commit,
      merged_commit: null,
      next_cursor: null,
      head: git(repository, "rev-parse", `run/${done.id}`),
      stats: { files: 1, insertions: 2, deletions: 0 },
      items: [{ path: "added.txt", status: "added", insertions: 2, deletions: 0, cut: false }],
    });
    expect(shown.body.items[0]?.hunks).toEqual([{ header: "@@ -0,0 +1,2 @@", lines: ["+one", "+two"] }]);
    const patch = await server.request<string>("GET", `/v1/runs/${done.id}/diff?format=patch`);
    writeFileSync(join(root, "a.patch"), patch.body);
    git(upstream, "apply", join(root, "a.patch"));
    expect(readFileSync(join(upstream, "added.txt"), "utf8")).toBe("one\ntwo\n");
    expect((await diff(done.id, "?format=html")).status).toBe(422);
    const files = await server.request<typeof RunFiles.static>("GET", `/v1/runs/${done.id}/diff/files`);
    expect(files.body).toEqual({
      run_id: done.id,
      work_id: done.id,
      head: shown.body.head,
      stats: shown.body.stats,
      next_cursor: null,
      items: [{ path: "added.txt", status: "added", insertions: 2, deletions: 0 }],
    });
    expect((await diff(done.id, "?path=added.txt")).body.items).toEqual(shown.body.items);
    expect((await diff(done.id, "?path=README.md")).body.items).toEqual([]);
  });

  test.each(["merge", "squash", "rebase"] as const)(
    "%s takes a run into the default branch, says so in an event, and the next run builds on it",
    async (strategy) => {
      const { id, name, repository } = await project(`by-${strategy}`);
      const [first, second] = [await run("add", name), await run("more", name)];
      const merged = await merge(first.id, { strategy });
      expect([merged.status, merged.body]).toMatchObject([200, { strategy, into: "trunk", pushed: false }]);
      const published = await event(`run_id=${first.id}`, ({ kind }) => kind === "run_merged");
      expect(published.data).toEqual({ strategy, into: "trunk", commit: merged.body.commit });
      const late = await merge(second.id, { strategy });
      expect(late.status).toBe(200);
      expect(git(repository, "rev-parse", "trunk")).toBe(late.body.commit);
      expect(git(repository, "ls-tree", "--name-only", "trunk").split("\n")).toEqual([
        "README.md",
        "added.txt",
        "more.txt",
      ]);
      const parents = git(repository, "log", "-1", "--format=%P", "trunk").split(" ");
      expect(parents.length).toBe(strategy === "merge" ? 2 : 1);
      const read = (await server.request<Project>("GET", `/v1/projects/${id}`)).body;
      expect(read.workspace.head).toBe(late.body.commit);
      expect(readFileSync(join(server.data, "projects", id, "workspace/more.txt"), "utf8")).toBe("more\n");
      expect((await run("idle", name)).base_commit).toBe(late.body.commit);
      // Merged work still has its diff, and merging it again changes nothing.
      expect((await diff(first.id)).body).toMatchObject({ merged_commit: merged.body.commit, stats: { files: 1 } });
      expect((await merge(first.id, { strategy })).body.commit).toBe(merged.body.commit);
      expect(git(repository, "rev-parse", "trunk")).toBe(late.body.commit);
      const { items } = (
        await server.request<{ items: { subject: string; data: object }[] }>("GET", "/v1/admin/audit?action=run.merged")
      ).body;
      expect(items.filter(({ subject }) => subject === first.id)).toMatchObject([{ data: { into: "trunk" } }]);
    },
  );

  test.each(["merge", "squash", "rebase"] as const)(
    "%s in conflict is a report of files and places and moves nothing; a run from today's branch then merges",
    async (strategy) => {
      const { name, repository } = await project(`conflict-${strategy}`);
      const [left, right] = [await run("left", name), await run("right", name)];
      const { commit } = (await merge(left.id)).body;
      const refused = await merge(right.id, { strategy });
      expect([refused.status, refused.body.code]).toEqual([409, "merge_conflict"]);
      expect(refused.body.files).toMatchObject([{ path: "README.md", kind: "contents" }]);
      expect(refused.body.files[0]?.hunks[0]).toMatch(/^<{7} .*\nleft\n={7}\nright\n>{7} /);
      expect(git(repository, "rev-parse", "trunk")).toBe(commit);
      const solved = await run("right", name);
      expect((await merge(solved.id, { strategy })).status).toBe(200);
      expect(git(repository, "show", "trunk:README.md")).toBe("right");
    },
  );

  test("asked for without waiting, a merge is a job: its result is the merge, its progress the places in conflict", async () => {
    const { id, name, repository } = await project("by-job");
    const [left, right] = [await run("left", name), await run("right", name)];
    const jobOf = async (runId: string): Promise<Job> => {
      const headers = { Prefer: "respond-async" };
      const asked = await server.request<Job>("POST", `/v1/runs/${runId}/merge`, { headers });
      expect([asked.status, asked.headers.get("location")]).toEqual([202, `/v1/jobs/${asked.body.id}`]);
      expect(asked.body).toMatchObject({ kind: "merge_run", subject: runId, project_id: id });
      await event("kinds=job_progress", ({ data }) => {
        const { job_id, state } = data as Record<string, unknown>;
        return job_id === asked.body.id && state !== "queued" && state !== "running";
      });
      return (await server.request<Job>("GET", `/v1/jobs/${asked.body.id}`)).body;
    };
    const commit = (await jobOf(left.id)).result?.["commit"];
    expect(commit).toBe(git(repository, "rev-parse", "trunk"));
    const refused = await jobOf(right.id);
    expect(refused).toMatchObject({ state: "failed", result: null, error: { code: "merge_conflict" } });
    expect(refused.progress).toMatchObject({ into: "trunk", files: [{ path: "README.md" }], more: 0 });
    // The mark by which a merge would be found after a crash is removed once the result is stored.
    expect(git(repository, "for-each-ref", "refs/skep/merge")).toBe("");
    // This is the state after a kill between the two. The job that is taken up again removes the mark.
    const head = git(repository, "rev-parse", `run/${left.id}`);
    git(repository, "update-ref", `refs/skep/merge/${left.id}/${head}/trunk`, String(commit));
    expect((await jobOf(left.id)).result?.["commit"]).toBe(commit);
    expect(git(repository, "for-each-ref", "refs/skep/merge")).toBe("");
  });

  test("a conflict makes one task for solving it on request, which names the places and the change", async () => {
    const { id, name } = await project("conflict-task");
    const [left, right] = [await run("left", name), await run("right", name)];
    await merge(left.id);
    const mergeWithTask = () =>
      server.request<{ task_id: string }>("POST", `/v1/runs/${right.id}/merge`, { body: { task: true } });
    const [first, second] = [await mergeWithTask(), await mergeWithTask()];
    expect([first.status, second.body.task_id]).toEqual([409, first.body.task_id]);
    const { items } = (await server.request<{ items: Task[] }>("GET", `/v1/projects/${id}/tasks`)).body;
    expect(items).toMatchObject([
      { id: first.body.task_id, tags: ["merge-conflict"], metadata: { merge_run: right.id } },
    ]);
    for (const part of ["README.md (contents)", "<<<<<<<", "+right", "Do right"])
      expect(items[0]?.description).toContain(part);
  });

  test("asking for a clone again joins one under way and brings one that is there up to date", async () => {
    const { id, upstream, repository } = await project("again");
    const theirs = commitTo(upstream, "theirs.txt", "theirs\n");
    const asked = await server.request<Project>("POST", `/v1/projects/${id}/clone`);
    expect([asked.status, asked.body.workspace.state]).toEqual([202, "ready"]);
    await event(
      "kinds=job_progress",
      (one) =>
        /fetch_project/.test(JSON.stringify(one)) &&
        /succeeded/.test(JSON.stringify(one)) &&
        JSON.stringify(one).includes(id),
    );
    expect(git(repository, "rev-parse", "trunk")).toBe(theirs);
    const bare = await server.request<Project>("POST", "/v1/projects", { body: { name: "no-repository" } });
    expect((await server.request("POST", `/v1/projects/${bare.body.id}/clone`)).body).toMatchObject({
      code: "no_repository",
    });
  });

  test("refuses what cannot be merged: no change, a run at work, no project, a target that is not valid", async () => {
    const { name } = await project("refusals");
    const idle = await run("idle", name);
    expect((await merge(idle.id)).body.code).toBe("nothing_to_merge");
    const done = await run("add", name);
    for (const into of ["nowhere", `run/${done.id}`, "-x", "a..b", "refs/heads/trunk"])
      expect([into, (await merge(done.id, { into })).status]).toEqual([into, 422]);
    expect((await merge(done.id, { strategy: "octopus" })).status).toBe(422);
    // A repository whose HEAD is a commit has no default branch: the target must be named, and the answer says so.
    const headless = await project("headless", {
      prepare: (upstream: string) => {
        git(upstream, "checkout", "-q", "--detach");
        commitTo(upstream, "ahead.txt", "of every branch\n");
      },
    });
    const lost = await run("add", headless.name);
    const unnamed = await merge(lost.id);
    expect([unnamed.status, JSON.stringify(unnamed.body)]).toEqual([
      422,
      expect.stringMatching(/no default branch, since HEAD is a commit.* There are: trunk\b/),
    ]);
    expect((await merge(lost.id, { into: "trunk" })).status).toBe(200);
    // Without any branch there is nothing to name; the answer says how to make one.
    const branchless = await project("branchless", {
      prepare: (upstream: string) => {
        git(upstream, "checkout", "-q", "--detach");
        git(upstream, "branch", "-q", "-D", "trunk");
      },
    });
    const homeless = await run("add", branchless.name);
    expect(JSON.stringify((await merge(homeless.id)).body)).toContain("git switch -c main");
    git(branchless.upstream, "switch", "-q", "-c", "main");
    const job = (await server.request<{ id: string }>("POST", `/v1/projects/${branchless.id}/fetch`)).body.id;
    await event("kinds=job_progress", ({ data }) => data["job_id"] === job && data["state"] === "succeeded");
    expect((await merge(homeless.id, { into: "main" })).status).toBe(200);
    const body = { pipeline_id: "wait", task_description: "x", project_name: name };
    const { id } = (await server.request<Run>("POST", "/v1/runs", { body })).body;
    expect((await merge(id)).body.code).toBe("run_active");
    await server.request("POST", `/v1/runs/${id}/cancel`);
    const alone = (
      await server.request<Run>("POST", "/v1/runs", { body: { ...body, pipeline_id: "idle", project_name: null } })
    ).body;
    expect((await diff(alone.id)).body).toMatchObject({ code: "no_project" });
    expect((await merge("run_none")).status).toBe(404);
  });

  test("push brings the merged branch to the repository, and names what blocks it", async () => {
    const { name, upstream } = await project("pushed");
    const done = await run("add", name);
    expect((await merge(done.id, { push: true })).body.code).toBe("target_checked_out");
    git(upstream, "checkout", "-q", "-b", "elsewhere");
    const { body } = await merge(done.id, { push: true });
    expect(body.pushed).toBe(true);
    expect(git(upstream, "rev-parse", "trunk")).toBe(body.commit);
    git(upstream, "checkout", "-q", "trunk");
    commitTo(upstream, "theirs.txt", "theirs\n");
    git(upstream, "checkout", "-q", "elsewhere");
    const body2 = { fetch_before_run: "never" };
    expect((await server.request("PUT", `/v1/projects/${(await find(name)).id}`, { body: body2 })).status).toBe(200);
    expect((await merge((await run("more", name)).id, { push: true })).body.code).toBe("push_rejected");
  });

  const find = async (name: string) =>
    (await server.request<{ items: Project[] }>("GET", `/v1/projects?name=${name}`)).body.items[0]!;

  test("a run begins from what the repository has now, on top of what was merged here", async () => {
    const { id, name, upstream, repository } = await project("fetched");
    const theirs = commitTo(upstream, "theirs.txt", "theirs\n");
    const done = await run("add", name);
    expect(done.base_commit).toBe(theirs);
    await merge(done.id);
    commitTo(upstream, "again.txt", "again\n");
    const asked = await server.request<{ id: string }>("POST", `/v1/projects/${id}/fetch`);
    expect([asked.status, asked.headers.get("location")]).toEqual([202, `/v1/jobs/${asked.body.id}`]);
    await event(
      "kinds=job_progress",
      ({ data }) => JSON.stringify(data).includes("succeeded") && JSON.stringify(data).includes(asked.body.id),
    );
    expect(git(repository, "ls-tree", "--name-only", "trunk").split("\n")).toEqual([
      "README.md",
      "added.txt",
      "again.txt",
      "theirs.txt",
    ]);
    const { workspace } = (await server.request<Project>("GET", `/v1/projects/${id}`)).body;
    expect(workspace.head).toBe(git(repository, "rev-parse", "trunk"));
    expect(workspace.fetched_at).toEqual(expect.any(String));
  });

  test("a fetch that fails is noted on the run, which continues; a project that requires it fails the run", async () => {
    const { id, name, upstream } = await project("gone");
    rmSync(upstream, { recursive: true });
    const done = await run("add", name);
    expect([done.status, done.workspace_notice]).toEqual([
      "succeeded",
      expect.stringContaining("could not be brought up to date: git fetch failed"),
    ]);
    await server.request("PUT", `/v1/projects/${id}`, { body: { fetch_before_run: "require" } });
    expect((await run("add", name)).status).toBe("failed");
  });

  test("skep diff, skep merge and skep projects fetch do the same from the command line", async () => {
    const { name, upstream } = await project("typed");
    const cli = (...args: string[]) => skep([...args, "--data", server.data]);
    const [left, right] = [await run("left", name), await run("right", name)];
    expect((await cli("diff", left.id)).stdout).toContain("-hello\n+left\n");
    expect((await cli("diff", left.id, "--stat")).stdout).toContain("README.md");
    expect((await cli("merge", left.id, "--strategy", "squash")).stdout).toContain(`${left.id} is in trunk at `);
    const refused = await cli("merge", right.id);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain("README.md (contents)\n<<<<<<< ");
    commitTo(upstream, "new.txt", "new\n");
    const fetched = await cli("projects", "fetch", name);
    expect([fetched.code, fetched.stdout]).toEqual([0, expect.stringContaining("typed: up to date, at ")]);
    expect((await cli("projects", "delete", name, "--yes")).stderr).toContain("Merge them, or delete with force");
    expect((await cli("projects", "delete", name, "--yes", "--force")).code).toBe(0);
  });

  test("a project with unmerged runs is deleted only by force; merged ones do not prevent it", async () => {
    const { id, name } = await project("kept");
    const done = await run("add", name);
    const refused = await server.request("DELETE", `/v1/projects/${id}`);
    expect([refused.status, refused.body]).toMatchObject([
      409,
      { code: "unmerged_branches", branches: [`run/${done.id}`], count: 1 },
    ]);
    await merge(done.id, { strategy: "squash" });
    expect((await server.request("DELETE", `/v1/projects/${id}`)).status).toBe(204);
    const other = await project("forced");
    await run("add", other.name);
    expect((await server.request("DELETE", `/v1/projects/${other.id}?force=true`)).status).toBe(204);
  });
});
