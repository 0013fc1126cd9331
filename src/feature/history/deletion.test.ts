/**
 * What a deletion removes outside the database: branches and folders in a project, containers of a real engine. Until
 * when it can be canceled; and what retention removes by size and of transcripts.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { waitFor } from "../../testing/attacks/waiting.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Job } from "../jobs/model.ts";
import type { Run } from "../runs/model.ts";

setDefaultTimeout(300_000);

const CANARY = "canary-51d07a-written-on-a-branch";
const SCRIPT = {
  version: 1,
  steps: { work: [{ tool_calls: [{ tool: "complete", input: { outputs: {}, summary: "Done." } }] }] },
  chat: [{ tool_calls: [{ tool: "bash", input: { command: `echo ${CANARY} > note.txt` } }] }, { text: "Noted." }],
};
const ENDS = ["run_complete", "run_failed", "run_cancelled"];
const GB = 1_000_000_000;

const docker = await dockerForTests(process.env);
const root = mkdtempSync(join(tmpdir(), "skep-deletion-"));
const hold = join(root, "hold");
const env = { DEMO_SCRIPT: join(root, "script.json") };
/** The server's git waits before it packs a repository, as long as the file `hold` exists. */
const HELD_GIT = `#!/bin/sh
case " $* " in *" gc "*) while [ -e '${hold}' ]; do sleep 0.05; done ;; esac
exec '${Bun.which("git")}' "$@"
`;
let server: TestServer;

type Seen = { kind: string; data: Record<string, unknown> };
const event = (query: string, holds: (event: Seen) => boolean) =>
  framesUntil(framesOf<Seen>(server, `/v1/events/stream?after=0&${query}`), ({ data }) => holds(data));
async function call<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await server.request<T>(method, path, { body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
const statusOf = async (path: string) => (await server.request("GET", path)).status;
const erase = (kind: "runs" | "sessions", id: string) => call<Job>("DELETE", `/v1/history/${kind}/${id}`);
const progress = (job: Job, holds: (data: Record<string, unknown>) => boolean) =>
  event("kinds=job_progress", ({ data }) => data["job_id"] === job.id && holds(data));
async function jobEnded(job: Job): Promise<Job> {
  await progress(job, ({ state }) => ["succeeded", "failed", "cancelled"].includes(String(state)));
  return call<Job>("GET", `/v1/jobs/${job.id}`);
}
async function prepare(): Promise<void> {
  await call("POST", "/v1/agents", { id: "ann", name: "Ann", prompt: "Work.", model: "demo/scripted" });
  const steps = [{ id: "work", agent: "ann", input: "{{ task_description }}" }];
  await call("POST", "/v1/pipelines", { id: "work", name: "work", steps });
}
async function runOf(): Promise<string> {
  const { id } = await call<Run>("POST", "/v1/runs", { pipeline_id: "work", task_description: "Work." });
  await event(`run_id=${id}`, ({ kind }) => ENDS.includes(kind));
  return id;
}
const project = async (name: string) => (await call<{ id: string }>("POST", "/v1/projects", { name })).id;
async function chatOf(project_id: string | null): Promise<string> {
  const { id } = await call<{ id: string }>("POST", "/v1/chat/sessions", { agent_id: "ann", project_id });
  await call("POST", `/v1/chat/sessions/${id}/message`, { message: "Note it." });
  await event(`session_id=${id}`, ({ kind }) => kind === "turn_ended");
  return id;
}
function git(projectId: string, ...args: string[]): Buffer {
  const ran = Bun.spawnSync(["git", "--git-dir", join(server.data, "projects", projectId, "git"), ...args]);
  if (ran.exitCode !== 0) throw new Error(ran.stderr.toString());
  return ran.stdout;
}
const objects = (projectId: string) => git(projectId, "cat-file", "--batch-all-objects", "--batch").toString("latin1");
const branches = (projectId: string) => git(projectId, "for-each-ref", "--format=%(refname)").toString();
/** @param change applied to the database while the server is stopped. */
async function restart(change: (db: Database.Database) => void = () => {}): Promise<void> {
  await server.stop();
  const db = new Database(join(server.data, "skep.db"));
  change(db);
  db.close();
  server = await startServer({ env, data: server.data });
}

beforeAll(() => writeFileSync(env.DEMO_SCRIPT, JSON.stringify(SCRIPT)));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("a deletion", () => {
  beforeAll(async () => {
    mkdirSync(join(root, "bin"));
    writeFileSync(join(root, "bin", "git"), HELD_GIT, { mode: 0o755 });
    Object.assign(env, { PATH: `${join(root, "bin")}:${process.env["PATH"]}`, ALLOW_HOST_SHELL: "true" });
    server = await startServer({ env });
    await prepare();
  });
  afterAll(async () => {
    rmSync(hold, { force: true });
    await server?.remove();
  });

  test("of a chat that works on a project's branch takes branch, folder and commits; cancelled in time, none of it", async () => {
    const of = await project("Branches");
    const [chat, other] = [await chatOf(of), await chatOf(of)];
    await call("GET", `/v1/changes/${chat}/diff`);
    await call("GET", `/v1/changes/${other}/diff`);
    expect(branches(of)).toContain(`chat/${chat}`);
    expect(objects(of)).toContain(CANARY);

    writeFileSync(hold, "");
    const first = await erase("sessions", chat);
    await progress(first, ({ detail }) => detail === "Packing repositories");
    const late = await server.request("POST", `/v1/jobs/${first.id}/cancel`);
    expect([late.status, late.body]).toMatchObject([409, { code: "job_finishes" }]);
    const waiting = await erase("sessions", other);
    expect((await server.request("POST", `/v1/jobs/${waiting.id}/cancel`)).status).toBe(202);
    expect(await jobEnded(waiting)).toMatchObject({ state: "cancelled" });
    rmSync(hold);

    expect(await jobEnded(first)).toMatchObject({ state: "succeeded", result: { sessions: 1, wal_emptied: true } });
    expect(branches(of)).not.toContain(chat);
    expect(existsSync(join(server.data, "workspaces", chat))).toBe(false);
    expect(await statusOf(`/v1/chat/sessions/${chat}`)).toBe(404);
    expect(await statusOf(`/v1/chat/sessions/${other}`)).toBe(200);
    expect(existsSync(join(server.data, "workspaces", other, "note.txt"))).toBe(true);

    expect(await jobEnded(await erase("sessions", other))).toMatchObject({ state: "succeeded" });
    expect(objects(of)).not.toContain(CANARY);
    const files = Bun.spawnSync(["grep", "-rlaF", CANARY, "."], { cwd: server.data }).stdout.toString();
    expect(files).toBe("");
  });

  test("by size takes the oldest runs and chats until the rest is small enough, but none that is kept", async () => {
    const big = (id: string) => {
      mkdirSync(join(server.data, "workspaces", id), { recursive: true });
      writeFileSync(join(server.data, "workspaces", id, "big"), Buffer.alloc(0.7 * 0.001 * GB));
    };
    const runs = [await runOf(), await runOf(), await runOf()];
    const chats = [await chatOf(null), await chatOf(null)];
    for (const id of [...runs, ...chats]) big(id);
    for (const id of chats) await call("DELETE", `/v1/chat/sessions/${id}`);
    await call("PUT", `/v1/kept-history/${runs[0]}`);
    await call("PUT", "/v1/settings", { retention: { runs_gb: 0.001, chats_gb: 0.001 } });
    const preview = await call("GET", "/v1/admin/retention");
    expect(preview).toMatchObject({ runs: { count: 1, limit_gb: 0.001 }, chats: { count: 1, limit_gb: 0.001 } });
    // Sizes are checked soon after the start, one job at a time.
    await restart();
    await waitFor(async () => (await statusOf(`/v1/runs/${runs[1]}`)) === 404, "the run to go");
    await waitFor(() => !existsSync(join(server.data, "workspaces", runs[1]!)), "its files to go");
    await restart();
    await waitFor(async () => (await statusOf(`/v1/chat/sessions/${chats[0]}`)) === 404, "the chat to go");
    for (const path of [`runs/${runs[0]}`, `runs/${runs[2]}`, `chat/sessions/${chats[1]}`])
      expect([path, await statusOf(`/v1/${path}`)]).toEqual([path, 200]);
  });

  test("of transcripts by age leaves the run with its result, without what agents said", async () => {
    const id = await runOf();
    const ofRun = "session_id IN (SELECT id FROM sessions WHERE run_id = ?)";
    const read = (sql: string) => {
      const db = new Database(join(server.data, "skep.db"), { readonly: true });
      const found = db.prepare<[string], number>(`${sql} WHERE ${ofRun}`).pluck().get(id);
      db.close();
      return found ?? 0;
    };
    const countMessages = () => read("SELECT count(*) FROM messages");
    const said = read("SELECT sum(octet_length(content)) FROM messages");
    const done = read("SELECT sum(octet_length(input) + coalesce(octet_length(output), 0)) FROM tool_calls");
    const kept = read("SELECT sum(octet_length(input) + octet_length(text) + octet_length(outputs)) FROM executions");
    expect(Math.min(said, done)).toBeGreaterThan(0);
    await call("PUT", "/v1/settings", { retention: { runs_gb: null, chats_gb: null } });
    const ended = "UPDATE sessions SET ended_at = '2020-01-01T00:00:00.000Z' WHERE run_id = ?";
    await restart((db) => {
      db.prepare(ended).run(id);
      db.prepare("UPDATE runs SET finished_at = '2020-01-01T00:00:00.000Z' WHERE id = ?").run(id);
      // As if it was not measured yet: only texts count.
      db.prepare("DELETE FROM workspace_sizes WHERE name = ?").run(id);
    });
    // The preview says what the removal deletes.
    expect(await call<object>("GET", "/v1/admin/retention?transcripts_days=30&runs_days=30")).toMatchObject({
      transcripts: { bytes: said + done },
      runs: { count: 1, bytes: said + done + kept },
    });
    await call("PUT", "/v1/settings", { retention: { transcripts_days: 30 } });
    await restart();
    await waitFor(() => countMessages() === 0, "the transcript to go");
    expect(await call<object>("GET", "/v1/admin/retention?runs_days=30")).toMatchObject({
      transcripts: { count: 0, bytes: 0 },
      runs: { count: 1, bytes: kept },
    });
    expect(await call<Run>("GET", `/v1/runs/${id}`)).toMatchObject({ status: "succeeded" });
  });
});

describe.skipIf(!docker)("containers", () => {
  let image: string;
  beforeAll(async () => {
    image = await testImage(docker!);
    Object.assign(env, { SANDBOX: "docker", AGENT_IMAGE: image });
    server = await startServer({ env });
    await prepare();
  });
  afterAll(async () => {
    await server?.remove();
  });

  test("of a deleted chat, and what a killed engine left of a deleted run, are removed from the engine", async () => {
    const chat = await chatOf(null);
    const [own] = await docker!.containers.list([`skep.session=${chat}`]);
    const instance = own!.labels["skep.instance"]!;
    const run = await runOf();
    const createContainer = (label: string, id: string) =>
      docker!.containers.create({
        Image: image,
        Cmd: ["sh", "-c", "sleep 600"],
        HostConfig: { NetworkMode: "none" },
        Labels: { "skep.instance": instance, [label]: id },
      });
    const [left, foreign] = [
      await createContainer("skep.run", run),
      await createContainer("skep.run", "run_of_somebody_else"),
    ];
    const there = async () => (await docker!.containers.list([`skep.instance=${instance}`])).map(({ id }) => id);
    try {
      expect(await jobEnded(await erase("sessions", chat))).toMatchObject({ state: "succeeded" });
      expect(await there()).not.toContain(own!.id);
      expect(await there()).toContain(left);
      expect(await jobEnded(await erase("runs", run))).toMatchObject({ state: "succeeded" });
      expect(await there()).toEqual([foreign]);
    } finally {
      for (const id of [left, foreign]) await docker!.containers.remove(id);
    }
  });
});
