import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { statfsSync } from "node:fs";
import { HOUR_MS, systemClock } from "../../core/clock.ts";
import { ADMINISTRATORS, type SkepEvent } from "../../core/events.ts";
import { LIMITS } from "../../core/limits.ts";
import { createMasking } from "../../core/masking.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { openStore } from "../../store/store.ts";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { steadyDay } from "../../testing/busy-machine.ts";
import { OPEN_PROJECTS } from "../../testing/open-projects.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Notification } from "../notifications/model.ts";
import { createNotifications } from "../notifications/service.ts";
import { DEFAULT_TTS_SETTINGS, type TtsSettings } from "../voice/model.ts";
import type { ApiUsage } from "./model.ts";
import { createSystemWatch } from "./system-watch.ts";

let server: TestServer;
let admin: Account;
let user: Account;
const env = { AUTH_ENABLED: "true", ENGINE_INTERNAL_TOKEN: "engine-token-engine-token" };
beforeAll(async () => {
  server = await startServer({ env });
  admin = await setupAdmin(server);
  user = await makeUser(server, admin, "user@example.test");
});
afterAll(() => server.remove());

const call = <T = Record<string, unknown>>(
  method: string,
  path: string,
  { who = admin, body, headers = {} }: { who?: Account; body?: unknown; headers?: Record<string, string> } = {},
) => server.request<T>(method, path, { token: who.token, body, headers });

describe("api-usage", () => {
  const report = async (query = "") => (await call<ApiUsage>("GET", `/v1/admin/api-usage${query}`)).body;
  const routeOf = (usage: ApiUsage, route: string) => usage.by_route.find((one) => one.route === route);

  test("counts every request by route, status, caller and day", async () => {
    await steadyDay();
    for (const agent of ["scribe", "scribe", "reviewer"])
      await call("GET", `/v1/secrets/agents/${agent}`, { who: user });
    await call("GET", "/v1/settings", { who: user });
    await server.request("GET", "/v1/settings");
    await call("GET", "/v1/jobs/job_nothing", { who: user });
    const usage = await report(`?user=${user.id}`);
    expect(routeOf(usage, "/v1/secrets/agents/:agent_id")).toMatchObject({ method: "GET", requests: 3, refused: 0 });
    expect(routeOf(usage, "/v1/settings")).toMatchObject({ requests: 1, refused: 1, errors: 0 });
    expect(usage.by_status.map(({ status }) => status).toSorted()).toEqual([200, 403, 404]);
    expect(usage.by_user).toMatchObject([{ user: user.id, requests: 5 }]);
    const today = new Date().toISOString().slice(0, 10);
    expect(usage.by_day).toMatchObject([{ day: today, requests: 5 }]);
    const all = await report();
    expect(all.by_user.map((one) => one.user)).toEqual(expect.arrayContaining([user.id, admin.id, "anonymous"]));
    const sums = (parts: { requests: number }[]) => parts.reduce((sum, part) => sum + part.requests, 0);
    for (const parts of [all.by_route, all.by_status, all.by_user, all.by_day])
      expect(sums(parts)).toBe(all.totals.requests);
    expect((await report("?from=2000-01-01&to=2000-01-02")).totals.requests).toBe(0);
    expect((await call("GET", "/v1/admin/api-usage?from=yesterday")).status).toBe(422);
  });

  test("stores no invented path and no identifier", async () => {
    await call("GET", "/v1/made-up-by-a-stranger");
    await call("GET", "/v1/users/usr_secretly_named");
    const text = JSON.stringify(await report());
    expect(text).not.toContain("made-up-by-a-stranger");
    expect(text).not.toContain("usr_secretly_named");
  });

  test("outlives a restart", async () => {
    const before = (await report(`?user=${user.id}`)).totals.requests;
    expect(before).toBeGreaterThan(0);
    expect(await server.stop()).toBe(0);
    server = await startServer({ env, data: server.data });
    expect((await report(`?user=${user.id}`)).totals.requests).toBe(before);
  });
});

describe("voice settings", () => {
  const path = "/v1/admin/tts-settings";

  test("are complete from the start, keep what is set over a restart, and change only what is sent", async () => {
    expect((await call<TtsSettings>("GET", path)).body).toEqual(DEFAULT_TTS_SETTINGS);
    await call("PUT", path, { body: { enabled: true, provider: "localvoice", voice_id: "amy" } });
    const after = await call<TtsSettings>("PUT", path, { body: { speed: 1.5 } });
    const wanted: TtsSettings = {
      ...DEFAULT_TTS_SETTINGS,
      enabled: true,
      provider: "localvoice",
      voice_id: "amy",
      speed: 1.5,
    };
    expect(after.body).toEqual(wanted);
    await server.stop();
    server = await startServer({ env, data: server.data });
    expect((await call<TtsSettings>("GET", path)).body).toEqual(wanted);
    expect((await call<TtsSettings>("PUT", path, { body: { voice_id: null } })).body.voice_id).toBeNull();
  });

  test.each([
    [{ speed: 9 }, "/speed"],
    [{ format: "flac" }, "/format"],
    [{ provider: "someone" }, "/provider"],
    [{ colour: "red" }, "/colour"],
    [{ enabled: "yes" }, "/enabled"],
  ])("%p is refused at its field", async (body, pointer) => {
    const refused = await call<{ errors: { pointer: string }[] }>("PUT", path, { body });
    expect([refused.status, refused.body.errors[0]?.pointer]).toEqual([422, pointer]);
  });

  test("take If-Match, and administrators only", async () => {
    const tag = (await call("GET", path)).headers.get("etag")!;
    const put = (speed: number) => call("PUT", path, { body: { speed }, headers: { "If-Match": tag } });
    expect([(await put(2)).status, (await put(3)).status]).toEqual([200, 412]);
    for (const method of ["GET", "PUT"]) expect((await call(method, path, { who: user })).status).toBe(403);
  });
});

describe("without Docker", () => {
  test("containers and pulls say that there is none", async () => {
    const asked = [
      await call("GET", "/v1/admin/containers"),
      await call("GET", "/v1/admin/containers/x/logs"),
      await call("POST", "/v1/admin/pull-image", { body: { image: "busybox" } }),
    ];
    expect(asked.map(({ status, body }) => [status, body["code"]])).toEqual(
      Array(3).fill([503, "sandbox_unavailable"]),
    );
    expect((await call("GET", "/v1/jobs")).body["items"]).toEqual([]);
  });
});

describe("notifications", () => {
  function rig() {
    let now = Date.parse("2026-05-01T00:00:00Z");
    const clock = { now: () => now, monotonic: systemClock.monotonic };
    const store = openStore({ path: ":memory:", clock });
    const events: SkepEvent[] = [];
    store.onCommit((written) => events.push(...written));
    const notifications = createNotifications({ store, clock, masking: createMasking() });
    const list = (dismissed = false) =>
      notifications.list({ limit: 50, after: null }, LOCAL_ADMIN, { dismissed }).items;
    return { notifications, events, list, pass: (ms: number) => (now += ms) };
  }
  const space = { free: 50 * 1024 ** 3, size: 100 * 1024 ** 3 };
  const watchOver = ({ notifications }: ReturnType<typeof rig>) =>
    createSystemWatch({
      notifications,
      data: "/nowhere",
      docker: undefined,
      agentImage: () => "",
      diskSpace: async () => space,
    });

  test("a disk that fills up warns, alarms, and is forgotten when there is room again; each as one", async () => {
    const made = rig();
    const watch = watchOver(made);
    await watch.look();
    expect(made.list()).toEqual([]);
    space.free = LIMITS.diskLowBytes - 1;
    await watch.look();
    await watch.look();
    expect(made.list()).toMatchObject([{ level: "warning", title: "The disk is getting full", times: 2 }]);
    space.free = LIMITS.diskLittleBytes - 1;
    await watch.look();
    expect(made.list()).toMatchObject([{ level: "error", title: "The disk is almost full", times: 3 }]);
    expect(made.events.map(({ kind, user_id }) => [kind, user_id])).toEqual([["notification", ADMINISTRATORS]]);
    space.free = LIMITS.diskLowBytes;
    await watch.look();
    expect(made.list()).toEqual([]);
  });

  test("the disk of the data folder is the one that is looked at", async () => {
    const made = rig();
    const { bavail, blocks, bsize } = statfsSync("/");
    const isLow = bavail * bsize < LIMITS.diskLowBytes && bavail < blocks / 10;
    await createSystemWatch({ ...made, data: "/", docker: undefined, agentImage: () => "" }).look();
    expect(made.list()).toHaveLength(isLow ? 1 : 0);
    await createSystemWatch({ ...made, data: "/nowhere", docker: undefined, agentImage: () => "" }).look();
    expect(made.list()).toHaveLength(isLow ? 1 : 0);
  });

  test("what was dismissed stays quiet for a day, and then may come again", () => {
    const { notifications, list, pass } = rig();
    const raise = () => notifications.notify({ level: "info", title: "It is so", key: "so" });
    raise();
    const [first] = list() as [Notification];
    notifications.dismiss(first.id, LOCAL_ADMIN);
    raise();
    expect(list()).toEqual([]);
    expect(list(true)).toMatchObject([{ id: first.id, dismissed_at: "2026-05-01T00:00:00.000Z" }]);
    pass(24 * HOUR_MS + 1);
    raise();
    expect(list()).toHaveLength(1);
    expect(notifications.dismiss(first.id, LOCAL_ADMIN).dismissed_at).toBe("2026-05-01T00:00:00.000Z");
  });

  test("users see and dismiss their own, administrators the system's and their own", () => {
    const { notifications, list } = rig();
    const of = (userId: string, isAdmin = false) =>
      ({ kind: "user", admin: isAdmin, userId, projects: OPEN_PROJECTS }) as const;
    for (const userId of [undefined, "usr_1", "usr_2"])
      notifications.notify({ level: "info", title: `for ${userId}`, key: "k", userId });
    const listTitles = (caller: ReturnType<typeof of>) =>
      notifications.list({ limit: 50, after: null }, caller).items.map(({ title }) => title);
    expect(listTitles(of("usr_1"))).toEqual(["for usr_1"]);
    expect(listTitles(of("usr_2", true)).toSorted()).toEqual(["for undefined", "for usr_2"]);
    expect(list().map(({ title }) => title)).toEqual(["for undefined"]);
    const system = list()[0]!;
    expect(() => notifications.dismiss(system.id, of("usr_1"))).toThrow("no such notification");
    notifications.handOver("usr_1");
    expect(listTitles(of("usr_1"))).toEqual([]);
  });

  test("of nobody else are found by a user, or without a credential", async () => {
    expect((await call("GET", "/v1/admin/notifications", { who: user })).body).toEqual({
      items: [],
      next_cursor: null,
    });
    expect((await call("POST", "/v1/admin/notifications/ntf_nothing/dismiss")).status).toBe(404);
    expect((await server.request("GET", "/v1/admin/notifications")).status).toBe(401);
  });
});
