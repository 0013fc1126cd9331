/**
 * Limits per user: a user who reaches a limit is told how much is used and allowed, and other users are not affected.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LIMITS } from "../../core/limits.ts";
import type { Storage } from "../../feature/storage/model.ts";
import { type Account, makeUser, setupAdmin } from "../accounts.ts";
import { startServer, type TestServer } from "../server.ts";
import { readUntil } from "./waiting.ts";

setDefaultTimeout(300_000);

let server: TestServer;
let admin: Account;
let ann: Account;
let ben: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
  admin = await setupAdmin(server);
  ann = await makeUser(server, admin, "ann@example.test");
  ben = await makeUser(server, admin, "ben@example.test");
});
afterAll(() => server.remove());

const post = (who: Account, path: string, body: unknown) =>
  server.request<Record<string, unknown>>("POST", path, { token: who.token, body });
const limit = (limits: Record<string, number | null>) =>
  server.request("PUT", "/v1/settings", { token: admin.token, body: { limits } });

describe("a user who has as much as a user may have", () => {
  test("of unfinished runs is told so, and another user's run is taken", async () => {
    const waits = { id: "waits", name: "Waits", steps: [{ id: "ask", approval: { message: "Go on?" } }] };
    expect((await post(admin, "/v1/pipelines", waits)).status).toBe(201);
    const run = { pipeline_id: "waits", task_description: "Wait" };
    await limit({ user_unfinished_runs: 2 });
    for (let n = 0; n < 2; n++) expect((await post(ann, "/v1/runs", run)).status).toBe(201);
    const refused = await post(ann, "/v1/runs", run);
    expect(refused).toMatchObject({ status: 429, body: { code: "too_many_runs", current: 2, limit: 2 } });
    expect(refused.body["detail"]).toContain("cancel them");
    expect((await post(ben, "/v1/runs", run)).status).toBe(201);
    await limit({ user_unfinished_runs: null });
    expect((await post(ann, "/v1/runs", run)).status).toBe(201);
  });

  test("of open chats may open another once one has ended", async () => {
    await limit({ user_open_chats: 1 });
    const chat = { agent_id: "scribe" };
    const { id } = (await post(ann, "/v1/chat/sessions", chat)).body;
    const refused = await post(ann, "/v1/chat/sessions", chat);
    expect(refused).toMatchObject({ status: 429, body: { code: "too_many_chats", current: 1, limit: 1 } });
    expect((await post(ben, "/v1/chat/sessions", chat)).status).toBe(201);
    await server.request("DELETE", `/v1/chat/sessions/${id}`, { token: ann.token });
    expect((await post(ann, "/v1/chat/sessions", chat)).status).toBe(201);
  });

  test("of stored files is told how much there is, in bytes", async () => {
    await limit({ user_stored_mb: 1 });
    const upload = async ({ token }: Account, bytes: number) => {
      const form = new FormData();
      form.append("file", new File(["x".repeat(bytes)], "a.txt", { type: "text/plain" }));
      const headers = { Authorization: `Bearer ${token}` };
      const answer = await fetch(`${server.url}/v1/attachments/upload`, { method: "POST", headers, body: form });
      return { status: answer.status, body: await answer.json() };
    };
    expect((await upload(ann, 900_000)).status).toBe(201);
    expect(await upload(ann, 900_000)).toMatchObject({
      status: 413,
      body: { code: "quota_exceeded", current: 900_000, limit: 1024 ** 2 },
    });
    expect((await upload(ben, 900_000)).status).toBe(201);
    // A user's private memory entries count for that user.
    const entry = { title: "Long", content: "x".repeat(19_000), private: true };
    for (let n = 0; n < 7; n++) expect((await post(ann, "/v1/memory/vaults/scribe/entries", entry)).status).toBe(201);
    const { current, ...refused } = (await post(ann, "/v1/memory/vaults/scribe/entries", entry)).body;
    expect(refused).toMatchObject({
      status: 413,
      code: "quota_exceeded",
      attachments_bytes: 900_000,
      documents_bytes: 0,
    });
    expect(refused["detail"]).toContain("Delete documents or memory entries");
    expect(Number(refused["memory_bytes"])).toBe(Number(current) - 900_000);
    await limit({ user_stored_mb: null });
  });

  test("of evals counts with stored files, in the sums of the disk too, and is given back with them", async () => {
    await limit({ user_stored_mb: 1 });
    // The content is incompressible, so that as much is stored as is sent.
    const dense = (path: string) => ({ path, content: randomBytes(65_000).toString("base64") });
    const task = (name: string) => ({
      name,
      instruction: "Do it.",
      tests: [{ path: "test.sh", content: "" }, dense("d")],
    });
    const start = (who: Account, tasks: object[]) => post(who, "/v1/evals", { name: "e", agents: ["scribe"], tasks });
    const evalsOf = async ({ token }: Account) =>
      (await server.request<Storage>("GET", "/v1/storage", { token })).body.stored.evals_bytes;
    const tasks = Array.from({ length: 8 }, (_, at) => task(`t${at}`));
    const made = await start(ben, tasks.slice(0, 1));
    expect(made.status).toBe(202);
    const size = Number(made.body["size_bytes"]);
    expect(size).toBeGreaterThan(86_000);
    expect([await evalsOf(ben), await evalsOf(ann)]).toEqual([size, 0]);
    expect(await start(ben, [...tasks, task("t8"), task("t9"), task("t10"), task("t11"), task("t12")])).toMatchObject({
      status: 413,
      body: { code: "quota_exceeded", evals_bytes: size, detail: expect.stringContaining("evals that") },
    });
    const { id: job } = (await post(admin, "/v1/admin/disk/measure", {})).body;
    await readUntil(
      async () =>
        (await server.request<{ state: string }>("GET", `/v1/jobs/${job}`, { token: admin.token })).body.state,
      (state) => state === "succeeded",
    );
    const { body: disk } = await server.request("GET", "/v1/admin/disk", { token: admin.token });
    expect(disk).toMatchObject({
      usage: { kinds: expect.arrayContaining([{ kind: "evals", count: 1, bytes: size }]) },
    });
    const own = `/v1/evals/${made.body["id"]}`;
    await post(ben, `${own}/cancel`, {});
    expect((await server.request("DELETE", own, { token: ben.token })).status).toBe(204);
    expect(await evalsOf(ben)).toBe(0);
    await limit({ user_stored_mb: null });
  });

  test("of files of runs and chats begins nothing new until they are removed; links are not followed", async () => {
    await limit({ user_workspaces_mb: 1, user_open_chats: null });
    const storageOf = (who: Account, query = "") =>
      server.request<Storage>("GET", `/v1/storage${query}`, { token: who.token });
    const chat = { agent_id: "scribe" };
    const { id } = (await post(ann, "/v1/chat/sessions", chat)).body;
    const folder = join(server.data, "workspaces", String(id));
    mkdirSync(folder);
    symlinkSync("/usr", join(folder, "away"));
    writeFileSync(join(folder, "large.bin"), Buffer.alloc(2 * 1024 ** 2));
    const say = (who: Account, chatId: unknown) =>
      post(who, `/v1/chat/sessions/${chatId}/message?stream=true`, { message: "Hello" });
    expect((await say(ann, id)).status).toBe(200);
    const full = await readUntil(
      async () => (await storageOf(ann)).body,
      ({ workspaces }) => workspaces.bytes > 2 * 1024 ** 2,
    );
    expect(full.workspaces).toMatchObject({ folders: 1, limit_bytes: 1024 ** 2, bytes: 2 * 1024 ** 2 + "/usr".length });
    for (const [path, body] of [
      ["/v1/chat/sessions", chat],
      [`/v1/chat/sessions/${id}/message`, { message: "More" }],
      ["/v1/runs", { pipeline_id: "waits", task_description: "Wait" }],
    ] as const)
      expect(await post(ann, path, body)).toMatchObject({
        status: 413,
        body: { code: "workspaces_full", current: full.workspaces.bytes, limit: 1024 ** 2 },
      });
    expect((await post(ben, "/v1/chat/sessions", chat)).status).toBe(201);
    expect((await post(ben, "/v1/runs", { pipeline_id: "waits", task_description: "Wait" })).status).toBe(201);
    // Only administrators see the numbers of other users.
    const { items: accounts } = (
      await server.request<{ items: Record<string, unknown>[] }>("GET", "/v1/admin/users", { token: admin.token })
    ).body;
    const listed = accounts.find(({ email }) => email === "ann@example.test");
    expect(listed).toMatchObject({ workspaces_bytes: full.workspaces.bytes });
    expect((await storageOf(ben, `?user_id=${listed?.["id"]}`)).status).toBe(403);
    // The folders may have been measured again in the meantime.
    expect((await storageOf(admin, `?user_id=${listed?.["id"]}`)).body).toEqual({
      ...full,
      workspaces: { ...full.workspaces, measured_at: expect.any(String) },
    });
    const largest = await server.request("GET", "/v1/storage/workspaces", { token: ann.token });
    expect(largest.body).toMatchObject({ items: [{ id, files: 2 }] });
    await readUntil(
      () => server.request("DELETE", `/v1/chat/sessions/${id}?purge=true`, { token: ann.token }),
      ({ status }) => status === 204,
    );
    await readUntil(
      async () => existsSync(folder),
      (is) => !is,
    );
    expect([existsSync(folder), (await storageOf(ann)).body.workspaces.bytes]).toEqual([false, 0]);
    expect((await post(ann, "/v1/chat/sessions", chat)).status).toBe(201);
    await limit({ user_workspaces_mb: null });
  });

  test("of event streams gets no further one, until one is closed", async () => {
    const open = ({ token }: Account) => {
      const close = new AbortController();
      const headers = { Authorization: `Bearer ${token}` };
      return fetch(`${server.url}/v1/events/stream`, { headers, signal: close.signal }).then((answer) => ({
        answer,
        close: () => close.abort(),
      }));
    };
    const opened = await Promise.all(Array.from({ length: LIMITS.streamsPerUser }, () => open(ann)));
    const refused = await open(ann);
    expect(refused.answer.status).toBe(429);
    expect(await refused.answer.json()).toMatchObject({
      code: "too_many_streams",
      current: LIMITS.streamsPerUser,
      limit: LIMITS.streamsPerUser,
    });
    const other = await open(ben);
    expect(other.answer.status).toBe(200);
    for (const { close } of [...opened, other]) close();
    for (;;) {
      const again = await open(ann);
      again.close();
      if (again.answer.status === 200) break;
      await Bun.sleep(20);
    }
  });
});
