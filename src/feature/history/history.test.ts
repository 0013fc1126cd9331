/**
 * History is deleted completely. Secrets were typed into a run's task, a chat and a comment, and agents saw them and
 * wrote them into files. After the deletion, no byte of them is in the data folder, in git's objects, or in backups
 * made later.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import Database from "better-sqlite3";
import { makeUser, setupAdmin } from "../../testing/accounts.ts";
import { skep } from "../../testing/command.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Job } from "../jobs/model.ts";
import type { Run } from "../runs/model.ts";
import type { HistoryPreview } from "./model.ts";

setDefaultTimeout(300_000);

const CANARY = "canary-7f3a91c2-typed-by-a-person";
const WRITTEN = "canary-b84d0e55-written-by-an-agent";
const SCRIPT = {
  version: 1,
  steps: {
    work: [
      { tool_calls: [{ tool: "bash", input: { command: `echo ${WRITTEN} > secret.txt; cat secret.txt` } }] },
      { tool_calls: [{ tool: "complete", input: { outputs: {}, summary: `I wrote ${WRITTEN}` } }] },
    ],
    wait: [{ tool_calls: [{ tool: "bash", input: { command: "sleep 60" } }] }],
  },
  chat: [
    { tool_calls: [{ tool: "bash", input: { command: `echo ${WRITTEN} > noted.txt` } }] },
    { text: `You said ${CANARY}.` },
  ],
};
const ENDS = ["run_complete", "run_failed", "run_cancelled"];

const root = mkdtempSync(join(tmpdir(), "skep-history-"));
const ENV = {
  DEMO_SCRIPT: join(root, "script.json"),
  ALLOW_HOST_SHELL: "true",
  ALLOW_LOCAL_REPOSITORIES: "true",
};
let server: TestServer;

const call = <T = Record<string, never>>(method: string, path: string, body?: unknown) =>
  server.request<T>(method, path, body === undefined ? {} : { body });

beforeAll(async () => {
  writeFileSync(join(root, "script.json"), JSON.stringify(SCRIPT));
  server = await startServer({ env: ENV });
  expect((await call("POST", "/v1/agents", { id: "ann", name: "Ann", prompt: "Work." })).status).toBe(201);
  for (const id of Object.keys(SCRIPT.steps)) {
    const steps = [{ id, agent: "ann", input: "{{ task_description }}" }];
    const body = { id, name: id, defaults: { model: "demo/scripted" }, steps };
    expect((await call("POST", "/v1/pipelines", body)).status).toBe(201);
  }
});
afterAll(async () => {
  await server.remove();
  rmSync(root, { recursive: true, force: true });
});

type Seen = { kind: string; data: Record<string, unknown> };
/** Reads events from the first one until one matches. */
const event = (query: string, holds: (event: Seen) => boolean) =>
  framesUntil(framesOf<Seen>(server, `/v1/events/stream?after=0&${query}`), ({ data }) => holds(data));
const jobEnded = async (job: Job): Promise<Job> => {
  const isOver = ({ data }: Seen) =>
    data["job_id"] === job.id && ["succeeded", "failed", "cancelled"].includes(String(data["state"]));
  await event("kinds=job_progress", isOver);
  return (await call<Job>("GET", `/v1/jobs/${job.id}`)).body;
};
const deleteHistory = async (kind: string, id: string): Promise<Job> => {
  const { status, body } = await call<Job>("DELETE", `/v1/history/${kind}/${id}`);
  expect([status, body]).toMatchObject([202, { kind: "delete_history" }]);
  return jobEnded(body);
};
async function runOf(pipeline_id: string, project_name?: string): Promise<Run> {
  const body = { pipeline_id, task_description: `The key is ${CANARY}.`, ...(project_name ? { project_name } : {}) };
  const { id } = (await call<Run>("POST", "/v1/runs", body)).body;
  await event(`run_id=${id}`, ({ kind }) =>
    pipeline_id === "wait" ? kind === "tool_call_start" : ENDS.includes(kind),
  );
  return (await call<Run>("GET", `/v1/runs/${id}`)).body;
}
function git(cwd: string, ...args: string[]): Buffer {
  const ran = Bun.spawnSync(["git", "-c", "user.name=U", "-c", "user.email=u@example.com", ...args], { cwd });
  if (ran.exitCode !== 0) throw new Error(ran.stderr.toString());
  return ran.stdout;
}
async function project(name: string): Promise<string> {
  const upstream = join(root, name);
  mkdirSync(upstream);
  writeFileSync(join(upstream, "README.md"), "hello\n");
  git(upstream, "init", "-q", "-b", "trunk");
  git(upstream, "add", ".");
  git(upstream, "commit", "-qm", "first");
  const { id } = (await call<{ id: string }>("POST", "/v1/projects", { name, repository: upstream })).body;
  await event("kinds=workspace_changed", (one) => JSON.stringify(one).includes(id));
  return id;
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Where the words occur: in files of the data folder, and in objects of clones. */
function places(...words: string[]): string[] {
  const holds = (bytes: Buffer) => words.some((word) => bytes.includes(word));
  const files = filesBelow(server.data).filter((path) => existsSync(path) && holds(readFileSync(path)));
  const clones = readdirSync(join(server.data, "projects")).map((id) => join(server.data, "projects", id, "git"));
  const objects = clones
    .filter((clone) => existsSync(clone))
    .filter((clone) => holds(git(clone, "--git-dir", clone, "cat-file", "--batch-all-objects", "--batch")));
  return [...[...files, ...objects].map((path) => path.slice(server.data.length + 1)), ...tablesWith(words)];
}
/** Tables whose rows contain the words, to explain a failed test. */
function tablesWith(words: readonly string[]): string[] {
  const db = new Database(join(server.data, "skep.db"), { readonly: true });
  const named = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'";
  const found = db
    .prepare<[], string>(named)
    .pluck()
    .all()
    .filter((table) => words.some((word) => JSON.stringify(db.prepare(`SELECT * FROM ${table}`).all()).includes(word)));
  db.close();
  return found;
}
/** Whether a backup made now contains the words. */
async function inBackup(...words: string[]): Promise<boolean[]> {
  const file = join(root, `${Bun.randomUUIDv7()}.tar.gz`);
  expect((await skep(["backup", file, "--data", server.data])).code).toBe(0);
  const bytes = gunzipSync(readFileSync(file));
  return words.map((word) => bytes.includes(word));
}
const costs = async () => {
  const { body } = await call<{ totals: { calls: number; input_tokens: number } }>("GET", "/v1/usage");
  return [body.totals.calls, body.totals.input_tokens];
};

describe("a deleted secret is in no byte", () => {
  test("of a run of a project, with its branch, comments and files; what it cost stays", async () => {
    const id = await project("secretive");
    const run = await runOf("work", "secretive");
    expect([run.status, run.error]).toEqual(["succeeded", null]);
    expect(
      (await call("POST", `/v1/runs/${run.id}/comments`, { path: "secret.txt", body: `Also ${CANARY}` })).status,
    ).toBe(201);
    expect(places(CANARY)).toEqual(expect.arrayContaining(["events", "messages", "runs", "change_comments"]));
    expect(places(WRITTEN)).toContain(`projects/${id}/git`);
    expect(await inBackup(CANARY, WRITTEN)).toEqual([true, true]);
    const before = await costs();
    const preview = (await call<HistoryPreview>("GET", `/v1/history/runs/${run.id}`)).body;
    expect(preview).toMatchObject({ runs: 1, sessions: 1, messages: expect.any(Number), active: 0 });

    const job = await deleteHistory("runs", run.id);
    expect(job).toMatchObject({ state: "succeeded", result: { runs: 1, sessions: 1, wal_emptied: true } });
    expect(places(CANARY, WRITTEN)).toEqual([]);
    expect(await inBackup(CANARY, WRITTEN)).toEqual([false, false]);
    expect(await costs()).toEqual(before);
    expect((await call("GET", `/v1/runs/${run.id}`)).status).toBe(404);
    const found = await call<{ items: unknown[] }>("GET", `/v1/runs?q=${CANARY}`);
    expect(found.body.items).toEqual([]);
    expect(git(join(server.data, "projects", id, "git"), "branch", "--list", "run/*").toString()).toBe("");
  });

  test("of a chat with an attachment, also when it is purged by its own operation", async () => {
    for (const way of ["history", "purge"]) {
      const form = new FormData();
      form.append("file", new File([`A file with ${CANARY}`], "notes.txt", { type: "text/plain" }));
      const file = (await call<{ id: string }>("POST", "/v1/attachments/upload", form)).body;
      const chat = (
        await call<{ id: string }>("POST", "/v1/chat/sessions", { agent_id: "ann", model: "demo/scripted" })
      ).body;
      const said = { message: `Remember ${CANARY}`, attachment_ids: [file.id] };
      expect((await call("POST", `/v1/chat/sessions/${chat.id}/message`, said)).status).toBe(202);
      await event(`session_id=${chat.id}`, ({ kind }) => kind === "turn_ended");
      expect(places(CANARY).some((path) => path.startsWith("uploads/"))).toBe(true);
      expect(places(WRITTEN)).toContain(`workspaces/${chat.id}/noted.txt`);
      if (way === "history") await deleteHistory("sessions", chat.id);
      else {
        expect((await call("DELETE", `/v1/chat/sessions/${chat.id}?purge=true`)).status).toBe(204);
        expect((await call("GET", `/v1/chat/sessions/${chat.id}`)).status).toBe(404);
        await event("kinds=history_deleted", ({ data }) => data["id"] === chat.id);
      }
      expect([way, places(CANARY, WRITTEN)]).toEqual([way, []]);
    }
  });

  test("of a project's everything: runs, tasks, documents, clone", async () => {
    const id = await project("ending");
    await runOf("work", "ending");
    await call("POST", `/v1/projects/${id}/tasks`, { title: `Use ${CANARY}`, description: CANARY });
    expect((await call<HistoryPreview>("GET", `/v1/history/projects/${id}`)).body).toMatchObject({ runs: 1, tasks: 1 });
    expect(await deleteHistory("projects", id)).toMatchObject({ state: "succeeded", result: { runs: 1 } });
    expect(places(CANARY, WRITTEN)).toEqual([]);
    expect((await call("GET", `/v1/projects/${id}`)).status).toBe(404);
    expect(existsSync(join(server.data, "projects", id))).toBe(false);
  });
});

describe("a deletion", () => {
  test("is refused while the run is at work, says how to go on, and changes nothing", async () => {
    const run = await runOf("wait");
    const refused = await call("DELETE", `/v1/history/runs/${run.id}`);
    expect([refused.status, refused.body]).toMatchObject([
      409,
      {
        code: "history_active",
        detail: expect.stringContaining("Cancel, or wait"),
        active: [run.id, expect.stringMatching(/^sess_/)],
      },
    ]);
    expect((await call("GET", `/v1/runs/${run.id}`)).body).toMatchObject({ status: "running" });
    await call("POST", `/v1/runs/${run.id}/cancel`);
    await event(`run_id=${run.id}`, ({ kind }) => kind === "run_cancelled");
    expect(await deleteHistory("runs", run.id)).toMatchObject({ state: "succeeded" });
  });

  test("goes on after kill -9 until nothing is left", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push((await runOf("work")).id);
    const kept = ids.pop()!;
    const jobs = await Promise.all(ids.map(async (id) => (await call<Job>("DELETE", `/v1/history/runs/${id}`)).body));
    await event("kinds=history_deleted", ({ data }) => ids.includes(String(data["id"])));
    await server.stop("SIGKILL");
    const { data } = server;
    server = await startServer({ env: ENV, data });
    for (const job of jobs) expect(await jobEnded(job)).toMatchObject({ state: "succeeded" });
    for (const id of ids) expect((await call("GET", `/v1/runs/${id}`)).status).toBe(404);
    expect((await call("GET", `/v1/runs/${kept}`)).status).toBe(200);
    await deleteHistory("runs", kept);
    expect(places(CANARY, WRITTEN)).toEqual([]);
  });

  test("of what is not there, or of another kind, finds nothing", async () => {
    for (const path of ["runs/run_01h455vb4pex5vsknk084sn02q", "sessions/x", "projects/x", "users/x", "secrets/x"])
      expect([path, (await call("DELETE", `/v1/history/${path}`)).status]).toEqual([path, 404]);
  });
});

describe("on the command line", () => {
  const cli = (...args: string[]) => skep([...args, "--data", server.data]);

  test("chats are listed, ended, deleted; a run is deleted after saying what goes; the disk is measured", async () => {
    const chat = (await call<{ id: string }>("POST", "/v1/chat/sessions", { agent_id: "ann", title: "Plans" })).body;
    expect((await cli("chats")).stdout).toContain(chat.id);
    expect((await cli("chats", "end", chat.id)).stdout).toBe(`ended ${chat.id}\n`);
    expect((await cli("chats", "--status", "ended")).stdout).toContain("Plans");
    expect((await cli("chats", "delete", chat.id, "--yes")).stdout).toBe("deleted chat Plans\n");
    expect((await call("GET", `/v1/chat/sessions/${chat.id}`)).status).toBe(404);

    const run = await runOf("work");
    const disk = JSON.parse((await cli("usage", "disk", "--json")).stdout);
    expect(disk).toMatchObject({
      total_bytes: expect.any(Number),
      largest: [{ id: run.id, name: expect.stringMatching(/^The key is /), bytes: expect.any(Number) }],
      engine: [],
    });
    expect((await cli("usage", "disk", "--last")).stdout).toMatch(/database: [\d.]+ MB/);
    const preview = (await cli("runs", "delete", run.id, "--preview")).stdout;
    expect(preview).toContain(`goes: run ${run.id}: 1 run, 1 transcript, `);
    expect(preview).toContain("stays: What it cost");
    expect((await call("GET", `/v1/runs/${run.id}`)).status).toBe(200);
    expect((await cli("runs", "delete", run.id, "--yes")).stdout).toBe(`deleted run ${run.id}\n`);
    const again = await cli("runs", "delete", run.id, "--yes");
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining(`There is no run ${run.id}`)]);
  });
});

test("by age and size the oldest go; what is kept stays, and the preview says how many", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push((await runOf("work")).id);
  const [first, second, third] = ids;
  expect((await skep(["runs", "keep", first!, "--data", server.data])).stdout).toContain("is kept");
  expect((await call("GET", "/v1/kept-history")).body).toMatchObject({ items: [{ id: first }] });
  expect((await call("GET", `/v1/kept-history?id=${first}`)).body).toMatchObject({ items: [{ id: first }] });
  expect((await call("GET", "/v1/kept-history?id=run_other")).body).toMatchObject({ items: [] });
  await event("kinds=history_kept", ({ data }) => data["id"] === first && data["kept"] === true);
  await server.stop();
  const db = new Database(join(server.data, "skep.db"));
  db.prepare("UPDATE runs SET finished_at = '2020-01-01T00:00:00.000Z' WHERE id IN (?, ?)").run(first, second);
  db.close();
  server = await startServer({ env: ENV, data: server.data });
  const preview = await call("GET", "/v1/admin/retention?runs_days=90");
  expect(preview.body).toMatchObject({ runs: { count: 1, limit_days: 90 }, chats: { count: 0, limit_days: null } });
  expect((await call("PUT", "/v1/settings", { retention: { runs_days: 90 } })).status).toBe(200);
  await server.stop();
  server = await startServer({ env: ENV, data: server.data });
  await event("kinds=history_deleted", ({ data }) => data["kind"] === "age");
  const left = await Promise.all(
    [first, second, third].map(async (id) => (await call("GET", `/v1/runs/${id}`)).status),
  );
  expect(left).toEqual([200, 404, 200]);
});

test("a user's everything: what they ran, said and uploaded, and the account; usage keeps its sums", async () => {
  const accounts = await startServer({ env: { ...ENV, AUTH_ENABLED: "true" } });
  try {
    const admin = await setupAdmin(accounts);
    const [ben, cy] = [
      await makeUser(accounts, admin, "ben@example.test"),
      await makeUser(accounts, admin, "cy@example.test"),
    ];
    const asked = { pipeline_id: "hello", task_description: CANARY };
    const run = await accounts.request<Run>("POST", "/v1/runs", { token: ben.token, body: asked });
    await accounts.request("GET", `/v1/events/stream?run_id=${run.body.id}`, { token: ben.token });
    const own = { title: CANARY, content: CANARY, private: true };
    const entry = await accounts.request("POST", "/v1/memory/vaults/lead/entries", { token: ben.token, body: own });
    expect(entry.status).toBe(201);
    const { token } = admin;
    for (const path of [`users/${ben.id}`, `runs/${run.body.id}`])
      expect([path, (await accounts.request("DELETE", `/v1/history/${path}`, { token: cy.token })).status]).not.toEqual(
        [path, 202],
      );
    const usage = async () =>
      (await accounts.request<{ totals: object }>("GET", "/v1/usage?user_id=all", { token })).body.totals;
    const before = await usage();
    const last = await accounts.request("DELETE", `/v1/history/users/${admin.id}`, { token });
    expect([last.status, last.body]).toMatchObject([409, { code: "last_administrator" }]);
    const job = await accounts.request<Job>("DELETE", `/v1/history/users/${ben.id}`, { token });
    expect(job.status).toBe(202);
    const isDeleted = ({ data }: { data: Seen }) => data.data?.["id"] === ben.id;
    await framesUntil(framesOf<Seen>(accounts, "/v1/events/stream?after=0&kinds=history_deleted", token), isDeleted);
    expect((await accounts.request("GET", `/v1/users/${ben.id}`, { token })).status).toBe(404);
    expect((await accounts.request("GET", `/v1/users/${cy.id}`, { token })).status).toBe(200);
    const audit = await accounts.request<{ items: object[] }>("GET", "/v1/admin/audit?action=user.deleted", { token });
    expect(audit.body.items[0]).toMatchObject({ subject: ben.id, data: { handed_to: admin.id } });
    expect((await accounts.request("GET", `/v1/runs/${run.body.id}`, { token })).status).toBe(404);
    expect(filesBelow(accounts.data).filter((path) => readFileSync(path).includes(CANARY))).toEqual([]);
    expect(await usage()).toEqual(before);
  } finally {
    await accounts.remove();
  }
});
