import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  type Account,
  enableTwoFactor,
  logIn,
  makeUser,
  PASSWORD,
  setupAdmin,
  steadyStep,
  totp,
} from "../../testing/accounts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

const env = { AUTH_ENABLED: "true" };

describe("log-in", () => {
  let server: TestServer;
  let admin: Account;
  beforeAll(async () => {
    server = await startServer({ env });
    admin = await setupAdmin(server);
  });
  afterAll(() => server.remove());
  const post = (path: string, body: unknown, token?: string) =>
    server.request("POST", path, { body, ...(token ? { token } : {}) });

  test("a right password gives tokens that work, and a user without its hash", async () => {
    const { status, body, headers } = await post("/v1/auth/login", {
      email: " ADMIN@example.test ",
      password: PASSWORD,
    });
    expect([status, body["token_type"], body["expires_in"]]).toEqual([200, "Bearer", 900]);
    expect(Object.keys(body["user"] as object).sort()).toEqual(
      [
        "active",
        "created_at",
        "display_name",
        "email",
        "has_password",
        "id",
        "last_login_at",
        "role",
        "two_factor_enabled",
      ].sort(),
    );
    expect(headers.get("set-cookie")).toBeNull();
    const me = await server.request("GET", "/v1/auth/me", { token: body["access_token"] as string });
    expect([me.status, me.body["email"], me.body["role"]]).toEqual([200, "admin@example.test", "admin"]);
    expect(JSON.stringify(me.body)).not.toContain("argon2");
  });

  test("an unknown account, a wrong password and an inactive account get the same answer", async () => {
    const user = await makeUser(server, admin, "inactive@example.test");
    await server.request("PUT", `/v1/users/${user.id}`, { token: admin.token, body: { active: false } });
    const answers = [];
    for (const email of ["nobody@example.test", "admin@example.test", "inactive@example.test"]) {
      const password = email.startsWith("inactive") ? PASSWORD : "wrong password";
      const { status, body, headers } = await post("/v1/auth/login", { email, password });
      const { request_id: _, ...rest } = body;
      answers.push(JSON.stringify([status, rest, headers.get("www-authenticate")]));
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain("wrong_credentials");
  });

  test("a refresh token is used once; its second use ends the session and all its tokens", async () => {
    const one = await logIn(server, admin.email);
    const two = await post("/v1/auth/refresh", { refresh_token: one.refresh });
    expect(two.status).toBe(200);
    const next = two.body as { access_token: string; refresh_token: string };
    expect(next.refresh_token).not.toBe(one.refresh);
    expect((await server.request("GET", "/v1/auth/me", { token: next.access_token })).status).toBe(200);
    expect((await post("/v1/auth/refresh", { refresh_token: one.refresh })).status).toBe(401);
    expect((await post("/v1/auth/refresh", { refresh_token: next.refresh_token })).status).toBe(401);
    for (const token of [one.token, next.access_token])
      expect((await server.request("GET", "/v1/auth/me", { token })).status).toBe(401);
    const audit = await server.request("GET", "/v1/admin/audit?action=refresh", { token: admin.token });
    expect((audit.body["items"] as { action: string }[])[0]?.action).toBe("refresh.reused");
  });

  test("an expired access token in the header does not prevent a refresh", async () => {
    const one = await logIn(server, admin.email);
    const { status } = await post("/v1/auth/refresh", { refresh_token: one.refresh }, "garbage");
    expect(status).toBe(200);
  });

  test("after log-out neither token works", async () => {
    const one = await logIn(server, admin.email);
    expect((await server.request("POST", "/v1/auth/logout", { token: one.token })).status).toBe(204);
    expect((await server.request("GET", "/v1/auth/me", { token: one.token })).status).toBe(401);
    expect((await post("/v1/auth/refresh", { refresh_token: one.refresh })).status).toBe(401);
  });

  test("another user's refresh token is not ended by logging out with it", async () => {
    const user = await makeUser(server, admin, "logout@example.test");
    const body = { refresh_token: admin.refresh };
    expect((await server.request("POST", "/v1/auth/logout", { token: user.token, body })).status).toBe(204);
    expect((await server.request("GET", "/v1/auth/me", { token: admin.token })).status).toBe(200);
  });

  test("a cookie log-in answers no token; the cookie works and is gone after log-out", async () => {
    const made = await post("/v1/auth/login", { email: admin.email, password: PASSWORD, session: "cookie" });
    expect(made.body["access_token"]).toBeUndefined();
    expect(made.body["token_type"]).toBe("Cookie");
    const set = made.headers.get("set-cookie") ?? "";
    expect(set).toMatch(/^skep_session=skck_[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Strict$/);
    const headers = { Cookie: set.split(";")[0]!, Origin: server.url };
    expect((await server.request("GET", "/v1/auth/me", { headers })).status).toBe(200);
    const out = await server.request("POST", "/v1/auth/logout", { headers });
    expect([out.status, out.headers.get("set-cookie")]).toEqual([204, expect.stringContaining("Max-Age=0")]);
    expect((await server.request("GET", "/v1/auth/me", { headers })).status).toBe(401);
  });

  test("sessions are listed and ended one by one, by their own user only", async () => {
    const user = await makeUser(server, admin, "sessions@example.test");
    const other = await logIn(server, user.email);
    const list = await server.request<{ items: { id: string; current: boolean }[] }>("GET", "/v1/auth/sessions", user);
    expect(list.body.items.map((item) => item.current).sort()).toEqual([false, true]);
    const id = list.body.items.find((item) => !item.current)!.id;
    expect((await server.request("DELETE", `/v1/auth/sessions/${id}`, { token: admin.token })).status).toBe(404);
    expect((await server.request("DELETE", `/v1/auth/sessions/${id}`, { token: user.token })).status).toBe(204);
    expect((await server.request("GET", "/v1/auth/me", { token: other.token })).status).toBe(401);
    expect((await server.request("GET", "/v1/auth/me", { token: user.token })).status).toBe(200);
  });
});

describe("API keys", () => {
  let server: TestServer;
  let admin: Account;
  beforeAll(async () => {
    server = await startServer({ env });
    admin = await setupAdmin(server);
  });
  afterAll(() => server.remove());
  const make = async (body: Record<string, unknown>, headers = {}) =>
    server.request<Record<string, string>>("POST", "/v1/auth/api-keys", { token: admin.token, body, headers });

  test("a key is shown once, listed without it, and dead when revoked", async () => {
    const made = await make({ name: "ci" });
    expect(made.status).toBe(201);
    const { key, id } = made.body as { key: string; id: string };
    expect(key).toMatch(/^skep_[\w-]{43}$/);
    expect((await server.request("GET", "/v1/auth/me", { token: key })).status).toBe(200);
    const list = await server.request("GET", "/v1/auth/api-keys", { token: key });
    expect(JSON.stringify(list.body)).not.toContain(key);
    expect((list.body["items"] as { last_used_at: string }[])[0]?.last_used_at).toBeString();
    expect((await server.request("DELETE", `/v1/auth/api-keys/${id}`, { token: admin.token })).status).toBe(204);
    expect((await server.request("GET", "/v1/auth/me", { token: key })).status).toBe(401);
  });

  test("a repeat with the same Idempotency-Key makes no second key and does not show the first", async () => {
    const headers = { "Idempotency-Key": "once" };
    const first = await make({ name: "idem" }, headers);
    const second = await make({ name: "idem" }, headers);
    expect([second.status, second.body["id"], second.body["key"]]).toEqual([201, first.body["id"], undefined]);
    await server.stop();
    const key = first.body["key"]!;
    for (const file of ["skep.db", "skep.db-wal"].map((name) => join(server.data, name)))
      if (existsSync(file)) expect(readFileSync(file).includes(key)).toBe(false);
    server = await startServer({ env, data: server.data });
    expect((await server.request("GET", "/v1/auth/me", { token: key })).status).toBe(200);
  });

  test("an end in the past and an unknown scope are refused; a key is dead after its end", async () => {
    expect((await make({ name: "late", expires_at: "2020-01-01T00:00:00Z" })).status).toBe(422);
    for (const scopes of [["everything"], [], "read"]) expect((await make({ name: "s", scopes })).status).toBe(422);
    const statusWith = async (token: string) => (await server.request("GET", "/v1/auth/me", { token })).status;
    // On a busy machine the key may expire before it is used. Then the test tries a key with a longer life.
    for (let livesMs = 1_000; ; livesMs *= 2) {
      const ends = Date.now() + livesMs;
      const made = await make({ name: `short ${livesMs}`, expires_at: new Date(ends).toISOString() });
      const key = made.body["key"]!;
      const status = made.status === 201 ? await statusWith(key) : made.status;
      if (Date.now() >= ends) continue;
      expect(status).toBe(200);
      await Bun.sleep(ends - Date.now() + 20);
      expect(await statusWith(key)).toBe(401);
      break;
    }
  });

  test.each([
    [
      ["read"],
      { "GET /v1/secrets": 200, "POST /v1/secrets": 403, "GET /v1/users": 403, "POST /v1/auth/api-keys": 403 },
    ],
    [["runs"], { "GET /v1/secrets": 200, "POST /v1/secrets": 403, "PUT /v1/users/me": 403, "POST /v1/projects": 403 }],
    [["runs"], { "POST /v1/chat/sessions": 201 }],
    [["write"], { "POST /v1/projects": 201 }],
    [["runs", "write"], { "POST /v1/runs/run_x/merge": 403, "POST /v1/runs/run_x/push": 403 }],
    [["runs"], { "POST /v1/runs/run_x/pull-request": 403, "POST /v1/runs/run_x/cancel": 404 }],
    [["publish"], { "POST /v1/runs/run_x/merge": 404, "POST /v1/runs/run_x/pull-request": 404, "POST /v1/runs": 403 }],
    [["write"], { "GET /v1/secrets": 200, "POST /v1/secrets": 403, "POST /v1/events/ticket": 200 }],
    [
      ["admin"],
      { "GET /v1/users": 200, "POST /v1/secrets": 201, "POST /v1/users": 403, "POST /v1/auth/api-keys": 403 },
    ],
    [["read", "write"], { "POST /v1/auth/2fa/enable": 403, "POST /v1/auth/logout": 403 }],
    [null, { "GET /v1/users": 200, "POST /v1/auth/api-keys": 201, "POST /v1/secrets": 409 }],
  ])("scopes %p limit an administrator's key to what they name", async (scopes, expected) => {
    const { key } = (await make({ name: "scoped", scopes })).body as { key: string };
    const bodies: Record<string, unknown> = {
      "/v1/secrets": { name: "SCOPED", value: "abcdefgh" },
      "/v1/auth/api-keys": { name: "child" },
      "/v1/users": { email: "child@example.test" },
      "/v1/users/me": { display_name: "x" },
      "/v1/projects": { name: "scoped" },
      "/v1/chat/sessions": { agent_id: "scribe" },
    };
    for (const [route, status] of Object.entries(expected)) {
      const [method, path] = route.split(" ") as [string, string];
      const body = method === "GET" ? undefined : bodies[path];
      const answer = await server.request(method, path, { token: key, body });
      expect([route, answer.status]).toEqual([route, status]);
    }
  });
});

test("every scope reads what its user may read: an administrator's key sees others' runs, and changes none of them", async () => {
  const server = await startServer({ env });
  try {
    const admin = await setupAdmin(server);
    const other = await makeUser(server, admin, "other@example.test");
    const body = { pipeline_id: "hello", task_description: "Of another user" };
    const { id } = (await server.request<{ id: string }>("POST", "/v1/runs", { token: other.token, body })).body;
    for (const scope of ["read", "runs", "write", "publish"]) {
      const made = await server.request<{ key: string }>("POST", "/v1/auth/api-keys", {
        token: admin.token,
        body: { name: scope, scopes: [scope] },
      });
      const token = made.body.key;
      const listed = await server.request<{ items: { id: string }[] }>("GET", "/v1/runs", { token });
      expect([scope, listed.body.items.map((run) => run.id)]).toEqual([scope, [id]]);
      expect([scope, (await server.request("GET", `/v1/runs/${id}`, { token })).status]).toEqual([scope, 200]);
      const steered = await server.request("POST", `/v1/runs/${id}/cancel`, { token });
      expect([scope, steered.status]).toEqual([scope, scope === "runs" || scope === "write" ? 404 : 403]);
    }
    const plain = await server.request<{ key: string }>("POST", "/v1/auth/api-keys", {
      token: other.token,
      body: { name: "mine", scopes: ["read"] },
    });
    const own = { token: admin.token, body: { ...body, task_description: "The administrator's" } };
    await server.request("POST", "/v1/runs", own);
    const seen = await server.request<{ items: { id: string }[] }>("GET", "/v1/runs", { token: plain.body.key });
    expect(seen.body.items.map((run) => run.id)).toEqual([id]);
  } finally {
    await server.remove();
  }
});

describe("two-factor verification", () => {
  let server: TestServer;
  let admin: Account;
  beforeAll(async () => {
    server = await startServer({ env: { ...env, TRUSTED_PROXIES: "127.0.0.1", PUBLIC_URL: "http://127.0.0.1" } });
    admin = await setupAdmin(server);
  });
  afterAll(() => server.remove());
  const pending = async (email: string, from: string) => {
    const headers = { "X-Forwarded-For": from };
    const { body } = await server.request("POST", "/v1/auth/login", { body: { email, password: PASSWORD }, headers });
    expect(body["two_factor_required"]).toBe(true);
    return body["pending_token"] as string;
  };
  const second = (body: Record<string, unknown>, from: string) =>
    server.request("POST", "/v1/auth/login/2fa", { body, headers: { "X-Forwarded-For": from } });

  test("it is on only after a code was verified, and then a password alone is not enough", async () => {
    const user = await makeUser(server, admin, "twofactor@example.test");
    const started = await server.request<Record<string, string>>("POST", "/v1/auth/2fa/enable", { token: user.token });
    expect(started.body["otpauth_url"]).toStartWith("otpauth://totp/Skep:twofactor%40example.test?secret=");
    expect(started.body["qr_svg"]).toStartWith("<svg");
    await logIn(server, user.email);
    const verify = (code: string) =>
      server.request("POST", "/v1/auth/2fa/verify", { token: user.token, body: { code } });
    expect((await verify("000000")).status).toBe(422);
    await steadyStep();
    const done = await verify(totp(started.body["secret"]!, -1));
    expect(new Set(done.body["recovery_codes"] as string[]).size).toBe(10);
    const pending_token = await pending(user.email, "10.0.0.1");
    const signed = await second({ pending_token, code: totp(started.body["secret"]!) }, "10.0.0.1");
    expect([signed.status, signed.body["token_type"]]).toEqual([200, "Bearer"]);
    expect((await second({ pending_token, code: totp(started.body["secret"]!, 1) }, "10.0.0.1")).status).toBe(401);
    expect((await server.request("POST", "/v1/auth/2fa/enable", { token: user.token })).status).toBe(409);
  });

  test("it goes off with password and code, not with one of them", async () => {
    const user = await makeUser(server, admin, "disable@example.test");
    const { secret, recovery } = await enableTwoFactor(server, user);
    const disable = (body: unknown) => server.request("POST", "/v1/auth/2fa/disable", { token: user.token, body });
    expect((await disable({ code: totp(secret) })).status).toBe(422);
    expect((await disable({ password: PASSWORD })).status).toBe(422);
    expect((await disable({ password: "wrong password", code: totp(secret) })).status).toBe(422);
    expect((await disable({ password: PASSWORD, recovery_code: recovery[0]!.toUpperCase() })).status).toBe(204);
    await logIn(server, user.email);
    expect((await disable({ password: PASSWORD, code: totp(secret) })).status).toBe(409);
  });
});

describe("first administrator", () => {
  test("a server that others can reach asks for the setup token, prints it at every start, and takes it once", async () => {
    let server = await startServer({ env: { HOST: "0.0.0.0" } });
    const path = join(server.data, "setup-token");
    const token = readFileSync(path, "utf8").trim();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(server.output()).toContain(token);
    await server.stop();
    server = await startServer({ env: { HOST: "0.0.0.0" }, data: server.data });
    try {
      expect(server.output()).toContain(token);
      const setup = (setup_token: unknown) =>
        server.request("POST", "/v1/auth/setup", {
          body: { email: "a@example.test", password: PASSWORD, setup_token },
        });
      expect((await setup(undefined)).status).toBe(403);
      expect((await setup("wrong")).status).toBe(403);
      expect((await setup("")).status).toBe(403);
      const both = await Promise.all([setup(token), setup(token)]);
      expect(both.map((answer) => answer.status).sort()).toEqual([201, 409]);
      expect((await setup(token)).status).toBe(409);
      expect(existsSync(path)).toBe(false);
      expect((await server.request("GET", "/v1/auth/me")).status).toBe(401);
    } finally {
      await server.remove();
    }
  });

  test.each<Record<string, string>>([{ PUBLIC_URL: "https://skep.example.test" }, { TRUSTED_PROXIES: "127.0.0.1" }])(
    "a proxy before a loopback address lets others in, so credentials are asked for: %p",
    async (env) => {
      const server = await startServer({ env });
      try {
        expect((await server.request("GET", "/v1/auth/me")).status).toBe(401);
        const body = { email: "a@example.test", password: PASSWORD };
        expect((await server.request("POST", "/v1/auth/setup", { body })).status).toBe(403);
        expect(server.output()).toContain("Setup token");
      } finally {
        await server.remove();
      }
    },
  );

  test("without credentials asked for, who-am-I answers the local administrator", async () => {
    const server = await startServer();
    try {
      const me = await server.request("GET", "/v1/auth/me");
      expect([me.status, me.body["id"], me.body["role"]]).toEqual([200, "local", "admin"]);
      const admin = await setupAdmin(server);
      const own = await server.request("GET", "/v1/auth/me", { token: admin.token });
      expect([own.body["id"], own.body["email"]]).toEqual([admin.id, admin.email]);
      expect((await server.request("POST", "/v1/auth/2fa/enable")).status).toBe(403);
    } finally {
      await server.remove();
    }
  });
});
