import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Project } from "./model.ts";

const root = mkdtempSync(join(tmpdir(), "skep-projects-"));
const upstream = join(root, "upstream");
let server: TestServer;

function plain(cwd: string, ...args: string[]): string {
  const ran = Bun.spawnSync(["git", "-c", "user.name=U", "-c", "user.email=u@example.com", ...args], { cwd });
  if (ran.exitCode !== 0) throw new Error(ran.stderr.toString());
  return ran.stdout.toString().trim();
}

beforeAll(async () => {
  mkdirSync(upstream);
  plain(upstream, "init", "-q", "-b", "trunk");
  writeFileSync(join(upstream, "README.md"), "hello\n");
  plain(upstream, "add", ".");
  plain(upstream, "commit", "-qm", "first");
  server = await startServer({ env: { ALLOW_LOCAL_REPOSITORIES: "true", FETCH_ALLOW: "127.0.0.1" } });
});
afterAll(async () => {
  await server.remove();
  rmSync(root, { recursive: true, force: true });
});

const create = (body: Record<string, unknown>) => server.request<Project>("POST", "/v1/projects", { body });
const read = async (id: string) => (await server.request<Project>("GET", `/v1/projects/${id}`)).body;

/** Follows the project's events until its workspace is in that state. */
async function waitForState(id: string, state: Project["workspace"]["state"], at = server): Promise<Project> {
  type Event = { project_id: string; data: { workspace: Project["workspace"] } };
  const frames = framesOf<Event>(at, "/v1/events/stream?after=0&kinds=project_changed");
  await framesUntil(frames, ({ data: { project_id, data } }) => project_id === id && data.workspace.state === state);
  return (await at.request<Project>("GET", `/v1/projects/${id}`)).body;
}

describe("projects", () => {
  test("an empty project is answered whole, read back the same, found by name whatever its case", async () => {
    const made = await create({ name: "Empty One", description: "d" });
    expect(made.status).toBe(201);
    expect(made.headers.get("location")).toBe(`/v1/projects/${made.body.id}`);
    expect(made.body).toMatchObject({
      name: "Empty One",
      status: "active",
      repository: null,
      counts: {},
      workspace: { state: "none", error: null, head: null },
    });
    expect(await read(made.body.id)).toEqual(made.body);
    const found = await server.request<{ items: Project[] }>("GET", "/v1/projects?name=empty%20one");
    expect(found.body.items).toEqual([made.body]);
    expect((await create({ name: "EMPTY ONE" })).status).toBe(409);
  });

  test("a repository is cloned in the background; the project says when it is ready", async () => {
    const made = await create({ name: "cloned", repository: upstream });
    expect([made.status, made.body.workspace.state]).toEqual([201, "cloning"]);
    const project = await waitForState(made.body.id, "ready");
    expect(project.workspace).toMatchObject({
      state: "ready",
      error: null,
      fetched_at: null,
      head: plain(upstream, "rev-parse", "HEAD"),
    });
    expect(project.default_branch).toBe("trunk");
    expect(existsSync(join(server.data, "projects", project.id, "workspace/README.md"))).toBe(true);
    const moved = await server.request("PUT", `/v1/projects/${project.id}`, { body: { repository: "/elsewhere" } });
    expect([moved.status, moved.body["code"]]).toEqual([409, "workspace_taken"]);
  });

  test("a clone that fails says why without a path of this machine, and can be tried again", async () => {
    const late = join(root, "late");
    const made = await create({ name: "late", repository: late });
    const failed = await waitForState(made.body.id, "failed");
    expect(failed.workspace.error).toContain("git clone failed");
    expect(failed.workspace.error).not.toContain(server.data);
    plain(root, "clone", "-q", "--bare", upstream, late);
    const again = await server.request("POST", `/v1/projects/${made.body.id}/clone`);
    expect(again.status).toBe(202);
    expect((await waitForState(made.body.id, "ready")).workspace.error).toBeNull();
    expect((await server.request("POST", `/v1/projects/${made.body.id}/clone`)).status).toBe(202);
  });

  test("a branch that does not exist fails the clone, one that is becomes the default", async () => {
    plain(upstream, "branch", "-f", "side");
    const made = await create({ name: "side", repository: upstream, default_branch: "side" });
    expect((await waitForState(made.body.id, "ready")).default_branch).toBe("side");
    const none = await create({ name: "no-branch", repository: upstream, default_branch: "nowhere" });
    expect((await waitForState(none.body.id, "failed")).workspace.state).toBe("failed");
  });

  test.each([
    ["metadata address", "https://169.254.169.254/x.git"],
    ["loopback by name", "https://localhost/x.git"],
    ["loopback in decimal", "ssh://git@2130706434/x.git"],
    ["loopback in hexadecimal over ssh", "git@0x7f000002:x.git"],
    ["mapped", "https://[::ffff:10.0.0.1]/x.git"],
    ["unencrypted", "http://example.org/x.git"],
    ["unencrypted git", "git://example.org/x.git"],
    ["credentials", "https://user:token@example.org/x.git"],
    ["a token as user", "https://token@example.org/x.git"],
    ["the ext transport", "ext::sh -c id"],
    ["a helper", "fd::17"],
    ["an option", "--upload-pack=id"],
    ["an option as host", "ssh://-oProxyCommand=id/x"],
    ["an option as scp host", "git@-oProxyCommand=id:x"],
    ["an option as scp path", "git@example.org:-x"],
    ["a line break", "https://example.org/x\n.git"],
    ["another scheme", "ftp://example.org/x"],
    ["no repository", "https://example.org/"],
    ["a relative path", "../x"],
  ])("refuses a repository address: %s", async (_what, repository) => {
    const answer = await create({ name: `refused ${repository.length}${Math.random()}`, repository });
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).not.toContain("token@");
  });

  test("refuses empty, over-long and many-lined names, unusable branches, unknown pipelines and states", async () => {
    for (const name of ["", " ", " x", "a\nb", "x".repeat(257), "\u0000"])
      expect([name, (await create({ name })).status]).toEqual([name, 422]);
    for (const default_branch of ["-x", "a..b", "a b"])
      expect((await create({ name: "b", default_branch })).status).toBe(422);
    const { body } = await create({ name: "states" });
    const put = (change: Record<string, unknown>) => server.request("PUT", `/v1/projects/${body.id}`, { body: change });
    expect((await put({ status: "gone" })).status).toBe(422);
    expect((await put({ name: "Empty One" })).status).toBe(409);
    const changed = await put({ description: "new", status: "paused", id: "proj_x", created_at: "x", workspace: {} });
    expect(changed.body).toMatchObject({ id: body.id, description: "new", status: "paused", name: "states" });
    expect((await server.request("PUT", "/v1/projects/proj_none", { body: {} })).status).toBe(404);
  });

  test("the same Idempotency-Key makes one project", async () => {
    const headers = { "Idempotency-Key": "once" };
    const [one, two] = [
      await server.request<Project>("POST", "/v1/projects", { body: { name: "once" }, headers }),
      await server.request<Project>("POST", "/v1/projects", { body: { name: "once" }, headers }),
    ];
    expect([one.status, two.status, two.body.id]).toEqual([201, 201, one.body.id]);
  });

  test("deleting removes the row, the clone and the folder", async () => {
    const made = await create({ name: "gone", repository: upstream });
    await waitForState(made.body.id, "ready");
    expect((await server.request("DELETE", `/v1/projects/${made.body.id}`)).status).toBe(204);
    expect((await server.request("GET", `/v1/projects/${made.body.id}`)).status).toBe(404);
    expect((await server.request("DELETE", `/v1/projects/${made.body.id}`)).status).toBe(404);
    expect(readdirSync(join(server.data, "projects"))).not.toContain(made.body.id);
  });

  test("deleting in the middle of a fetch ends that, and leaves nothing of the project", async () => {
    const served = join(root, "served.git");
    plain(root, "clone", "-q", "--bare", upstream, served);
    plain(served, "update-server-info");
    const asked = Promise.withResolvers<void>();
    let hangs = false;
    const origin = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        if (hangs) {
          asked.resolve();
          return new Promise<Response>(() => {});
        }
        const file = Bun.file(join(root, new URL(request.url).pathname));
        return (await file.exists()) ? new Response(file) : new Response("", { status: 404 });
      },
    });
    try {
      const repository = `http://127.0.0.1:${origin.port}/served.git`;
      const { id } = (await create({ name: "in a fetch", repository })).body;
      await waitForState(id, "ready");
      hangs = true;
      const { body: job } = await server.request<{ id: string }>("POST", `/v1/projects/${id}/fetch`);
      await asked.promise;
      expect((await server.request("DELETE", `/v1/projects/${id}`)).status).toBe(204);
      expect((await server.request("GET", `/v1/jobs/${job.id}`)).body).toMatchObject({ state: "cancelled" });
      expect(readdirSync(join(server.data, "projects"))).not.toContain(id);
    } finally {
      await origin.stop(true);
    }
  });

  test("a clone that a killed server left begins again at the next start, and a lock that its git left holds up no fetch", async () => {
    const hanging = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise<Response>(() => {}) });
    const data = mkdtempSync(join(root, "data-"));
    const env = { FETCH_ALLOW: "127.0.0.1", ALLOW_LOCAL_REPOSITORIES: "true" };
    const first = await startServer({ data, env });
    const repository = `http://127.0.0.1:${hanging.port}/x.git`;
    const { body } = await first.request<Project>("POST", "/v1/projects", { body: { name: "cut", repository } });
    const whole = { name: "whole", repository: upstream };
    const { id } = (await first.request<Project>("POST", "/v1/projects", { body: whole })).body;
    await waitForState(id, "ready", first);
    await first.stop("SIGKILL");
    writeFileSync(join(data, "projects", id, "git/refs/remotes/origin/trunk.lock"), "");
    plain(upstream, "commit", "-q", "--allow-empty", "-m", "later");
    const asked = Promise.withResolvers<void>();
    hanging.reload({
      fetch: () => {
        asked.resolve();
        return new Response("", { status: 404 });
      },
    });
    const second = await startServer({ data, env });
    try {
      await asked.promise;
      expect((await waitForState(body.id, "failed", second)).workspace.error).toContain("not found");
      const { body: job } = await second.request<{ id: string }>("POST", `/v1/projects/${id}/fetch`);
      const frames = framesOf<{ data: { job_id: string; state: string } }>(
        second,
        "/v1/events/stream?after=0&kinds=job_progress",
      );
      await framesUntil(frames, ({ data: { data } }) => data.job_id === job.id && /succeeded|failed/.test(data.state));
      expect(await second.request("GET", `/v1/jobs/${job.id}`)).toMatchObject({ body: { state: "succeeded" } });
    } finally {
      await second.remove();
      await hanging.stop(true);
    }
  });

  test("killed during a clone and started within a second, the project ends cloned, whatever the old git still does", async () => {
    const data = mkdtempSync(join(root, "data-"));
    const bin = mkdtempSync(join(root, "bin-"));
    const held = join(bin, "held");
    // The first clone keeps writing into its repository, as the git of a long clone does.
    const script = `#!/bin/sh
case " $* " in *" clone "*)
  for word; do case "$word" in --separate-git-dir=*) place=\${word#*=}; esac; done
  if mkdir ${held}; then
    while :; do mkdir -p "$place/objects"; echo "$$" > "$place/objects/old"; echo "$$" > ${held}/pid; sleep 0.01; done
  fi
esac
exec ${Bun.which("git")} "$@"
`;
    writeFileSync(join(bin, "git"), script, { mode: 0o755 });
    const env = { ALLOW_LOCAL_REPOSITORIES: "true", PATH: `${bin}:${process.env["PATH"]}` };
    const first = await startServer({ data, env });
    const body = { name: "held", repository: upstream };
    const { id } = (await first.request<Project>("POST", "/v1/projects", { body })).body;
    while (!existsSync(join(held, "pid"))) await Bun.sleep(5);
    await first.stop("SIGKILL");
    const second = await startServer({ data, env });
    try {
      const find = async () => (await second.request<Project>("GET", `/v1/projects/${id}`)).body.workspace;
      while ((await find()).state === "cloning") await Bun.sleep(20);
      const workspace = await find();
      expect(workspace).toMatchObject({ state: "ready", error: null, head: plain(upstream, "rev-parse", "HEAD") });
      expect(existsSync(join(data, "projects", id, "git/objects/old"))).toBe(false);
    } finally {
      await second.remove();
    }
  });

  test("without the operator's leave no path of this machine is cloned", async () => {
    const strict = await startServer({ env: { ALLOW_LOCAL_REPOSITORIES: "false" } });
    try {
      for (const repository of [upstream, `file://${upstream}`, "http://127.0.0.1/x.git"]) {
        const answer = await strict.request("POST", "/v1/projects", { body: { name: "local", repository } });
        expect([repository, answer.status]).toEqual([repository, 422]);
      }
    } finally {
      await strict.remove();
    }
  });
});
