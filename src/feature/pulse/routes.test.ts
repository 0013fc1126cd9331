/** The routes of routines over a running server: request, answer, events, rows; and a server that is killed. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { makeSlowAgent, SLOW, slowAgentScript } from "../../testing/slow-agent.ts";
import type { PulseRoutine, PulseTick, TimelineTick } from "./model.ts";

setDefaultTimeout(300_000);

const LOOK = { name: "Look", instructions: "Look around", schedule: "0 9 * * mon-fri", timezone: "Europe/Berlin" };
const ROUTES = "/v1/pulse-routines";
interface List<T> {
  items: T[];
  next_cursor: string | null;
}

describe("over the API", () => {
  const slow = slowAgentScript();
  let server: TestServer;
  let admin: Account;
  let a: Account;
  let b: Account;
  beforeAll(async () => {
    server = await startServer({ env: { AUTH_ENABLED: "true", TRUSTED_PROXIES: "127.0.0.1", ...slow.env } });
    admin = await setupAdmin(server);
    await makeSlowAgent(server, admin.token);
    a = await makeUser(server, admin, "a@example.test");
    b = await makeUser(server, admin, "b@example.test");
  });
  afterAll(async () => {
    await server.remove();
    slow.remove();
  });
  const call = <T = PulseRoutine>(method: string, path: string, body?: unknown, who = a) =>
    server.request<T>(method, `${ROUTES}${path}`, { body, token: who.token });
  const waitForEnd = (after: number, tick: string) =>
    framesUntil(
      framesOf<{ data: Record<string, unknown> }>(server, `/v1/events/stream?after=${after}`, a.token),
      ({ event, data }) => /^pulse_(complete|failed)$/.test(event) && data.data["tick_id"] === tick,
    );

  test("a preview says when a schedule would be due and what a blackout covers, refuses what it cannot read, saves nothing", async () => {
    const preview = (body: unknown) =>
      call<{ times: { at: string; blackout: boolean }[]; errors?: { pointer: string }[] }>(
        "POST",
        "/scribe/preview",
        body,
      );
    const { status, body } = await preview({
      schedule: "0 9 * * *",
      timezone: "Europe/Berlin",
      blackouts: [{ start: "00:00", end: "00:00", days: ["sat", "sun"] }],
    });
    expect([status, body.times.length]).toEqual([200, 10]);
    const clock = new Intl.DateTimeFormat("en-US", { timeZone: "Europe/Berlin", weekday: "short", hour: "numeric" });
    for (const { at, blackout } of body.times) {
      const text = clock.format(new Date(at));
      expect(text).toContain("9 AM");
      expect(blackout).toBe(/Sat|Sun/.test(text));
    }
    const bad = await preview({ schedule: "0 9 31 2 *" });
    expect([bad.status, bad.body.errors?.[0]?.pointer]).toEqual([422, "/schedule"]);
    expect((await call("POST", "/nobody/preview", { schedule: "0 9 * * *" })).status).toBe(404);
    expect((await call<List<PulseRoutine>>("GET", "")).body.items).toEqual([]);
  });

  test("a routine is made, read, changed, run by hand, shown on the timeline and deleted", async () => {
    const made = await call("POST", "/scribe", LOOK);
    const { id } = made.body;
    expect([made.status, made.headers.get("location")]).toEqual([201, `${ROUTES}/scribe/${id}`]);
    expect(made.body).toMatchObject({
      ...LOOK,
      agent_id: "scribe",
      user_id: a.id,
      enabled: true,
      max_concurrent: 1,
      runs: 0,
      last_run_at: null,
      blackouts: [],
      timeout_seconds: null,
      model: null,
      tools: null,
      project_id: null,
      blocked: { code: "pulses_disabled" },
    });
    expect(Date.parse(made.body.next_run_at!)).toBeGreaterThan(Date.now());
    expect((await call("GET", `/scribe/${id}`)).body).toEqual(made.body);
    expect((await call<List<PulseRoutine>>("GET", "/scribe")).body.items).toEqual([made.body]);
    expect((await call<List<PulseRoutine>>("GET", "")).body.items).toEqual([made.body]);
    expect((await call<List<PulseRoutine>>("GET", "?agent_id=lead")).body.items).toEqual([]);

    // The routine is due in half an hour, so not while this test runs.
    const schedule = { every_minutes: 60, offset_minutes: (Math.floor(Date.now() / 60_000) + 30) % 60 };
    const changed = await call("PUT", `/scribe/${id}`, { schedule, description: "Looks" });
    expect(changed).toMatchObject({ status: 200, body: { schedule, name: "Look" } });

    const tick = await call<PulseTick>("POST", `/scribe/${id}/trigger`);
    expect(tick.status).toBe(202);
    expect(tick.headers.get("location")).toBe(`${ROUTES}/scribe/${id}/ticks/${tick.body.id}`);
    expect(tick.body).toMatchObject({ routine_id: id, status: "queued", cause: "manual", finished_at: null });
    const kinds = (await waitForEnd(0, tick.body.id)).map(({ event }) => event);
    for (const kind of ["pulse_routine_changed", "session_started", "pulse_started", "session_ended", "pulse_complete"])
      expect(kinds).toContain(kind);
    const over = (await call<PulseTick>("GET", `/scribe/${id}/ticks/${tick.body.id}`)).body;
    expect(over).toMatchObject({ status: "succeeded", reason: null });
    expect(over.summary).not.toBeNull();
    expect((await call<List<PulseTick>>("GET", `/scribe/${id}/ticks`)).body.items).toEqual([over]);
    expect((await call(`POST`, `/scribe/${id}/ticks/${over.id}/cancel`)).status).toBe(409);
    const { items } = (await call<List<TimelineTick>>("GET", "/scribe/timeline?limit=3")).body;
    expect(items.map(({ status }) => status)).toEqual(["succeeded", "planned", "planned"]);
    const done = await server.request<List<{ kind: string; title: string }>>(
      "GET" as const,
      "/v1/lifecycle/timeline?agent_id=scribe&kind=pulse_complete" as const,
      { token: a.token },
    );
    expect(done.body.items[0]!.title).toStartWith("Routine Look: ");

    expect((await call("DELETE", `/scribe/${id}`)).status).toBe(204);
    expect((await call("GET", `/scribe/${id}`)).status).toBe(404);
  });

  test("its work is ended by hand, or with the routine", async () => {
    const { id } = (await call("POST", `/${SLOW}`, { ...LOOK, name: "Ends" })).body;
    for (const how of ["cancel", "delete"]) {
      const tick = (await call<PulseTick>("POST", `/${SLOW}/${id}/trigger`)).body;
      if (how === "cancel") {
        expect((await call("POST", `/${SLOW}/${id}/ticks/${tick.id}/cancel`)).status).toBe(200);
        await waitForEnd(0, tick.id);
        const { status } = (await call<PulseTick>("GET", `/${SLOW}/${id}/ticks/${tick.id}`)).body;
        expect(status).toBe("cancelled");
      } else {
        await call("DELETE", `/${SLOW}/${id}`);
        const path = `/v1/events/stream?session_id=${tick.session_id}`;
        await framesUntil(framesOf(server, path, a.token), ({ event }) => event === "session_ended");
      }
    }
  });

  test.each<[number, string, string, object]>([
    [404, "unknown agent", "/nobody-here", LOOK],
    [422, "/name", "/scribe", { ...LOOK, name: " " }],
    [422, "/instructions", "/scribe", { ...LOOK, instructions: "" }],
    [422, "/schedule", "/scribe", { ...LOOK, schedule: "* * * * * *" }],
    [422, "/schedule", "/scribe", { ...LOOK, schedule: "0 0 30 2 *" }],
    [422, "/schedule", "/scribe", { ...LOOK, schedule: "0 25 * * *" }],
    [422, "/schedule", "/scribe", { ...LOOK, schedule: { every_minutes: 0 } }],
    [422, "/schedule/offset_minutes", "/scribe", { ...LOOK, schedule: { every_minutes: 5, offset_minutes: 7 } }],
    [422, "/timezone", "/scribe", { ...LOOK, timezone: "Europe/Atlantis" }],
    [422, "/blackouts/0/start", "/scribe", { ...LOOK, blackouts: [{ start: "24:00", end: "06:00" }] }],
    [422, "/blackouts", "/scribe", { ...LOOK, blackouts: [{ start: "08:00", end: "10:00" }] }],
    [422, "/max_concurrent", "/scribe", { ...LOOK, max_concurrent: 0 }],
    [422, "/timeout_seconds", "/scribe", { ...LOOK, timeout_seconds: 0 }],
    [422, "/model", "/scribe", { ...LOOK, model: "nobody/model" }],
    [422, "/project_id", "/scribe", { ...LOOK, project_id: "proj_none" }],
    [422, "/tools/1", "/scribe", { ...LOOK, tools: ["read", "fly"] }],
  ])("%d, %s", async (status, field, path, body) => {
    const answer = await call<{ errors?: { pointer: string }[] }>("POST", path, body);
    expect(answer.status).toBe(status);
    if (status === 422) expect(answer.body.errors!.some(({ pointer }) => pointer.startsWith(field))).toBe(true);
  });

  test("a name is unique for its owner alone; times that are not valid and spans that are too long are refused", async () => {
    const { id } = (await call("POST", "/scribe", { ...LOOK, name: "Mine" })).body;
    expect((await call("POST", "/scribe", { ...LOOK, name: "Mine" })).status).toBe(409);
    const theirs = await call("POST", "/scribe", { ...LOOK, name: "Mine" }, b);
    expect(theirs.status).toBe(201);
    for (const query of ["from=soon", "from=2026-02-01&to=2026-01-01", "from=2020-01-01&to=2026-01-01"])
      expect([query, (await call("GET", `/scribe/timeline?${query}`)).status]).toEqual([query, 422]);
    expect((await call("GET", "/nobody-here/timeline")).status).toBe(404);
    expect((await call("GET", `/lead/${id}`)).status).toBe(404);
    const all = (await call<List<PulseRoutine>>("GET", "/scribe", undefined, admin)).body.items;
    expect(all.map(({ user_id }) => user_id)).toEqual(expect.arrayContaining([a.id, b.id]));
    await call("DELETE", `/scribe/${id}`);
    await call("DELETE", `/scribe/${theirs.body.id}`, undefined, b);
  });

  test("the same Idempotency-Key makes and starts once", async () => {
    const headers = { "Idempotency-Key": "once" };
    const twice = await Promise.all(
      [0, 1].map(() =>
        server.request<PulseRoutine>("POST", `${ROUTES}/scribe`, {
          body: { ...LOOK, name: "Once" },
          token: a.token,
          headers,
        }),
      ),
    );
    const first = twice.find(({ status }) => status === 201)!;
    const again = await server.request<PulseRoutine>("POST", `${ROUTES}/scribe`, {
      body: { ...LOOK, name: "Once" },
      token: a.token,
      headers,
    });
    expect(again.body.id).toBe(first.body.id);
    await call("DELETE", `/scribe/${first.body.id}`);
  });

  test("an owner who is deleted leaves the routine to the administrator, switched off", async () => {
    const c = await makeUser(server, admin, "c@example.test");
    const { id } = (await call("POST", "/scribe", { ...LOOK, name: "Of c" }, c)).body;
    expect((await server.request("DELETE", `/v1/users/${c.id}`, { token: admin.token })).status).toBe(204);
    const left = (await call("GET", `/scribe/${id}`, undefined, admin)).body;
    expect(left).toMatchObject({ user_id: admin.id, enabled: false, next_run_at: null, blocked: { code: "stopped" } });
    expect((await call("PUT", `/scribe/${id}`, { enabled: true }, admin)).body.enabled).toBe(true);
  });
});

test("a server that is killed while a routine is due runs it once, and records what it missed", async () => {
  const data = mkdtempSync(join(tmpdir(), "skep-due-"));
  const open = () => startServer({ data });
  try {
    let server = await open();
    const config = await server.request("PUT", "/v1/agents/scribe/config", { body: { pulse_enabled: true } });
    expect(config.status).toBe(200);
    // The routine was due half an hour ago and is due in half an hour, so no time passes while this test runs.
    const due = Math.floor(Date.now() / 60_000) - 30;
    const body = { ...LOOK, schedule: { every_minutes: 60, offset_minutes: due % 60 } };
    const { id } = (await server.request<PulseRoutine>("POST", `${ROUTES}/scribe`, { body })).body;
    await server.stop("SIGKILL");
    const db = new Database(join(data, "skep.db"));
    db.prepare("UPDATE pulse_routines SET planned_at = ?").run((due - 4 * 60) * 60_000);
    db.close();
    for (const laterMs of [0, 30, 90]) {
      server = await open();
      await Bun.sleep(laterMs);
      await server.stop("SIGKILL");
    }
    server = await open();
    const ticks = async () =>
      (await server.request<List<PulseTick>>("GET", `${ROUTES}/scribe/${id}/ticks`)).body.items.reverse();
    const stream = framesOf(server, "/v1/events/stream?after=0&kinds=pulse_complete");
    await framesUntil(stream, ({ event }) => event === "pulse_complete");
    const found = await ticks();
    expect(found.map(({ status }) => status)).toEqual(["missed", "missed", "missed", "missed", "succeeded"]);
    expect(found.map(({ caught_up }) => caught_up)).toEqual([false, false, false, false, true]);
    await server.stop();
    const after = new Database(join(data, "skep.db"), { readonly: true });
    const count = (sql: string) => after.prepare(sql).pluck().get();
    expect(count("SELECT count(*) FROM executions")).toBe(1);
    expect(count("SELECT count(*) FROM events WHERE kind = 'pulse_complete'")).toBe(1);
    after.close();
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
});
