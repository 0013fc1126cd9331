/** A9: a user and an administrator add fields that only the server may set to the body of every operation. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Account, elsewhere, makeUser, PASSWORD, setupAdmin } from "../accounts.ts";
import { startServer, type TestServer } from "../server.ts";
import { createDice, createInputs, resolver, type Schema } from "./fuzz-input.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

interface Document {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema?: Schema }> } }>>;
  components: { schemas: Record<string, Schema> };
}

/** No valid value of any field contains this, so it can be searched for. */
const MARK = "marked-by-a-stranger";
const TIME = "1999-09-09T09:09:09.009Z";
const OURS: Record<string, unknown> = {
  id: `usr_${MARK}`,
  _id: MARK,
  secret_id: MARK,
  owner: MARK,
  owner_id: MARK,
  user_id: MARK,
  created_by: MARK,
  updated_by: MARK,
  hash: MARK,
  password_hash: MARK,
  totp_secret: MARK,
  value_sealed: MARK,
  key_hash: MARK,
  created_at: TIME,
  updated_at: TIME,
  last_used_at: TIME,
  finished_at: TIME,
  last_login_at: TIME,
  is_admin: true,
  admin: true,
  role: "admin",
  active: true,
  scopes_all: true,
  configured: true,
  cost_usd: 987_654,
  restarted_from: MARK,
  branch: MARK,
  source_file: `../${MARK}`,
  lease_owner: MARK,
  constructor: { prototype: { admin: true } },
};

let server: TestServer;
let admin: Account;
let user: Account;
beforeAll(async () => {
  const env = { AUTH_ENABLED: "true", TRUSTED_PROXIES: "127.0.0.1", RATE_LIMIT: "0" };
  server = await startServer({ env: { ...env, ENGINE_INTERNAL_TOKEN: "engine-token-engine-token" } });
  admin = await setupAdmin(server);
  user = await makeUser(server, admin, "user@example.test");
});
afterAll(() => server.remove());

test("A9: no operation takes an id, an owner, a role, a hash or a time from its caller", async () => {
  const send = (method: string, path: string, body: unknown, token: string) =>
    server.request(method, path, { token, body, headers: elsewhere() });
  const source =
    "id: mass\nname: Mass\ndefaults: { model: demo/scripted }\nsteps:\n  - id: ask\n    agent: mass\n    input: hi\n    outputs: [a]\n";
  await send("POST", "/v1/agents", { id: "mass", prompt: "p" }, admin.token);
  await send("POST", "/v1/pipelines", { source }, admin.token);
  await send("POST", "/v1/secrets", { name: "MASS", value: "v" }, admin.token);
  const { body: document } = await server.request<Document>("GET", "/openapi.json");
  const own = { user: user.id, admin: admin.id };
  const known = {
    agent_id: ["mass"],
    pipeline_id: ["mass"],
    provider: ["custom-mass", "openai"],
    tool: ["bash"],
    source: [source],
    current_password: [PASSWORD],
  };
  const resolve = resolver(document);
  const inputs = createInputs(createDice(9), known, resolve);
  let taken = 0;
  for (const [path, item] of Object.entries(document.paths))
    for (const method of ["post", "put", "patch"]) {
      const named = item[method]?.requestBody?.content["application/json"]?.schema;
      if (!named || path === "/v1/auth/logout") continue;
      const schema = named.$ref ? resolve(named.$ref) : named;
      for (const who of ["user", "admin"] as const)
        for (let round = 0; round < 3; round++) {
          const valid = inputs.valid(schema) as Record<string, unknown>;
          const declared = Object.keys(schema.properties ?? {});
          // A field that the operation itself may set is left out, except where users would raise their own role.
          const extra = Object.fromEntries(
            Object.entries(OURS).filter(([name]) => !declared.includes(name) || (name === "role" && who === "user")),
          );
          if (path === "/v1/users/{id}") for (const name of ["password", "email", "active"]) delete valid[name];
          const filled = path
            .replace("users/{id}", `users/${own[who]}`)
            .replace(/agents\/\{id\}|\{agent_id\}/, (found) => (found === "{agent_id}" ? "mass" : "agents/mass"))
            .replace("{provider}", "custom-mass")
            .replace("providers/{id}", "providers/custom-mass")
            .replace("secrets/{id}", "secrets/MASS")
            .replace("pipelines/{id}", "pipelines/mass")
            .replace("{tool}", "bash")
            .replace(/\{\w+\}/g, "x");
          if (path === "/v1/users/{id}" && who === "admin") delete valid["role"];
          const answer = await send(
            method.toUpperCase(),
            filled,
            { ...valid, ...extra },
            (who === "user" ? user : admin).token,
          );
          const text = JSON.stringify(answer.body) ?? "";
          expect([method, path, who, text.includes(MARK) || text.includes(TIME) || text.includes("987654")]).toEqual([
            method,
            path,
            who,
            false,
          ]);
          expect([method, path, answer.status < 500 || answer.status === 503]).toEqual([method, path, true]);
          if (answer.status < 300) taken++;
        }
    }
  // Otherwise the extra fields never reached an operation that accepted its body.
  expect(taken).toBeGreaterThan(40);
  const me = await server.request("GET", "/v1/auth/me", { token: user.token });
  expect([me.status, me.body["id"], me.body["role"]]).toEqual([200, user.id, "user"]);
  const { body: everybody } = await server.request<{ items: { id: string; role: string }[] }>(
    "GET",
    "/v1/users?role=admin&limit=200",
    { token: admin.token },
  );
  const made = everybody.items.filter(({ id }) => id === user.id);
  expect(made).toEqual([]);
  expect((await server.request("GET", "/v1/users", { token: user.token })).status).toBe(403);
  const files = readdirSync(server.data, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  const marked = files
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(MARK) || path.includes(MARK));
  expect(marked).toEqual([]);
}, 300_000);
