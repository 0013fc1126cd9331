/** Routines over the engine, on a clock that the test sets. The test plays the model. */
import { afterEach, describe, expect, test } from "bun:test";
import { HOUR_MS, systemClock } from "../../core/clock.ts";
import { textOf } from "../../engine/parts.ts";
import { type Caller, LOCAL_ADMIN } from "../../http/caller.ts";
import { createRigs } from "../../testing/engine-rig.ts";
import { createHandModel, type HandModel } from "../../testing/hand-model.ts";
import { OPEN_PROJECTS } from "../../testing/open-projects.ts";
import type { PulseTick, RoutineCreate } from "./model.ts";

const rigs = createRigs();
afterEach(rigs.close);

const PAGE = { limit: 200, after: null };
const HOUR = HOUR_MS;
const WORKER = "---\nname: Worker\npulse_enabled: true\n---\nYou work.";
const HOURLY: RoutineCreate = { name: "Hourly", instructions: "Look at the inbox", schedule: "0 * * * *" };
const done = [{ tool: "complete", input: { outputs: {}, summary: "Nothing waited" } }];

async function startRig({ model = createHandModel(), begin = "2026-11-22T09:30:00Z", agent = WORKER, env = {} } = {}) {
  let now = Date.parse(begin);
  const clock = { now: () => now, monotonic: systemClock.monotonic };
  const idle = "---\nname: Idle\n---\nYou rest.";
  const rig = await rigs.startRig({ pipelines: {}, agents: { worker: agent, idle }, models: model, clock, env });
  const pulse = () => rig.services.pulse;
  /** Runs what is due in several passes, as the clockwork does. */
  const runDue = () => {
    const { due } = pulse();
    while ((due.nextAt() ?? Number.POSITIVE_INFINITY) <= now) due.run(() => {});
  };
  const add = (input: Partial<RoutineCreate> = {}, who: Caller = LOCAL_ADMIN) =>
    pulse().create("worker", { ...HOURLY, ...input }, who);
  return {
    rig,
    model,
    add,
    pulse,
    /** Moves the clock and runs what is due then. */
    async goTo(time: string) {
      now = Date.parse(time);
      runDue();
    },
    /** Acts as if the server was down until then. */
    async backAt(time: string) {
      now = Date.parse(time);
      await rig.restart();
      runDue();
    },
    ticks: (id: string, who: Caller = LOCAL_ADMIN): PulseTick[] =>
      pulse().ticks("worker", id, PAGE, who).items.reverse(),
    get: (id: string) => pulse().get("worker", id, LOCAL_ADMIN),
    waitForEnd: (tick: PulseTick) =>
      rig.event(({ kind, data }) => /^pulse_(complete|failed)$/.test(kind) && data["tick_id"] === tick.id),
    sessions: () =>
      rig.store.sqlite.prepare<unknown[], number>("SELECT count(*) FROM sessions WHERE kind = 'pulse'").pluck().get()!,
  };
}
const shape = (ticks: PulseTick[]) =>
  ticks.map(({ due_at, status, reason }) => [due_at.slice(11, 16), status, reason?.code ?? null]);
const user = (userId: string): Caller => ({ kind: "user", admin: false, projects: OPEN_PROJECTS, userId });
const nextOf = async (model: HandModel) => (await model.next()).request;

describe("a routine that is due", () => {
  test("is a session of its agent that reads the instructions and its tasks, and reports the result", async () => {
    const { rig, model, add, goTo, ticks, get, waitForEnd } = await startRig();
    const project = rig.services.projects.create({ name: "site" }, LOCAL_ADMIN);
    const task = rig.services.tasks.create(
      project.id,
      { title: "Mend the bell", assigned_agent: "worker" },
      LOCAL_ADMIN,
    );
    rig.store.sqlite
      .prepare(
        "INSERT INTO agent_messages (id, to_agent, from_agent, from_session_id, text, hops, outside, created_at) VALUES ('msg_1', 'worker', 'idle', 'sess_1', 'The bell is cracked', 1, 0, ?)",
      )
      .run(new Date().toISOString());
    const { id, next_run_at } = add({ project_id: project.id });
    expect(next_run_at).toBe("2026-11-22T10:00:00.000Z");
    await goTo("2026-11-22T10:00:00.010Z");
    const call = await model.next();
    const [first] = call.request.messages;
    const words = first?.role === "user" ? textOf(first.parts) : "";
    for (const part of ["Look at the inbox", "Mend the bell", task.id, "Hourly"]) expect(words).toContain(part);
    expect(call.request.tools.map(({ name }) => name)).toContain("list_my_tasks");
    expect(JSON.stringify(call.request.messages)).toContain("The bell is cracked");
    const [tick] = ticks(id);
    expect(tick).toMatchObject({ status: "running", cause: "schedule", caught_up: false });
    call.reply([{ tool: "list_my_tasks", input: {} }]);
    const second = await model.next();
    expect(JSON.stringify(second.request.messages)).toContain("Mend the bell");
    second.reply(done);
    const event = await waitForEnd(tick!);
    expect(event).toMatchObject({ kind: "pulse_complete", data: { name: "Hourly", summary: "Nothing waited" } });
    expect(ticks(id)[0]).toMatchObject({ status: "succeeded", summary: "Nothing waited", reason: null });
    expect(get(id)).toMatchObject({ runs: 1, next_run_at: "2026-11-22T11:00:00.000Z" });
    expect(rig.events().map(({ kind }) => kind)).toContain("pulse_started");
  });

  test("that fails says why, and works again at its next time", async () => {
    const { model, add, goTo, ticks, waitForEnd } = await startRig();
    const { id } = add();
    await goTo("2026-11-22T10:00:00Z");
    (await model.next()).reply([{ tool: "fail", input: { reason: "The inbox is locked" } }]);
    await waitForEnd(ticks(id)[0]!);
    expect(ticks(id)[0]).toMatchObject({ status: "failed", reason: { message: "The inbox is locked" } });
    await goTo("2026-11-22T11:00:00Z");
    (await model.next()).reply(done);
    await waitForEnd(ticks(id)[1]!);
    expect(shape(ticks(id)).map(([, status]) => status)).toEqual(["failed", "succeeded"]);
  });

  test("has only those of its agent's tools that it names", async () => {
    const { model, add, goTo } = await startRig({
      agent: "---\nname: W\npulse_enabled: true\ntools: [read, ls]\n---\nx",
    });
    add({ tools: ["read", "bash"], model: "demo/scripted" });
    await goTo("2026-11-22T10:00:00Z");
    const { tools } = await nextOf(model);
    expect(tools.map(({ name }) => name).sort()).toEqual(["complete", "fail", "read"]);
  });

  test("runs once for all the time that the server was not running; the rest is recorded as missed", async () => {
    const { rig, model, add, backAt, ticks, waitForEnd, sessions } = await startRig();
    const { id } = add();
    await backAt("2026-11-22T14:20:00Z");
    (await model.next()).reply(done);
    const caughtUp = ticks(id).find(({ caught_up }) => caught_up)!;
    await waitForEnd(caughtUp);
    expect(shape(ticks(id))).toEqual([
      ["10:00", "missed", "server_down"],
      ["11:00", "missed", "server_down"],
      ["12:00", "missed", "server_down"],
      ["13:00", "missed", "server_down"],
      ["14:00", "succeeded", null],
    ]);
    await rig.restart();
    expect([ticks(id).length, sessions()]).toEqual([5, 1]);
  });

  test("of a server that was down for a year leaves a bounded number of rows, and runs once", async () => {
    const { rig, add, backAt, ticks, pulse, sessions } = await startRig();
    const { id } = add({ schedule: { every_minutes: 1 } });
    await backAt("2027-11-22T14:20:30Z");
    expect(sessions()).toBe(1);
    expect(ticks(id)).toHaveLength(200);
    const count = rig.store.sqlite.prepare("SELECT count(*) FROM pulse_ticks").pluck().get();
    expect(count).toBe(1_000);
    expect(pulse().get("worker", id, LOCAL_ADMIN).next_run_at).toBe("2027-11-22T14:21:00.000Z");
  });

  test("is not delayed by a clock that was wrong and is set back, and does nothing twice", async () => {
    const { rig, add, goTo, get, pulse } = await startRig();
    const { id } = add({ max_concurrent: 8 });
    await goTo("2026-11-22T10:00:00Z");
    await goTo("2031-01-01T00:00:10Z");
    await goTo("2026-11-22T09:50:00Z");
    expect(get(id).next_run_at).toBe("2031-01-01T01:00:00.000Z");
    pulse().replan();
    expect(get(id).next_run_at).toBe("2026-11-22T10:00:00.000Z");
    await goTo("2026-11-22T10:00:00Z");
    await goTo("2026-11-22T11:00:00Z");
    const near = rig.store.sqlite
      .prepare<unknown[], number>("SELECT due_at FROM pulse_ticks WHERE routine_id = ? AND due_at < ? ORDER BY due_at")
      .pluck()
      .all(id, Date.parse("2027-01-01T00:00Z"));
    expect(near.map((at) => new Date(at).toISOString().slice(11, 16))).toEqual(["10:00", "11:00"]);
  });

  test("at half past two in Berlin runs once on either night on which the clocks change", async () => {
    for (const [begin, times] of [
      ["2026-03-28T12:00Z", ["2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"]],
      ["2026-10-24T12:00Z", ["2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"]],
    ] as const) {
      const { add, goTo, ticks } = await startRig({ begin });
      const { id } = add({ schedule: "30 2 * * *", timezone: "Europe/Berlin", max_concurrent: 8 });
      for (const time of times) {
        await goTo(time);
        await goTo(new Date(Date.parse(time) + HOUR).toISOString());
      }
      expect(ticks(id).map(({ due_at }) => due_at)).toEqual([...times]);
    }
  });
});

describe("a tick that does not run says why", () => {
  test("a blackout, also for what would be caught up in one", async () => {
    const { rig, add, backAt, goTo, ticks, sessions } = await startRig();
    const { id, next_run_at } = add({ blackouts: [{ start: "10:00", end: "11:30" }] });
    expect(next_run_at).toBe("2026-11-22T12:00:00.000Z");
    await goTo("2026-11-22T10:00:00Z");
    const late = add({ name: "Late", schedule: "30 10 * * *", blackouts: [{ start: "12:00", end: "14:00" }] });
    await backAt("2026-11-22T13:10:00Z");
    expect(shape(ticks(late.id))).toEqual([["10:30", "skipped", "blackout"]]);
    expect(shape(ticks(id)).slice(0, 3)).toEqual([
      ["10:00", "skipped", "blackout"],
      ["11:00", "skipped", "blackout"],
      ["12:00", "missed", "server_down"],
    ]);
    expect(sessions()).toBe(1);
    // Missed times have no events.
    const skips = rig.events().filter(({ kind }) => kind === "pulse_skipped");
    expect(skips.map(({ data }) => [data["name"], data["due_at"]])).toEqual([
      ["Hourly", "2026-11-22T10:00:00.000Z"],
      ["Late", "2026-11-22T10:30:00.000Z"],
    ]);
  });

  test("the previous run still works, unless it may run more than once at a time", async () => {
    const { model, add, goTo, ticks } = await startRig();
    const [one, two] = [add(), add({ name: "Two", max_concurrent: 2 })];
    for (const hour of ["10", "11", "12"]) await goTo(`2026-11-22T${hour}:00:00Z`);
    await model.next();
    expect(shape(ticks(one.id)).map(([, , code]) => code)).toEqual([null, "still_running", "still_running"]);
    expect(shape(ticks(two.id)).map(([, , code]) => code)).toEqual([null, null, "still_running"]);
  });

  test("its agent is off, has no routines, is broken or gone", async () => {
    const { rig, add, goTo, ticks, get } = await startRig({ agent: "---\nname: Worker\n---\nYou work." });
    const { id, blocked } = add();
    expect(blocked).toMatchObject({ code: "pulses_disabled" });
    const { agents } = rig.services;
    await goTo("2026-11-22T10:00:00Z");
    agents.configure("worker", { enabled: false, pulse_enabled: true }, LOCAL_ADMIN);
    await goTo("2026-11-22T11:00:00Z");
    agents.configure("worker", { enabled: true }, LOCAL_ADMIN);
    expect(get(id).blocked).toBeNull();
    await goTo("2026-11-22T12:00:00Z");
    expect(shape(ticks(id)).map(([, , code]) => code)).toEqual(["pulses_disabled", "agent_disabled", null]);
  });

  test("its owner's account is switched off or gone: rights are looked at every time", async () => {
    const { rig, add, goTo, ticks } = await startRig();
    const at = new Date().toISOString();
    rig.store.sqlite
      .prepare(
        "INSERT INTO users (id, email, display_name, role, active, totp_enabled, totp_last_step, created_at, updated_at) VALUES ('usr_1', 'a@b', 'A', 'user', 1, 0, 0, ?, ?)",
      )
      .run(at, at);
    const { id } = add({ max_concurrent: 8 }, user("usr_1"));
    await goTo("2026-11-22T10:00:00Z");
    rig.store.sqlite.exec("UPDATE users SET active = 0");
    await goTo("2026-11-22T11:00:00Z");
    rig.store.sqlite.exec("DELETE FROM users");
    await goTo("2026-11-22T12:00:00Z");
    expect(shape(ticks(id)).map(([, , code]) => code)).toEqual([null, "owner_inactive", "owner_inactive"]);
    const session = rig.store.sqlite.prepare("SELECT user_id FROM sessions WHERE kind = 'pulse'").pluck().all();
    expect(session).toEqual(["usr_1"]);
  });

  test("the files of its owner's work have reached the limit", async () => {
    const { rig, model, add, goTo, ticks, waitForEnd } = await startRig({ env: { AUTH_ENABLED: "true" } });
    const { sqlite } = rig.store;
    const at = new Date().toISOString();
    sqlite
      .prepare(
        `INSERT INTO users (id, email, display_name, role, active, totp_enabled, totp_last_step, created_at, updated_at)
         VALUES ('usr_a', 'a@example.test', 'A', 'user', 1, 0, 0, ?, ?)`,
      )
      .run(at, at);
    const { id } = add({}, user("usr_a"));
    sqlite
      .prepare(
        "INSERT INTO workspace_sizes (name, user_id, files, bytes, measured_at) VALUES ('run_1', 'usr_a', 1, 1e12, ?)",
      )
      .run(at);
    await goTo("2026-11-22T10:00:00Z");
    expect(ticks(id)).toMatchObject([
      {
        status: "skipped",
        session_id: null,
        reason: { code: "workspaces_full", message: expect.stringContaining("GET /v1/storage/workspaces") },
      },
    ]);
    expect(rig.events().at(-1)).toMatchObject({ kind: "pulse_skipped", data: { code: "workspaces_full" } });
    sqlite.prepare("DELETE FROM workspace_sizes").run();
    await goTo("2026-11-22T11:00:00Z");
    (await model.next()).reply(done);
    await waitForEnd(ticks(id)[1]!);
    expect(ticks(id).map(({ status }) => status)).toEqual(["skipped", "succeeded"]);
  });

  test("the budget is used up", async () => {
    const model = createHandModel({}, 0.2);
    const agent = "---\nname: W\npulse_enabled: true\nbudget_usd_per_day: 0.2\n---\nx";
    const { add, goTo, ticks, waitForEnd } = await startRig({ model, agent });
    const { id } = add();
    await goTo("2026-11-22T10:00:00Z");
    (await model.next()).reply(done);
    await waitForEnd(ticks(id)[0]!);
    await goTo("2026-11-22T11:00:00Z");
    expect(shape(ticks(id)).map(([, , code]) => code)).toEqual([null, "budget"]);
    expect(ticks(id)[1]!.reason!.message).toContain("$0.2000 of $0.2 (agent_day)");
  });

  test("its project is gone", async () => {
    const { rig, add, goTo, ticks } = await startRig();
    const project = rig.services.projects.create({ name: "site" }, LOCAL_ADMIN);
    const { id } = add({ project_id: project.id });
    rig.store.sqlite.prepare("DELETE FROM projects WHERE id = ?").run(project.id);
    await goTo("2026-11-22T10:00:00Z");
    expect(shape(ticks(id))).toEqual([["10:00", "skipped", "project_missing"]]);
  });
});

describe("a change", () => {
  test("takes effect at once: another schedule, switched off, switched on", async () => {
    const { add, pulse, goTo, ticks, get, model } = await startRig();
    const { id } = add();
    const change = (input: Partial<RoutineCreate>) => pulse().update("worker", id, input, LOCAL_ADMIN);
    expect(change({ schedule: { every_minutes: 20 } }).next_run_at).toBe("2026-11-22T09:40:00.000Z");
    await goTo("2026-11-22T09:40:00Z");
    (await model.next()).reply(done);
    expect(change({ enabled: false }).next_run_at).toBeNull();
    await goTo("2026-11-22T13:00:00Z");
    expect(ticks(id)).toHaveLength(1);
    // Times while the routine was switched off are not caught up.
    expect(change({ enabled: true }).next_run_at).toBe("2026-11-22T13:20:00.000Z");
    // A new name does not change the plan.
    expect(change({ name: "Other" }).next_run_at).toBe("2026-11-22T13:20:00.000Z");
    expect(get(id)).toMatchObject({ name: "Other", instructions: "Look at the inbox" });
  });

  test("a deleted owner's routine goes to the heir switched off, under a name that is free, and its work ends", async () => {
    const { rig, add, pulse, goTo, ticks, model } = await startRig();
    const at = new Date().toISOString();
    rig.store.sqlite
      .prepare(
        "INSERT INTO users (id, email, display_name, role, active, totp_enabled, totp_last_step, created_at, updated_at) VALUES ('usr_1', 'a@b', 'A', 'user', 1, 0, 0, ?, ?)",
      )
      .run(at, at);
    const theirs = add({}, user("usr_1"));
    add({ enabled: false }, user("usr_2"));
    await goTo("2026-11-22T10:00:00Z");
    await model.next();
    rig.store.write(() => pulse().handOver("usr_1", "usr_2"));
    const moved = pulse().get("worker", theirs.id, user("usr_2"));
    expect(moved).toMatchObject({
      name: "Hourly (2)",
      enabled: false,
      next_run_at: null,
      blocked: { code: "stopped" },
    });
    await rig.event(({ kind }) => kind === "pulse_failed");
    expect(ticks(theirs.id, user("usr_2"))[0]).toMatchObject({ status: "cancelled" });
    expect(pulse().update("worker", theirs.id, { enabled: true }, user("usr_2")).blocked).toMatchObject({
      code: "owner_inactive",
    });
  });

  test("a deleted agent's routines go with it", async () => {
    const { rig, add, pulse } = await startRig();
    add();
    rig.services.agents.remove("worker", LOCAL_ADMIN);
    expect(pulse().list(undefined, PAGE, LOCAL_ADMIN).items).toEqual([]);
  });
});

describe("the timeline", () => {
  test("holds past and future ticks, in order, with blackouts, over its pages", async () => {
    const { model, add, goTo, pulse, waitForEnd, ticks } = await startRig();
    const { id } = add({ blackouts: [{ start: "12:00", end: "13:30" }] });
    add({ name: "Half", schedule: "30 10-11 * * *" });
    await goTo("2026-11-22T10:00:00Z");
    (await model.next()).reply(done);
    await waitForEnd(ticks(id)[0]!);
    const span = { from: "2026-11-22T09:00:00Z", to: "2026-11-22T14:00:00Z" };
    const whole = pulse().timeline("worker", span, PAGE, LOCAL_ADMIN).items;
    expect(whole.map(({ at, name, status }) => [at.slice(11, 16), name, status])).toEqual([
      ["10:00", "Hourly", "succeeded"],
      ["10:30", "Half", "planned"],
      ["11:00", "Hourly", "planned"],
      ["11:30", "Half", "planned"],
      ["12:00", "Hourly", "blackout"],
      ["13:00", "Hourly", "blackout"],
      ["14:00", "Hourly", "planned"],
    ]);
    const paged: typeof whole = [];
    for (let after: string | null = null; ; ) {
      const { items, next_cursor } = pulse().timeline("worker", span, { limit: 2, after }, LOCAL_ADMIN);
      paged.push(...items);
      if (next_cursor === null) break;
      after = JSON.parse(Buffer.from(next_cursor, "base64url").toString())[1];
    }
    expect(paged).toEqual(whole);
  });
});
