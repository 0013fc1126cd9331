import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Static, Type as t } from "@sinclair/typebox";
import pino from "pino";
import { systemClock } from "../../core/clock.ts";
import { createClockwork } from "../../core/clockwork.ts";
import { badRequest, unavailable } from "../../core/errors.ts";
import type { SkepEvent } from "../../core/events.ts";
import { defineJob, type JobOptions, type RunningJob } from "../../core/jobs.ts";
import { createMasking } from "../../core/masking.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { createAudit } from "../../store/audit.ts";
import { identify } from "../../store/identity.ts";
import { openStore, type Store } from "../../store/store.ts";
import { OPEN_PROJECTS } from "../../testing/open-projects.ts";
import { createJobs, type EnqueueOptions, type Jobs } from "./service.ts";

const Payload = t.Object({ say: t.String() });
type Payload = Static<typeof Payload>;
type Work = (payload: Payload, job: RunningJob) => Promise<Record<string, unknown> | undefined>;

let folder: string;
let store: Store;
let jobs: Jobs;
let die: () => void;
let stop: () => Promise<void>;
const masking = createMasking();
let events: SkepEvent[];
let changed: () => void;
/** The work that jobs of this process do. */
let work: Work;
/** Ids of jobs that have started in this process. */
let started: Set<string>;
let kind: ReturnType<typeof define>;

const define = (options: JobOptions<Payload>) =>
  defineJob(
    "test",
    Payload,
    (payload, job) => {
      const done = work(payload, job);
      started.add(job.id);
      changed();
      return done;
    },
    options,
  );

/** Opens store and jobs as a start of the server does. */
function open(options: JobOptions<Payload> = {}): void {
  started = new Set();
  const log = pino({ level: "silent" });
  store = openStore({ path: join(folder, "skep.db"), clock: systemClock, checkEvents: true });
  store.onCommit((written) => {
    events.push(...written.filter(({ kind }) => kind === "job_progress"));
    changed();
  });
  const clockwork = createClockwork(systemClock, (error) => {
    throw error;
  });
  const { standby } = identify(store, systemClock);
  const audit = createAudit(store, systemClock);
  jobs = createJobs({ store, clock: systemClock, clockwork, log, masking, audit, standby });
  kind = define(options);
  jobs.register(kind);
  jobs.start();
  clockwork.start();
  die = () => {
    clockwork.stop();
    store.close();
  };
  stop = async () => {
    clockwork.stop();
    await jobs.stop();
    store.close();
  };
}
/** Acts as if the process died: nothing in it wakes up or writes any more. */
function crash(options?: JobOptions<Payload>): void {
  die();
  open(options);
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "skep-jobs-"));
  events = [];
  changed = () => {};
  work = async () => undefined;
  open();
});
afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

const start = (say = "it", options: EnqueueOptions = {}) => jobs.enqueue(kind, { say }, { subject: say, ...options });
/** Resolves with the first event that shows that state or detail; past events count. */
const until = (fits: (data: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> =>
  new Promise((resolve) => {
    changed = () => {
      const found = events.find(({ data }) => fits(data));
      if (found) resolve(found.data);
    };
    changed();
  });
const waitForEnd = (id: string) =>
  until((data) => data["job_id"] === id && data["state"] !== "running" && data["state"] !== "queued");
const running = (id: string) => until(() => started.has(id));
const get = (id: string) => jobs.get(id, LOCAL_ADMIN);
const untilAborted: Work = (_, { signal }) =>
  new Promise((_, fail) => signal.addEventListener("abort", () => fail(new Error("stopped"))));
/** Makes jobs that end when the test releases them, by payload. */
function createHeldWork() {
  const gates = new Map<string, () => void>();
  const order: string[] = [];
  const waitForRelease: Work = ({ say }, { signal }) =>
    new Promise((resolve, fail) => {
      signal.addEventListener("abort", () => fail(new Error("stopped")));
      order.push(say);
      gates.set(say, () => resolve(undefined));
    });
  return { order, work: waitForRelease, letGo: (say: string) => gates.get(say)!() };
}

describe("a job", () => {
  test("what it reports, answers and fails with is masked before it is stored or published", async () => {
    const value = "hunter2-hunter2-hunter2";
    const forget = masking.add("DEPLOY", value);
    work = async ({ say }, { report }) => {
      report({ detail: `using ${value}`, progress: { layer: value } });
      if (say === "fails") throw badRequest(`fatal: could not read ${value}`);
      return { url: `https://u:${value}@example.test/` };
    };
    const [fails, done] = [start("fails"), start("succeeds")];
    for (const { id } of [fails, done]) await waitForEnd(id);
    expect(get(fails.id).error?.message).toBe("fatal: could not read [secret:DEPLOY]");
    expect(get(done.id).result).toEqual({ url: "https://u:[secret:DEPLOY]@example.test/" });
    expect(get(done.id).detail).toBe("using [secret:DEPLOY]");
    expect(JSON.stringify([events, get(fails.id), get(done.id)])).not.toContain(value);
    forget();
  });

  test("runs after the transaction that wrote it, with its payload, and its row says how it ended", async () => {
    const order: string[] = [];
    work = async ({ say }) => {
      order.push(say);
      return { found: 3 };
    };
    const job = store.write(() => {
      const made = start("work");
      order.push("written");
      return made;
    });
    expect(job).toMatchObject({ state: "queued", percent: null, result: null, subject: "work", attempt: 1 });
    await waitForEnd(job.id);
    expect(order).toEqual(["written", "work"]);
    expect(get(job.id)).toMatchObject({ state: "succeeded", percent: 100, result: { found: 3 }, error: null });
  });

  test("whose transaction is undone never runs", async () => {
    let ran = false;
    work = async () => {
      ran = true;
      return undefined;
    };
    expect(() =>
      store.write(() => {
        start();
        throw new Error("undone");
      }),
    ).toThrow("undone");
    await waitForEnd(start("other").id);
    expect(jobs.list({ limit: 10, after: null }, LOCAL_ADMIN).items).toHaveLength(1);
    expect(ran).toBe(true);
  });

  test("fails with a problem's code and words; an unexpected error's text stays out", async () => {
    work = ({ say }) => Promise.reject(say === "known" ? badRequest("It is broken.", "broken") : new Error("hunter2"));
    const [known, unknown] = [start("known"), start("unknown")];
    await waitForEnd(known.id);
    await waitForEnd(unknown.id);
    expect(get(known.id).error).toEqual({ code: "broken", message: "It is broken." });
    expect(get(unknown.id)).toMatchObject({ state: "failed", error: { code: "internal" } });
    expect(JSON.stringify([get(unknown.id), events])).not.toContain("hunter2");
  });

  test("shows its progress now and then, and always the latest, in its row too", async () => {
    const gate = Promise.withResolvers<void>();
    work = async (_, { report }) => {
      for (let at = 1; at <= 1_000; at++) report({ percent: at / 20, detail: `part ${at}`, progress: { at } });
      await gate.promise;
      return undefined;
    };
    const job = start();
    const last = await until((data) => data["detail"] === "part 1000");
    expect(last).toMatchObject({ job_id: job.id, state: "running", percent: 50, progress: { at: 1_000 } });
    expect(get(job.id)).toMatchObject({ percent: 50, detail: "part 1000" });
    expect(events.length).toBeLessThan(10);
    gate.resolve();
    await waitForEnd(job.id);
    expect(get(job.id)).toMatchObject({ detail: "part 1000", progress: { at: 1_000 } });
  });

  test("that is cancelled stops, is recorded as cancelled, and is audited; one that has ended is not", async () => {
    work = untilAborted;
    const [job, waiting] = [start("first"), start("second")];
    await running(job.id);
    expect(jobs.cancel(waiting.id, LOCAL_ADMIN).state).toBe("cancelled");
    jobs.cancel(job.id, LOCAL_ADMIN);
    await waitForEnd(job.id);
    expect(get(job.id)).toMatchObject({ state: "cancelled", detail: "It was cancelled.", error: null });
    expect(() => jobs.cancel(job.id, LOCAL_ADMIN)).toThrow("cancelled already");
    expect(store.sqlite.prepare("SELECT actor FROM audit WHERE action = 'job.cancelled'").pluck().all()).toEqual([
      "local",
      "local",
    ]);
  });

  test("keeps its kind's own rows in step: they change in the transaction that writes its end", async () => {
    const ends: unknown[] = [];
    await stop();
    open({
      onEnd: ({ state, payload, result }) => {
        ends.push({ inTransaction: store.sqlite.inTransaction, state, payload, result });
      },
    });
    work = async () => ({ made: 1 });
    await waitForEnd(start("done").id);
    expect(ends).toEqual([{ inTransaction: true, state: "succeeded", payload: { say: "done" }, result: { made: 1 } }]);
  });

  test("is visible to its user and administrators alone, passes to an heir, and to nobody when there is none", async () => {
    const user = (userId: string) => ({ kind: "user", admin: false, projects: OPEN_PROJECTS, userId }) as const;
    const job = start("it", { userId: "usr_1" });
    await waitForEnd(job.id);
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

  test("of a project without an owner can be read by every user, and cancelled by administrators alone", async () => {
    work = untilAborted;
    const user = { kind: "user", admin: false, projects: OPEN_PROJECTS, userId: "usr_1" } as const;
    const job = start("it", { projectId: "proj_1" });
    await running(job.id);
    expect(jobs.get(job.id, user).project_id).toBe("proj_1");
    expect(() => jobs.cancel(job.id, user)).toThrow("There is no such job");
    expect(events.at(-1)).toMatchObject({ project_id: "proj_1" });
    expect(events.at(-1)).not.toHaveProperty("user_id", expect.anything());
  });
});

describe("after the process ended under it, a job", () => {
  test("begins again with its payload, as the same job, at its next attempt", async () => {
    work = untilAborted;
    const job = start("again");
    await running(job.id);
    const attempts: [string, number][] = [];
    work = async ({ say }, { attempt }) => {
      attempts.push([say, attempt]);
      return undefined;
    };
    crash();
    await waitForEnd(job.id);
    expect(attempts).toEqual([["again", 2]]);
  });

  test("is given up when it has ended three processes", async () => {
    work = untilAborted;
    const job = start();
    for (const attempt of [1, 2, 3]) {
      await running(job.id);
      expect(get(job.id).attempt).toBe(attempt);
      crash();
    }
    expect(get(job.id)).toMatchObject({ state: "failed", error: { code: "interrupted" } });
  });

  test("has failed when its kind cannot begin again, was cancelled when that was asked for", async () => {
    await stop();
    open({ parallel: 2 });
    work = untilAborted;
    const [once, cancelled] = [start("once"), start("cancelled")];
    await running(once.id);
    await running(cancelled.id);
    // This is the state that a process leaves which dies between the request and the end.
    store.sqlite.prepare("UPDATE jobs SET cancel_requested = 1 WHERE id = ?").run(cancelled.id);
    crash({ resumable: false });
    expect(get(once.id)).toMatchObject({ state: "failed", error: { code: "interrupted" } });
    expect(get(cancelled.id).state).toBe("cancelled");
  });

  test("that a stop aborted waits for the next start, and no attempt is counted", async () => {
    work = untilAborted;
    const job = start();
    await running(job.id);
    await stop();
    work = async (_, { attempt }) => ({ attempt });
    open();
    await waitForEnd(job.id);
    expect(get(job.id).result).toEqual({ attempt: 1 });
  });
});

describe("a kind of jobs", () => {
  test("runs as many at once as it says, the higher priority first, then in order", async () => {
    await stop();
    open({ parallel: 2 });
    const gate = createHeldWork();
    work = gate.work;
    const all = [start("a"), start("b"), start("c"), start("urgent", { priority: 1 }), start("d")];
    await until(() => gate.order.length === 2);
    expect(gate.order).toEqual(["urgent", "a"]);
    gate.letGo("urgent");
    await until(() => gate.order.length === 3);
    expect(gate.order[2]).toBe("b");
    for (const say of ["a", "b", "c", "d"]) {
      await until(() => gate.order.includes(say));
      gate.letGo(say);
    }
    for (const { id } of all) await waitForEnd(id);
  });

  test("runs those that exclude each other one after another, and others meanwhile", async () => {
    await stop();
    open({ parallel: 3, exclusive: ({ say }) => say[0]! });
    const gate = createHeldWork();
    work = gate.work;
    const [, , last] = [start("a1"), start("a2"), start("b1")];
    await running(last!.id);
    expect(gate.order).toEqual(["a1", "b1"]);
    gate.letGo("a1");
    await until(() => gate.order.length === 3);
    expect(gate.order[2]).toBe("a2");
    gate.letGo("a2");
    gate.letGo("b1");
    await waitForEnd(last!.id);
  });

  test("joins a request with the same key until that job has ended", async () => {
    const gate = createHeldWork();
    work = gate.work;
    const late = Date.now() + 60_000;
    const first = start("a", { key: "k", runAt: late });
    expect(first.due_at).toBe(new Date(late).toISOString());
    expect(start("a", { key: "k" }).id).toBe(first.id);
    await running(first.id);
    expect(start("a", { key: "k" }).id).toBe(first.id);
    expect(start("a", { key: "other" }).id).not.toBe(first.id);
    gate.letGo("a");
    await waitForEnd(first.id);
    expect(start("b", { key: "k" }).id).not.toBe(first.id);
  });

  test("starts at the requested time, and not before", async () => {
    const at = Date.now() + 150;
    const began: string[] = [];
    work = async ({ say }) => {
      began.push(say);
      return { began: Date.now() };
    };
    const [now, late] = [start("now"), start("late", { runAt: at })];
    expect(get(late.id).state).toBe("queued");
    await waitForEnd(now.id);
    await waitForEnd(late.id);
    expect(began).toEqual(["now", "late"]);
    expect(get(late.id).result!["began"]).toBeGreaterThanOrEqual(at);
  });

  test("tries again what failed, a while later, as often as it says; a request that is wrong only once", async () => {
    await stop();
    open({ attempts: 2 });
    let tries = 0;
    work = async ({ say }) => {
      tries++;
      throw say === "wrong" ? badRequest("no") : unavailable("registry_down", "The registry does not answer.");
    };
    const wrong = start("wrong");
    await waitForEnd(wrong.id);
    expect(tries).toBe(1);
    const down = start("down");
    await until((data) => data["job_id"] === down.id && data["detail"] === "The registry does not answer.");
    expect(get(down.id)).toMatchObject({ state: "queued", attempt: 2, due_at: expect.any(String) });
    await waitForEnd(down.id);
    expect(get(down.id)).toMatchObject({ state: "failed", error: { code: "registry_down" } });
    expect(tries).toBe(3);
  });

  test("is registered once and before it is used, and takes only its own payload", () => {
    expect(() => jobs.register(define({}))).toThrow("two features");
    const unknown = defineJob("unknown", Payload, async () => undefined);
    expect(() => jobs.enqueue(unknown, { say: "" })).toThrow("not registered");
    expect(() => jobs.enqueue(kind, { say: 1 } as never)).toThrow("no payload");
  });

  test("ends a job by its key, and returns once nothing of it runs", async () => {
    let over = false;
    work = (_, { signal }) =>
      new Promise((_, fail) =>
        signal.addEventListener("abort", () =>
          setTimeout(() => {
            over = true;
            fail(new Error("stopped"));
          }, 20),
        ),
      );
    const job = start("a", { key: "k" });
    await running(job.id);
    await jobs.end(kind, "k");
    expect(over).toBe(true);
    expect(get(job.id).state).toBe("cancelled");
    await jobs.end(kind, "k");
  });
});
