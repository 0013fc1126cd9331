/** Backups that the server makes: in the background, downloaded, restored, canceled, and removed by age. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { selfCommand } from "../../process/self-command.ts";
import type { Audit } from "../../store/audit.ts";
import { createBackupWriter } from "../../store/backup-worker.ts";
import { skep, temporaryFolder } from "../../testing/command.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { isRoot, lacks } from "../../testing/parts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Job } from "../jobs/model.ts";
import type { Backup } from "./model.ts";
import { createBackups } from "./service.ts";

setDefaultTimeout(300_000);

const folder = temporaryFolder();
let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

const BASE = "/v1/admin/backups";
const start = async () => {
  const { status, body, headers } = await server.request<Job>("POST", BASE);
  expect([status, headers.get("location")]).toEqual([202, `/v1/jobs/${body.id}`]);
  return body;
};
/** Reads the job's events until one matches. */
const waitForJob = (job: Job, is: (data: Partial<Job>) => boolean) =>
  framesUntil(
    framesOf<{ data: { data: Partial<Job> & { job_id?: string } } }["data"]>(
      server,
      "/v1/events/stream?kinds=job_progress&after=0",
    ),
    ({ data: { data } }) => data.job_id === job.id && is(data),
  );
const list = async () => (await server.request<{ items: Backup[] }>("GET", BASE)).body.items;

test("is made in the background, listed, downloaded and restored; it holds no keys; then it is deleted", async () => {
  await server.request("POST", "/v1/secrets", { body: { name: "KEPT", value: "a-value-for-it" } });
  const job = await start();
  await waitForJob(job, ({ state }) => state === "succeeded");
  const { body: done } = await server.request<Job>("GET", `/v1/jobs/${job.id}`);
  const [made] = await list();
  expect(done).toMatchObject({ kind: "backup", result: { ...made, files: expect.any(Number) } });
  expect(made).toEqual((await server.request<Backup>("GET", `${BASE}/${made!.id}`)).body);
  const answer = await fetch(`${server.url}${BASE}/${made!.id}/content`);
  expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="${made!.id}.tar.gz"`);
  const file = join(folder.path, "downloaded.tar.gz");
  writeFileSync(file, new Uint8Array(await answer.arrayBuffer()));
  const restored = join(folder.path, "restored");
  const said = await skep(["restore", file, "--data", restored, "--json"]);
  expect(JSON.parse(said.stdout)).toMatchObject({ keys: false });
  expect(readdirSync(restored)).not.toContain("keys");
  const actions = (await server.request<{ items: { action: string }[] }>("GET", "/v1/admin/audit?action=backup")).body;
  expect(actions.items.map(({ action }) => action)).toEqual(["backup.downloaded", "backup.started"]);
  expect((await server.request("DELETE", `${BASE}/${made!.id}`)).status).toBe(204);
  expect((await server.request("DELETE", `${BASE}/${made!.id}`)).status).toBe(404);
  expect(await list()).toEqual([]);
});

test("it says what was left out of it, in the list as well, and goes with what it said", async () => {
  const link = join(server.data, "uploads", "away");
  symlinkSync("/etc", link);
  const job = await start();
  await waitForJob(job, ({ state }) => state === "succeeded");
  rmSync(link);
  const [made] = await list();
  expect(made?.left_out).toEqual(["uploads/away"]);
  expect((await server.request<Job>("GET", `/v1/jobs/${job.id}`)).body.result).toMatchObject({ ...made });
  expect((await server.request("DELETE", `${BASE}/${made?.id}`)).status).toBe(204);
  expect(readdirSync(join(server.data, "backups"))).toEqual([]);
});

test("one under way is joined, and cancelled leaves nothing in the folder", async () => {
  const large = join(server.data, "uploads", "large");
  writeFileSync(large, "");
  truncateSync(large, 3 * 1024 ** 3);
  const job = await start();
  await waitForJob(job, ({ detail }) => /files, \d+ of 3\d\d\d MiB/.test(detail ?? ""));
  expect((await start()).id).toBe(job.id);
  expect((await server.request("POST", `/v1/jobs/${job.id}/cancel`)).status).toBe(202);
  await waitForJob(job, ({ state }) => state === "cancelled");
  rmSync(large);
  expect(readdirSync(join(server.data, "backups"))).toEqual([]);
});

test.skipIf(lacks("root", isRoot))(
  "a disk that is full, and one that may not be written, fail the job with what to do, and leave nothing half written",
  async () => {
    const place = join(server.data, "backups");
    const mount = (...options: string[]) =>
      expect(Bun.spawnSync(["mount", ...options, place]).stderr.toString()).toBe("");
    const failBackup = async () => {
      const job = await start();
      await waitForJob(job, ({ state }) => state === "failed");
      return (await server.request<Job>("GET", `/v1/jobs/${job.id}`)).body.error;
    };
    mount("-t", "tmpfs", "-o", "size=200k", "tmpfs");
    try {
      expect(await failBackup()).toEqual({ code: "disk_full", message: expect.stringContaining("free about as much") });
      expect(readdirSync(place)).toEqual([]);
      mount("-o", "remount,ro");
      expect(await failBackup()).toEqual({ code: "not_permitted", message: expect.stringContaining("Check who may") });
    } finally {
      Bun.spawnSync(["umount", "-l", place]);
    }
  },
);

test("a worker that is killed, and one that breaks, are failures of the server, not refusals", async () => {
  const options = { signal: new AbortController().signal, progress: () => {} };
  const killed = createBackupWriter(["sh", "-c", "kill -9 $$"], server.data);
  await expect(killed(join(folder.path, "a.tar.gz"), options)).rejects.toMatchObject({
    status: 500,
    code: "backup_killed",
    detail: expect.stringContaining("(SIGKILL)"),
  });
  const write = createBackupWriter(selfCommand("backup-worker"), server.data);
  const broken = await write(join(folder.path, "a\0b", "a.tar.gz"), options).catch((error) => error);
  expect([broken.name, broken.message]).toEqual(["Error", expect.stringMatching(/process failed: .*null bytes/s)]);
  await expect(write(join(folder.path, "downloaded.tar.gz"), options)).rejects.toMatchObject({ status: 422 });
  await expect(write(join(folder.path, "downloaded.tar.gz", "a.tar.gz"), options)).rejects.toMatchObject({
    status: 422,
    code: "no_folder",
  });
});

test("a backups folder that was removed is made again", async () => {
  rmSync(join(server.data, "backups"), { recursive: true });
  expect(await list()).toEqual([]);
  await waitForJob(await start(), ({ state }) => state === "succeeded");
  expect(await list()).toHaveLength(1);
});

test("ids that lead elsewhere find nothing", async () => {
  for (const id of ["..%2F..%2Fskep", "skep-20260101-000000", "skep.db", ".."])
    expect([id, (await server.request("GET", `${BASE}/${id}/content`)).status]).toEqual([id, 404]);
});

test("by age all but the newest are removed; drafts of a killed process are removed at the start", async () => {
  const place = join(folder.path, "by-age");
  const names = ["skep-20260101-000000", "skep-20260102-000000", "skep-20260103-000000"];
  rmSync(place, { recursive: true, force: true });
  await Bun.write(join(place, ".skep-20260104-000000.tar.gz-Ab12Cd", "archive"), "half");
  await Bun.write(join(place, "skep.db.copy"), "another's");
  for (const [day, name] of names.entries()) {
    const path = join(place, `${name}.tar.gz`);
    await Bun.write(path, name);
    utimesSync(path, day + 1, day + 1);
  }
  const throwUnused = (): never => {
    throw new Error("unused");
  };
  const backups = createBackups({
    folder: place,
    write: throwUnused,
    jobs: { enqueue: throwUnused },
    clock: { now: throwUnused, monotonic: throwUnused },
    audit: throwUnused as Audit,
    scheduledFolder: () => place,
    wrongFolder: () => undefined,
    instanceId: "ins_0123456789",
    keepRule: throwUnused,
    onScheduledEnd: throwUnused,
  });
  backups.sweep();
  backups.prune(2_500);
  expect(readdirSync(place).sort()).toEqual(["skep-20260103-000000.tar.gz", "skep.db.copy"]);
  backups.prune(10_000);
  expect(backups.list({ limit: 10, after: null }).items.map(({ id }) => id)).toEqual(["skep-20260103-000000"]);
});
