/** Files of chats: a fork copies them without following links, and a deleted user's files are removed from the disk. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { readUntil, waitFor } from "../../testing/attacks/waiting.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Job } from "../jobs/model.ts";

setDefaultTimeout(300_000);

let server: TestServer;
let admin: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
  admin = await setupAdmin(server);
});
afterAll(() => server.remove());

async function chatOf(who: Account): Promise<{ id: string; folder: string; message: string }> {
  const call = (method: string, path: string, body?: object) =>
    server.request<{ id: string; messages: { id: string }[] }>(method, `/v1/chat/sessions${path}`, {
      body,
      token: who.token,
    });
  const { id } = (await call("POST", "", { agent_id: "scribe" })).body;
  await call("POST", `/${id}/message?stream=true`, { message: "Hello" });
  const { messages } = (await call("GET", `/${id}`)).body;
  return { id, folder: join(server.data, "workspaces", id), message: messages[0]?.id ?? "" };
}

interface Forked {
  id: string;
  files_job_id: string | null;
}
const forkOf = (id: string, message: string) =>
  server.request<Forked>("POST", `/v1/chat/sessions/${id}/fork`, {
    body: { message_id: message },
    token: admin.token,
  });
const jobOf = async (id: string | null) =>
  (await server.request<Job>("GET", `/v1/jobs/${id}`, { token: admin.token })).body;

test("a fork has a copy of the files, links as links, and what changes later stays apart", async () => {
  const { id, folder, message } = await chatOf(admin);
  mkdirSync(join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "src/a.txt"), "written", { mode: 0o755 });
  writeFileSync(join(folder, "large.bin"), "");
  truncateSync(join(folder, "large.bin"), 65 * 1024 ** 2);
  symlinkSync("/etc", join(folder, "away"));
  const fork = await forkOf(id, message);
  expect(fork.status).toBe(201);
  const job = await readUntil(
    () => jobOf(fork.body.files_job_id),
    ({ finished_at }) => finished_at !== null,
  );
  expect(job).toMatchObject({ state: "succeeded", result: { files: 2, bytes: 7, left_out: 1 } });
  const copy = join(server.data, "workspaces", fork.body.id);
  expect(readFileSync(join(copy, "src/a.txt"), "utf8")).toBe("written");
  expect(statSync(join(copy, "src/a.txt")).mode & 0o777).toBe(0o755);
  expect(readlinkSync(join(copy, "away"))).toBe("/etc");
  writeFileSync(join(folder, "src/a.txt"), "later");
  expect(readFileSync(join(copy, "src/a.txt"), "utf8")).toBe("written");
});

/** Writes text files into folders of 300 each. */
function writeMany(folder: string, count: number): void {
  for (let n = 0; n < count; n++) {
    const part = join(folder, `d${Math.floor(n / 300)}`);
    if (n % 300 === 0) mkdirSync(part, { recursive: true });
    writeFileSync(join(part, `f${n}.txt`), `${n}`.repeat(2_000));
  }
}
const textsIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".txt"));

test("a copy that is cancelled leaves a fork without files, not with some, and the fork answers", async () => {
  const { id, folder, message } = await chatOf(admin);
  writeMany(folder, 6_000);
  const workspaces = join(server.data, "workspaces");
  let fork: Forked;
  let job: Job;
  // If the copy was complete before the request to cancel came, the test tries again with another fork.
  do {
    fork = (await forkOf(id, message)).body;
    const draft = join(workspaces, `copying-${fork.id}`);
    const hasBegun = () => existsSync(draft) && textsIn(draft).length > 0;
    while (!hasBegun() && !existsSync(join(workspaces, fork.id))) await Bun.sleep(1);
    await server.request("POST", `/v1/jobs/${fork.files_job_id}/cancel`, { token: admin.token });
    job = await readUntil(
      () => jobOf(fork.files_job_id),
      ({ finished_at }) => finished_at !== null,
    );
  } while (job.state === "succeeded");
  expect(job).toMatchObject({ state: "cancelled", result: null });
  expect(readdirSync(workspaces).filter((name) => name.includes(fork.id))).toEqual([]);
  const chat = await server.request<Forked>("GET", `/v1/chat/sessions/${fork.id}`, { token: admin.token });
  expect(chat.body.files_job_id).toBeNull();
  const reply = await server.request("POST", `/v1/chat/sessions/${fork.id}/message?stream=true`, {
    body: { message: "Go on" },
    token: admin.token,
  });
  expect(reply.status).toBe(200);
  expect(textsIn(join(workspaces, fork.id))).toEqual([]);
  expect(textsIn(folder)).toHaveLength(6_000);
});

test("a server that is killed while it copies begins again: the fork has all files or none, and no draft is left", async () => {
  const { id, folder, message } = await chatOf(admin);
  writeMany(folder, 3_000);
  const { id: fork, files_job_id } = (await forkOf(id, message)).body;
  const workspaces = join(server.data, "workspaces");
  const draft = join(workspaces, `copying-${fork}`);
  const hasBegun = () => existsSync(draft) || existsSync(join(workspaces, fork));
  for (let asked = 0; !hasBegun() && asked < 60_000; asked++) await Bun.sleep(1);
  await server.stop("SIGKILL");
  // Whenever the server is killed, a folder under the fork's name is complete.
  const wasComplete = existsSync(join(workspaces, fork));
  if (!wasComplete) expect(existsSync(draft)).toBe(true);
  server = await startServer({ env: { AUTH_ENABLED: "true" }, data: server.data });
  const job = await readUntil(
    () => jobOf(files_job_id),
    ({ finished_at }) => finished_at !== null,
  );
  expect(job.state).toBe("succeeded");
  if (!wasComplete) expect(job.result).toMatchObject({ left_out: 0 });
  expect(textsIn(join(workspaces, fork))).toHaveLength(3_000);
  expect(readFileSync(join(workspaces, fork, "d9/f2999.txt"), "utf8")).toBe("2999".repeat(2_000));
  expect(existsSync(draft)).toBe(false);
  // A reply that is requested meanwhile waits for the copy, and sees the files.
  const reply = await server.request("POST", `/v1/chat/sessions/${fork}/message?stream=true`, {
    body: { message: "Go on" },
    token: admin.token,
  });
  expect(reply.status).toBe(200);
});

test("with a user go the workspaces of their chats, their document files and uploads; others' stay", async () => {
  const user = await makeUser(server, admin, "leaves@example.test");
  const [own, others] = [await chatOf(user), await chatOf(admin)];
  const send = async (who: Account, content: string) => {
    const made = await server.request("POST", "/v1/ingest/document", {
      body: { title: "T", content },
      token: who.token,
    });
    expect(made.status).toBeOneOf([200, 201, 202]);
  };
  const files = () =>
    (readdirSync(join(server.data, "uploads"), { recursive: true, encoding: "utf8" }) as string[])
      .filter((path) => /\/[0-9a-f]{64}$/.test(path))
      .map((path) => readFileSync(join(server.data, "uploads", path), "utf8"));
  await send(user, "of the one who leaves");
  await send(user, "of both");
  await send(admin, "of both");
  expect(files().sort()).toEqual(["of both", "of the one who leaves"]);
  expect([own, others].map(({ folder }) => existsSync(folder))).toEqual([true, true]);
  const gone = await server.request("DELETE", `/v1/users/${user.id}`, { token: admin.token });
  expect(gone.status).toBe(204);
  await waitFor(() => !existsSync(own.folder) && files().length === 1, "the removal");
  expect([existsSync(others.folder), files()]).toEqual([true, ["of both"]]);
});
