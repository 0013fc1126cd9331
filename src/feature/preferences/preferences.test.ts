/** Preferences over a running server: who reads what, and what is refused. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { PREFERENCE_BYTES, PREFERENCES_MAX } from "./model.ts";

let server: TestServer;
let admin: Account;
let user: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
  admin = await setupAdmin(server);
  user = await makeUser(server, admin, "user@example.test");
});
afterAll(() => server.remove());

const get = async ({ token }: Account) => (await server.request("GET", "/v1/preferences", { token })).body;
const patch = (body: unknown, { token }: Account) => server.request("PATCH", "/v1/preferences", { token, body });

test("each person has their own, sets some and removes one with null", async () => {
  expect(await get(user)).toEqual({});
  const first = await patch({ theme: "dark", "runs.filters": [{ name: "Mine", query: "status=failed" }] }, user);
  expect([first.status, first.body]).toEqual([
    200,
    { "runs.filters": [{ name: "Mine", query: "status=failed" }], theme: "dark" },
  ]);
  expect((await patch({ theme: null, keys: false }, user)).body).toEqual({
    keys: false,
    "runs.filters": [{ name: "Mine", query: "status=failed" }],
  });
  expect(await get(admin)).toEqual({});
});

test("a name that is not valid, a value that is too large and one name too many change nothing", async () => {
  const before = await get(user);
  for (const [body, pointer] of [
    [{ Theme: 1 }, undefined],
    [{ ok: 1, big: "x".repeat(PREFERENCE_BYTES) }, "big"],
    [Object.fromEntries(Array.from({ length: PREFERENCES_MAX + 1 }, (_, at) => [`p${at}`, at])), ""],
  ] as const) {
    const { status, body: problem } = await patch(body, user);
    expect(status).toBe(422);
    if (pointer !== undefined)
      expect((problem["errors"] as { pointer: string }[])[0]?.pointer.replace(/^\//, "")).toBe(pointer);
  }
  expect(await get(user)).toEqual(before);
});

test("without accounts they belong to the local user", async () => {
  const open = await startServer();
  try {
    await open.request("PATCH", "/v1/preferences", { body: { theme: "light" } });
    expect((await open.request("PATCH", "/v1/preferences", { body: { theme: "dark" } })).body).toEqual({
      theme: "dark",
    });
  } finally {
    await open.remove();
  }
});
