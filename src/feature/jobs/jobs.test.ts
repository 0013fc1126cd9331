import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { systemClock } from "../../core/clock.ts";
import { badRequest } from "../../core/errors.ts";
import type { SkepEvent } from "../../core/events.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { createAudit } from "../../store/audit.ts";
import { openStore, type Store } from "../../store/store.ts";
import { createJobs, type JobRequest, type Jobs } from "./service.ts";

let folder: string;
let store: Store;
let jobs: Jobs;
let events: SkepEvent[];
let heard: () => void;

/** As after a start of the server. */
function open(): void {
  store = openStore({ path: join(folder, "skep.db"), clock: systemClock });
  store.onCommit((written) => {
    events.push(...written.filter(({ kind }) => kind === "job_progress"));
    heard();
  });
  const audit = createAudit(store, systemClock);
  jobs = createJobs({ store, clock: systemClock, log: pino({ level: "silent" }), audit });
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "skep-jobs-"));
  events = [];
  heard = () => {};
  open();
});
afterEach(async () => {
  await jobs.stop();
  store.close();
  rmSync(folder, { recursive: true });
});

const start = (work: JobRequest["work"], userId?: string) => jobs.start({ kind: "test", subject: "it", userId, work });
/** The first event, past ones included, that shows that state or detail. */
const until = (fits: (data: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> =>
  new Promise((resolve) => {
    heard = () => {
      const found = events.find(({ data }) => fits(data));
      if (found) resolve(found.data);
    };
    heard();
  });
const ended = (id: string) => until((data) => data["job_id"] === id && data["state"] !== "running");
const get = (id: string) => jobs.get(id, LOCAL_ADMIN);

describe("a job", () => {
  test("runs after the transaction that wrote it, and its row tells how it ended", async () => {
    const order: string[] = [];
    const job = store.write(() => {
      const made = start(async () => {
        order.push("work");
        return { found: 3 };
      });
      order.push("written");
      return made;
    });
    expect(job).toMatchObject({ state: "queued", percent: null, result: null, subject: "it" });
    await ended(job.id);
    expect(order).toEqual(["written", "work"]);
    expect(get(job.id)).toMatchObject({ state: "succeeded", percent: 100, result: { found: 3 }, error: null });
  });

  test("whose transaction is undone never runs", async () => {
    let ran = false;
    expect(() =>
      store.write(() => {
        start(async () => {
          ran = true;
          return undefined;
        });
        throw new Error("undone");
      }),
    ).toThrow("undone");
    await jobs.stop();
    expect(ran).toBe(false);
    expect(jobs.list({ limit: 10, after: null }, LOCAL_ADMIN).items).toEqual([]);
  });

  test("fails with a problem's code and words; with nothing of an unexpected error", async () => {
    const known = start(() => Promise.reject(badRequest("It is broken.", "broken")));
    const unknown = start(() => Promise.reject(new Error("password=hunter2")));
    await ended(known.id);
    await ended(unknown.id);
    expect(get(known.id).error).toEqual({ code: "broken", message: "It is broken." });
    expect(get(unknown.id)).toMatchObject({ state: "failed", error: { code: "internal" } });
    expect(JSON.stringify([get(unknown.id), events])).not.toContain("hunter2");
  });

  test("tells of its progress now and then, and always of the latest", async () => {
    const gate = Promise.withResolvers<void>();
    const job = start(async (report) => {
      for (let at = 1; at <= 1_000; at++) report({ percent: at / 20, detail: `part ${at}`, data: { at } });
      await gate.promise;
      return undefined;
    });
    const last = await until((data) => data["detail"] === "part 1000");
    expect(last).toMatchObject({ job_id: job.id, state: "running", percent: 50, progress: { at: 1_000 } });
    expect(events.length).toBeLessThan(10);
    gate.resolve();
    await ended(job.id);
  });

  test("that is cancelled hears it, counts as cancelled, and is audited; one that has ended is not", async () => {
    const job = start(
      (_report, signal) => new Promise((_, fail) => signal.addEventListener("abort", () => fail(new Error("stopped")))),
    );
    await until((data) => data["state"] === "running");
    jobs.cancel(job.id, LOCAL_ADMIN);
    await ended(job.id);
    expect(get(job.id)).toMatchObject({ state: "cancelled", detail: "It was cancelled.", error: null });
    expect(() => jobs.cancel(job.id, LOCAL_ADMIN)).toThrow("cancelled already");
    expect(store.sqlite.prepare("SELECT actor FROM audit WHERE action = 'job.cancelled'").pluck().all()).toEqual([
      "local",
    ]);
  });

  test("that a crash cut short has failed when the next server looks", async () => {
    const at = new Date().toISOString();
    store.sqlite
      .prepare("INSERT INTO jobs (id, kind, state, created_at, updated_at) VALUES ('job_1', 'clone', 'running', ?, ?)")
      .run(at, at);
    store.close();
    open();
    expect(jobs.recover()).toBe(1);
    expect(get("job_1")).toMatchObject({ state: "failed", error: { code: "interrupted" } });
    expect(jobs.recover()).toBe(0);
  });

  test("under way at a stop is aborted, waited for, and says so", async () => {
    const job = start((_report, signal) => new Promise((_, fail) => signal.addEventListener("abort", fail)));
    await until((data) => data["state"] === "running");
    await jobs.stop();
    expect(get(job.id)).toMatchObject({ state: "cancelled", detail: "The server was stopped." });
  });

  test("is its user's and the administrators' alone, goes to an heir, and to nobody when there is none", async () => {
    const user = (userId: string) => ({ kind: "user", admin: false, userId }) as const;
    const job = start(async () => undefined, "usr_1");
    await ended(job.id);
    expect(jobs.get(job.id, user("usr_1")).id).toBe(job.id);
    for (const act of [jobs.get, jobs.cancel]) expect(() => act(job.id, user("usr_2"))).toThrow("There is no such job");
    jobs.handOver("usr_1", "usr_2");
    expect(jobs.list({ limit: 10, after: null }, user("usr_2")).items).toHaveLength(1);
    jobs.handOver("usr_2", null);
    expect(jobs.list({ limit: 10, after: null }, user("usr_2")).items).toEqual([]);
    expect(jobs.get(job.id, LOCAL_ADMIN).id).toBe(job.id);
    jobs.prune(Date.now() + 1_000);
    expect(() => jobs.get(job.id, LOCAL_ADMIN)).toThrow();
  });
});
