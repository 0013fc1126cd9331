import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHeldRun, HOLD_STEP } from "../../testing/attacks/held-run.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

// A long timeout for busy machines; no test waits for a clock.
setDefaultTimeout(300_000);

const folder = mkdtempSync(join(tmpdir(), "skep-stream-"));
const ADMIN = "engine-token-engine-token";
let server: TestServer;
beforeAll(async () => {
  writeFileSync(join(folder, "script.json"), JSON.stringify({ version: 1, steps: HOLD_STEP }));
  const script = { DEMO_SCRIPT: join(folder, "script.json"), ALLOW_HOST_SHELL: "true" };
  server = await startServer({ env: { ENGINE_INTERNAL_TOKEN: ADMIN, ...script } });
});
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});
const stream = (query: string, lastEventId?: string) =>
  server.request(
    "GET",
    `/v1/events/stream?${query}`,
    lastEventId === undefined ? {} : { headers: { "Last-Event-ID": lastEventId } },
  );

test("a cancelled tool call gets its end, and a client that reconnects to the finished run gets 204", async () => {
  const run = await createHeldRun(server, ADMIN);
  const reading = framesUntil(
    framesOf(server, `/v1/events/stream?run_id=${run.id}`),
    ({ event }) => event === "session_ended",
  );
  expect((await server.request("POST", `/v1/runs/${run.id}/cancel`)).status).toBe(202);
  const frames = await reading;
  const calls = (kind: string) =>
    frames.filter(({ event }) => event === kind).map(({ data }) => (data["data"] as { call_id: string }).call_id);
  expect(calls("tool_call_start").length).toBeGreaterThan(0);
  expect(calls("tool_call_end")).toEqual(calls("tool_call_start"));
  expect(frames.find(({ event }) => event === "tool_call_end")?.data["data"]).toMatchObject({
    ok: false,
    interrupted: true,
  });

  const whole = await stream(`run_id=${run.id}`);
  const last = [...String(whole.body).matchAll(/^id: (\d+)$/gm)].at(-1)![1]!;
  expect([whole.status, (await stream(`run_id=${run.id}`, last)).status]).toEqual([200, 204]);
  expect((await stream(`run_id=${run.id}&after=${last}`)).status).toBe(204);
  expect((await stream(`run_id=${run.id}`, String(Number(last) - 1))).status).toBe(200);
});

test("a position that is not valid is refused; one that was never reached is answered with a gap", async () => {
  for (const id of ["x", "-1", "1.5", "1e3", "0x1", "9".repeat(16), "run_1"])
    expect([id, (await stream("kinds=run_complete", id)).body["code"] ?? null]).toEqual([id, "bad_last_event_id"]);
  for await (const { event, data } of framesOf(server, "/v1/events/stream?after=999999999")) {
    expect([event, data["to"]]).toEqual(["gap", 999_999_999]);
    break;
  }
});
