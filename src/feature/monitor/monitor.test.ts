/** The server reports to an external monitor that it is well, and at once when it is not. */

import { expect, test } from "bun:test";
import { join } from "node:path";
import Database from "better-sqlite3";
import { startOtlpReceiver as startReceiver } from "../../testing/otlp-receiver.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Monitor } from "./model.ts";
import { createMonitor, pushAddress } from "./service.ts";

test("the address says how the server is, in the form of the monitor", () => {
  const kuma = "https://kuma.example/api/push/Abc123?status=up&msg=OK&ping=";
  expect(pushAddress(kuma, null)).toBe("https://kuma.example/api/push/Abc123?status=up&msg=OK&ping=");
  expect(pushAddress(kuma, "The disk is full.")).toContain("status=down&msg=The+disk+is+full.");
  const checks = "https://hc.example/ping/8e2c";
  expect([pushAddress(checks, null), pushAddress(checks, "x")]).toEqual([checks, `${checks}/fail`]);
});

/** A monitor of a server whose clock and state the test moves. */
function setUpMonitor() {
  const state = {
    now: 0,
    trouble: null as string | null,
    asked: [] as string[],
    answer: 200,
    standby: null as string | null,
  };
  const monitor = createMonitor({
    clock: { now: () => Date.parse("2026-01-01"), monotonic: () => state.now },
    masking: { text: (text) => text },
    standby: { since: () => state.standby },
    address: "http://monitor.example/ping",
    everyMinutes: () => 5,
    trouble: () => state.trouble,
    async ask(address) {
      state.asked.push(address);
      if (state.answer === 0) throw new Error("no way there");
      return { status: state.answer };
    },
  });
  return { state, monitor, look: () => monitor.look(new AbortController().signal) };
}

test("it is asked every so many minutes, and at once when something changes or it did not answer", async () => {
  const { state, monitor, look } = setUpMonitor();
  const collectAsked = async (): Promise<string[]> => {
    state.asked.length = 0;
    await look();
    return [...state.asked];
  };
  const [well, unwell] = ["http://monitor.example/ping", "http://monitor.example/ping/fail"];
  expect([await collectAsked(), await collectAsked()]).toEqual([[well], []]);
  state.now = 5 * 60_000;
  expect(await collectAsked()).toEqual([well]);
  state.trouble = "The scheduled backup failed.";
  expect([await collectAsked(), await collectAsked()]).toEqual([[unwell], []]);
  expect(monitor.finding()).toMatchObject({ verdict: "warn", detail: expect.stringContaining("backup failed") });
  state.trouble = null;
  state.answer = 0;
  expect(await collectAsked()).toEqual([well]);
  expect(monitor.finding()).toMatchObject({ verdict: "fail", detail: expect.stringContaining("no way there") });
  state.answer = 200;
  expect([await collectAsked(), await collectAsked()]).toEqual([[well], []]);
  expect(monitor.finding().verdict).toBe("ok");
  state.now *= 2;
  state.standby = "2026-01-01T00:00:00.000Z";
  expect(await collectAsked()).toEqual([]);
});

test("a server tells it that it is well, and after a failed backup that it is not; its address is shown nowhere", async () => {
  const receiver = await startReceiver();
  const env = { PUSH_MONITOR_URL: `${receiver.origin}/ping/secret-of-the-monitor` };
  let server: TestServer = await startServer({ env });
  const waitForRequest = (path: string) =>
    receiver.until(() => receiver.requests.some((request) => request.path === path));
  const monitor = async () => (await server.request<Monitor>("GET", "/v1/admin/monitor")).body;
  try {
    await waitForRequest("/ping/secret-of-the-monitor");
    expect(await monitor()).toMatchObject({ set_up: true, every_minutes: 5, trouble: null, error: null });
    const changed = await server.request("PUT", "/v1/settings", { body: { backup: { schedule: "0 3 * * *" } } });
    expect(changed.status).toBe(200);
    await server.stop();
    const now = Date.now();
    const failed = { schedule: "0 3 * * * UTC", since: now, tried_at: now, succeeded_at: null };
    const error = { at: new Date(now).toISOString(), code: "backup_failed", message: "The folder is gone." };
    const database = new Database(join(server.data, "skep.db"));
    database
      .prepare("INSERT OR REPLACE INTO facts (name, value) VALUES ('backup_schedule', ?)")
      .run(JSON.stringify({ ...failed, error }));
    database.close();
    server = await startServer({ env, data: server.data });
    await waitForRequest("/ping/secret-of-the-monitor/fail");
    const shown = [await monitor(), (await server.request("GET", "/v1/doctor")).body, server.output()];
    expect(shown[0]).toMatchObject({ trouble: "The scheduled backup failed or is overdue." });
    expect(JSON.stringify(shown)).not.toContain("secret-of-the-monitor");
  } finally {
    await server.remove();
    receiver.stop();
  }
});
