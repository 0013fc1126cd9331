/**
 * Scheduled backups when they are due: they go into a folder of their own, are verified, and follow the keep rule. If
 * the target is missing or full, older backups stay and the right people are told. The recipe for restic is run as
 * written.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { waitFor } from "../../testing/attacks/waiting.ts";
import { skep, temporaryFolder } from "../../testing/command.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { isRoot, lacks } from "../../testing/parts.ts";
import { skepCommand, startServer, type TestServer } from "../../testing/server.ts";
import type { Job } from "../jobs/model.ts";
import type { Notification } from "../notifications/model.ts";
import type { Backup, BackupSchedule } from "./model.ts";

setDefaultTimeout(300_000);

const folder = temporaryFolder();
const target = join(folder.path, "target");
/** Due at midnight UTC. If midnight passes during the test, there is one backup more, which does no harm. */
const DAILY = "0 0 * * *";
let server: TestServer;

beforeAll(async () => {
  mkdirSync(target);
  server = await startServer();
});
afterAll(async () => {
  Bun.spawnSync(["umount", "-l", target]);
  await server.remove();
  folder.remove();
});

const get = async <T>(path: string) => (await server.request<T>("GET", path)).body;
const set = (backup: object) => server.request("PUT", "/v1/settings", { body: { backup } });
const status = () => get<BackupSchedule>("/v1/admin/backup-schedule");
const list = async () => (await get<{ items: Backup[] }>("/v1/admin/backups")).items;
const notices = async () =>
  (await get<{ items: Notification[] }>("/v1/admin/notifications")).items.filter(({ title }) => /backup/i.test(title));
const archives = () => readdirSync(target).filter((name) => name.endsWith(".tar.gz"));
const finding = async () => {
  const { findings } = JSON.parse((await skep(["doctor", "--data", server.data, "--json"])).stdout);
  return findings.find(({ check }: { check: string }) => check === "backups");
};
const metric = async (name: string): Promise<number | undefined> => {
  const text = await get<string>("/metrics");
  const value = new RegExp(`^skep_backup_${name} (.*)$`, "m").exec(text)?.[1];
  return value === undefined ? undefined : Number(value);
};

/** Makes a scheduled backup due: the last one was missed, or tried more than an hour ago. */
async function becomeDue(change: (tag: string) => void = () => {}): Promise<void> {
  await server.stop();
  const db = new Database(join(server.data, "skep.db"));
  const state = { schedule: `${DAILY} UTC`, since: 0, tried_at: 1, succeeded_at: null, error: null };
  db.prepare("INSERT OR REPLACE INTO facts (name, value) VALUES ('backup_schedule', ?)").run(JSON.stringify(state));
  const id = db.prepare<[], string>("SELECT value FROM facts WHERE name = 'instance_id'").pluck().get()!;
  const last = db.prepare<[], number>("SELECT coalesce(max(id), 0) FROM events").pluck().get()!;
  db.close();
  change(id.slice(-8));
  server = await startServer({ data: server.data });
  after = last;
}
let after = 0;
async function waitForEnd(): Promise<Job> {
  let id = "";
  const frames = framesOf<{ data: { data: Job & { job_id: string } } }["data"]>(
    server,
    `/v1/events/stream?kinds=job_progress&after=${after}`,
  );
  await framesUntil(frames, ({ data: { data } }) => {
    id = data.job_id;
    return data.kind === "backup" && ["succeeded", "failed"].includes(data.state);
  });
  return get<Job>(`/v1/jobs/${id}`);
}

test("what cannot be due, or cannot be written, is refused with the reason", async () => {
  for (const [backup, says] of [
    [{ schedule: "0 0 31 2 *" }, "no such day"],
    [{ schedule: "every day" }, "schedule"],
    [{ timezone: "Mars/Olympus" }, "time zone"],
    [{ folder: join(folder.path, "missing") }, "make it, or mount its disk"],
    [{ folder: server.data }, "in the data folder"],
    [{ folder: join(server.data, "workspaces") }, "in the data folder"],
    [{ folder: "relative" }, "folder"],
    [{ keep_daily: -1 }, "keep_daily"],
  ] as const) {
    const answer = await set(backup);
    expect([backup, answer.status, JSON.stringify(answer.body)]).toEqual([backup, 422, expect.stringContaining(says)]);
  }
  expect(await status()).toMatchObject({ schedule: null, next_at: null, last_success_at: null, overdue: false });
  expect(await finding()).toMatchObject({ verdict: "ok", detail: expect.stringContaining("none by schedule") });
});

test("one that was missed is made at the start, can be restored, and removes by the keep rule only its own older ones", async () => {
  const said = await skep([
    "settings",
    "set",
    `backup.schedule=${DAILY}`,
    `backup.folder=${target}`,
    "--data",
    server.data,
    "backup.keep_daily=2",
    "backup.keep_weekly=0",
    "backup.keep_monthly=0",
  ]);
  expect([said.code, said.stderr]).toEqual([0, ""]);
  expect(await status()).toMatchObject({
    schedule: DAILY,
    folder: target,
    next_at: expect.any(String),
    overdue: false,
  });
  expect(await metric("age_seconds")).toBeUndefined();
  const others = ["skep-20200101-030000-0ther0ne.tar.gz", "skep-20200101-030000.tar.gz", "holiday.jpg"];
  let old: string[] = [];
  await becomeDue((tag) => {
    old = ["20200101", "20200102", "20200103"].map((day) => `skep-${day}-030000-${tag}.tar.gz`);
    for (const name of [...old, ...others]) writeFileSync(join(target, name), name);
  });
  expect(await waitForEnd()).toMatchObject({ state: "succeeded", result: { scheduled: true } });
  const [made] = await list();
  expect([made!.scheduled, made!.left_out]).toEqual([true, []]);
  expect(archives().sort()).toEqual([...others.slice(0, 2), old[2]!, `${made!.id}.tar.gz`].sort());
  expect(existsSync(join(target, "holiday.jpg"))).toBe(true);

  const restored = join(folder.path, "restored");
  const back = await skep(["restore", join(target, `${made!.id}.tar.gz`), "--data", restored, "--json"]);
  expect(JSON.parse(back.stdout)).toMatchObject({ keys: false });
  expect(await status()).toMatchObject({ last_success_at: expect.any(String), error: null, overdue: false });
  expect(await metric("failing")).toBe(0);
  expect(await metric("last_success_timestamp_seconds")).toBeGreaterThan(1_700_000_000);
  expect(await metric("age_seconds")).toBeGreaterThanOrEqual(0);
  expect(await finding()).toMatchObject({
    verdict: "ok",
    detail: expect.stringContaining("the last good one is of 2"),
  });
  const listed = await skep(["backup", "--list", "--data", server.data]);
  expect(listed.stdout).toMatch(new RegExp(`${made!.id} .* schedule\\n`));
  expect(listed.stdout).toContain(`Schedule: ${DAILY} UTC, into ${target}`);
});

test.skipIf(lacks("root", isRoot))(
  "a full disk and a missing folder fail it, leave the older ones, and are told until one succeeds",
  async () => {
    const before = archives();
    const aside = `${target}-aside`;
    const failing = async (code: string) => {
      expect(await waitForEnd()).toMatchObject({ state: "failed", error: { code } });
      expect(await status()).toMatchObject({ error: { code } });
      expect(await finding()).toMatchObject({ verdict: "fail", remedy: expect.stringContaining("every hour") });
      expect(await metric("failing")).toBe(1);
      expect(await notices()).toMatchObject([{ level: "error", title: "The scheduled backup failed" }]);
    };
    await becomeDue(() => {
      Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", target]);
      writeFileSync(join(target, before[0]!), "older");
    });
    await failing("disk_full");
    expect(readdirSync(target)).toEqual([before[0]!]);
    Bun.spawnSync(["umount", "-l", target]);

    await becomeDue(() => Bun.spawnSync(["mv", target, aside]));
    await failing("no_folder");
    expect(existsSync(target)).toBe(false);
    Bun.spawnSync(["mv", aside, target]);
    expect(archives()).toEqual(before);

    await becomeDue();
    expect(await waitForEnd()).toMatchObject({ state: "succeeded" });
    await waitFor(async () => (await notices()).length === 0, "the notice to go");
    expect(await status()).toMatchObject({ error: null, overdue: false });
  },
);

test("a copy on standby makes none", async () => {
  const copy = join(folder.path, "copy");
  const file = join(folder.path, "copy.tar.gz");
  await skep(["backup", file, "--data", server.data]);
  await skep(["restore", file, "--data", copy]);
  const before = archives();
  const other = await startServer({ data: copy });
  try {
    const answer = await other.request<BackupSchedule>("GET", "/v1/admin/backup-schedule");
    expect(answer.body).toMatchObject({ schedule: DAILY, overdue: false });
    const { body } = await other.request<{ items: Job[] }>("GET", "/v1/jobs?limit=100");
    expect(body.items.filter(({ finished_at }) => finished_at === null)).toEqual([]);
    expect(archives()).toEqual(before);
  } finally {
    await other.stop();
  }
});

test.skipIf(lacks("restic", Bun.which("restic") !== null))("the recipe for restic works as it is written", async () => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/backup.md"), "utf8");
  const [, part = ""] = page.split("### With restic");
  const blocks = [...part.split("### With Litestream")[0]!.matchAll(/```sh\n([^`]*)```/g)].map(([, block]) => block!);
  expect(blocks).toHaveLength(3);
  const place = join(folder.path, "restic");
  mkdirSync(join(place, "bin"), { recursive: true });
  writeFileSync(join(place, "password"), "correct horse\n");
  const command = skepCommand().map((word) => `'${word}'`);
  writeFileSync(join(place, "bin", "skep"), `#!/bin/sh\nexec ${command.join(" ")} "$@"\n`, { mode: 0o755 });
  // The addresses in the recipe's first block are replaced by the test's own.
  const script = [
    blocks[0]!.replace(/=\S+\/restic /, `=${place}/repository `).replace(/=\S+-password/, `=${place}/password`),
    ...blocks.slice(1),
  ].join("\n");
  const ran = Bun.spawnSync(["bash", "-euo", "pipefail", "-c", script], {
    cwd: place,
    env: { HOME: place, PATH: `${join(place, "bin")}:${process.env["PATH"]}`, DATA: server.data },
  });
  expect([ran.exitCode, ran.stderr.toString()]).toMatchObject([0, expect.anything()]);
  expect(ran.stdout.toString()).toContain("no errors were found");
  expect(readdirSync(join(place, "restored"))).toContain("skep.db");
  rmSync(place, { recursive: true });
});
