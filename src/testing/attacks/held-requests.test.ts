/** A37: a request that is held open while its caller loses the right to make it must change nothing. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Account, logIn, makeUser, PASSWORD, setupAdmin } from "../accounts.ts";
import { framesOf } from "../event-reader.ts";
import { heldRequest } from "../raw-connection.ts";
import { startServer, type TestServer } from "../server.ts";
import { createHeldRun, HOLD_STEP } from "./held-run.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

const folder = mkdtempSync(join(tmpdir(), "skep-held-"));
let server: TestServer;
let admin: Account;
/** A second administrator, whom each test changes as needed. */
let other: Account;
let made = 0;
beforeAll(async () => {
  writeFileSync(join(folder, "script.json"), JSON.stringify({ version: 1, steps: HOLD_STEP }));
  const script = { DEMO_SCRIPT: join(folder, "script.json"), ALLOW_HOST_SHELL: "true" };
  server = await startServer({ env: { AUTH_ENABLED: "true", RATE_LIMIT: "0", ...script } });
  admin = await setupAdmin(server);
});
beforeEach(async () => {
  other = await makeUser(server, admin, `other-${++made}@example.test`, "admin");
});
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

const byAdmin = async (method: string, path: string, body?: unknown) => {
  const answer = await server.request(method, path, { token: admin.token, body });
  expect([method, path, answer.status < 300]).toEqual([method, path, true]);
  return answer.body;
};
const users = async () => {
  const { items } = await byAdmin("GET", "/v1/users?limit=200");
  return (items as { email: string; role: string }[]).map(({ email }) => email);
};
const newKey = async () =>
  (await server.request("POST", "/v1/auth/api-keys", { token: other.token, body: { name: "k" } })).body as {
    id: string;
    key: string;
  };

describe("while its body comes", () => {
  const losses: Record<string, () => Promise<unknown>> = {
    "its administrator is deleted": () => byAdmin("DELETE", `/v1/users/${other.id}`),
    "its administrator is demoted": () => byAdmin("PUT", `/v1/users/${other.id}`, { role: "user" }),
    "its administrator is switched off": () => byAdmin("PUT", `/v1/users/${other.id}`, { active: false }),
    "its administrator's password is reset": () =>
      byAdmin("PUT", `/v1/users/${other.id}`, { password: "another horse battery" }),
    "its session logs out": () => server.request("POST", "/v1/auth/logout", { token: other.token }),
  };
  test.each(Object.keys(losses))("%s: no administrator is made", async (loss) => {
    const body = { email: `late-${made}@example.test`, role: "admin" };
    const held = await heldRequest(server, { path: "/v1/users", token: other.token, body });
    await losses[loss]!();
    expect(await held.finish()).toBe(401);
    expect(await users()).not.toContain(body.email);
  });

  test("its API key is revoked, or that key's user demoted: no secret is made", async () => {
    const [one, two] = [await newKey(), await newKey()];
    const ask = (name: string, token: string) =>
      heldRequest(server, { path: "/v1/secrets", token, body: { name, value: "value-value" } });
    const revoked = await ask("LATE_ONE", one.key);
    await server.request("DELETE", `/v1/auth/api-keys/${one.id}`, { token: other.token });
    expect(await revoked.finish()).toBe(401);
    const demoted = await ask("LATE_TWO", two.key);
    await byAdmin("PUT", `/v1/users/${other.id}`, { role: "user" });
    expect(await demoted.finish()).toBe(401);
    expect(JSON.stringify(await byAdmin("GET", "/v1/secrets"))).not.toContain("LATE_");
  });

  test("the execution whose token it carries ends: it is refused", async () => {
    const held = await createHeldRun(server, admin.token, `held-${made}`);
    const project = await byAdmin("POST", "/v1/projects", { name: `p-${made}` });
    const path = `/v1/projects/${project["id"]}/knowledge-graph/query`;
    const open = await heldRequest(server, { path, token: held.token, body: { query: "x" } });
    await held.release();
    expect(await open.finish()).toBe(401);
  });

  test("nobody loses anything: it is answered", async () => {
    const body = { email: `kept-${made}@example.test` };
    expect(await (await heldRequest(server, { path: "/v1/users", token: other.token, body })).finish()).toBe(201);
  });
});

describe("while its password is hashed", () => {
  test("its administrator is demoted: of many that wait, none is made from then on", async () => {
    const send = (number: number) =>
      server.request("POST", "/v1/users", {
        token: other.token,
        body: { email: `wave-${made}-${number}@example.test`, password: PASSWORD, role: "admin" },
      });
    const wave = Array.from({ length: 32 }, (_, number) => send(number));
    // The first request is answered while the others wait.
    await Promise.race(wave);
    await byAdmin("PUT", `/v1/users/${other.id}`, { role: "user" });
    const before = await users();
    const statuses = (await Promise.all(wave)).map(({ status }) => status);
    expect(await users()).toEqual(before);
    expect(new Set(statuses)).toEqual(new Set([201, 401]));
  });

  test("an own new password waits, and an administrator sets another: the administrator's stays", async () => {
    const key = await newKey();
    // Other password hashes go first, so that the change is still waiting when the administrator's is made.
    const crowd = Array.from({ length: 12 }, () =>
      server.request("POST", "/v1/auth/login", { body: { email: "nobody@example.test", password: PASSWORD } }),
    );
    const own = server.request("PUT", `/v1/users/${other.id}`, {
      token: key.key,
      body: { password: "a thief's new password", current_password: PASSWORD },
    });
    await byAdmin("PUT", `/v1/users/${other.id}`, { password: "the owner's new password" });
    await Promise.all([...crowd, own]);
    expect((await logIn(server, other.email, "the owner's new password")).id).toBe(other.id);
  });
});

describe("streams", () => {
  test("a stream ends when its key is revoked, and shows nothing of what comes after", async () => {
    const key = await newKey();
    const frames = framesOf(server, "/v1/events/stream?after=0", key.key);
    await frames.next();
    await server.request("DELETE", `/v1/auth/api-keys/${key.id}`, { token: other.token });
    await byAdmin("POST", "/v1/runs", { pipeline_id: "hello", task_description: "after the end" });
    let text = "";
    for await (const frame of frames) text += JSON.stringify(frame);
    expect(text).not.toContain("after the end");
  });
});

describe("a request that ends its own rights", () => {
  test("is carried out whole: log-out, demotion and deletion of oneself", async () => {
    const once = await logIn(server, other.email);
    expect((await server.request("POST", "/v1/auth/logout", { token: once.token })).status).toBe(204);
    const body = { role: "user", display_name: "Once an administrator" };
    const demoted = await server.request("PUT", `/v1/users/${other.id}`, { token: other.token, body });
    expect([demoted.status, demoted.body["role"]]).toEqual([200, "user"]);
    const again = await logIn(server, other.email);
    expect((await server.request("DELETE", `/v1/users/${other.id}`, { token: again.token })).status).toBe(204);
    expect(await users()).not.toContain(other.email);
  });
});
