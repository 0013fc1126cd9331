/** Web Push, to a push service of the test that decrypts with its own code. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HOUR_MS } from "../../core/clock.ts";
import { openPushService } from "../../testing/messengers/push-service.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

const PATH = "/v1/notification-channels";
const ENV = { AUTH_ENABLED: "false", NOTIFY_ALLOW: "127.0.0.1", PUBLIC_URL: "https://skep.example.org/at" };
const { service, subscription } = openPushService();
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: ENV });
  const steps = [{ id: "ask", approval: { message: `Ship it? ${"🐝".repeat(1_500)}` } }];
  const made = await server.request("POST", "/v1/pipelines", { body: { id: "gate", name: "Gate", steps } });
  expect(made.status).toBe(201);
});
afterAll(async () => {
  await server?.remove();
  await service.close();
});
const run = async () => {
  const body = { pipeline_id: "gate", task_description: "Release 4.0" };
  return String((await server.request("POST", "/v1/runs", { body })).body["id"]);
};
const subscribe = () => server.request("POST", PATH, { body: { name: "phone", kind: "push", ...subscription } });

test("a device gets what waits for its person: encrypted, signed by the server's key, with the question's page", async () => {
  const made = await subscribe();
  expect([made.status, made.body["target"]]).toEqual([201, `${service.url}/…`]);
  const id = await run();
  const { headers, said, claims } = await service.next();
  expect(said).toMatchObject({ title: "Waits for you: Release 4.0", path: `/at/runs/${id}` });
  expect(String(said["text"])).toStartWith("Ship it? 🐝🐝🐝");
  expect([headers.get("content-encoding"), headers.get("urgency")]).toEqual(["aes128gcm", "high"]);
  expect(Number(headers.get("ttl"))).toBeGreaterThan(0);
  const { public_key } = (await server.request("GET", "/v1/push-key")).body;
  expect(claims).toMatchObject({ aud: service.url, sub: "https://skep.example.org/at", k: public_key });
  expect(Number(claims["exp"]) * 1_000 - Date.now()).toBeLessThan(24 * HOUR_MS);
  for (const file of ["skep.db", "skep.db-wal"]) {
    const bytes = readFileSync(join(server.data, file));
    for (const value of ["canary-endpoint-4471", subscription.auth])
      expect([value, bytes.includes(value)]).toEqual([value, false]);
  }
});

test("the server's key outlives a restart; a device that is gone takes its channel along", async () => {
  const key = async () => (await server.request("GET", "/v1/push-key")).body["public_key"];
  const before = await key();
  await server.stop("SIGKILL");
  server = await startServer({ data: server.data, env: ENV });
  expect(await key()).toBe(before);
  expect((await server.request<{ items: unknown[] }>("GET", PATH)).body.items).toHaveLength(1);
  service.status = 410;
  await run();
  await service.next();
  const names = async () =>
    (await server.request<{ items: { kind: string }[] }>("GET", PATH)).body.items.map(({ kind }) => kind);
  while ((await names()).length > 0) await Bun.sleep(20);
});

test("a subscription that no browser has is refused", async () => {
  const bad: Record<string, unknown>[] = [
    { p256dh: undefined },
    { auth: undefined },
    { auth: "AAAA" },
    { p256dh: Buffer.alloc(65, 4).toString("base64url") },
    { url: "http://10.0.0.1/x" },
    { url: undefined },
    { token: "x" },
  ];
  for (const some of bad) {
    const body = { name: "x", kind: "push", ...subscription, ...some };
    expect([some, (await server.request("POST", PATH, { body })).status]).toEqual([some, 422]);
  }
});
