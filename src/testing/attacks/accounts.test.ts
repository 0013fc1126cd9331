/** Attacks on accounts: A6, A7, A9, A10, A12–A15, A17 of the list, and A5 as far as it is theirs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  type Account,
  elsewhere,
  enableTwoFactor,
  logIn,
  makeUser,
  PASSWORD,
  setupAdmin,
  steadyStep,
  totp,
} from "../accounts.ts";
import { processMs } from "../main-thread.ts";
import { startServer, type TestServer } from "../server.ts";

let server: TestServer;
let admin: Account;
beforeAll(async () => {
  server = await startServer({
    env: { AUTH_ENABLED: "true", TRUSTED_PROXIES: "127.0.0.1", ENGINE_INTERNAL_TOKEN: "engine-token-engine-token" },
  });
  admin = await setupAdmin(server);
});
afterAll(() => server.remove());
const statusOf = async (token: string) => (await server.request("GET", "/v1/auth/me", { token })).status;
const tryLogin = (email: string, password: string, headers = elsewhere()) =>
  server.request("POST", "/v1/auth/login", { body: { email, password }, headers });

describe("A7: empty is nothing", () => {
  const empties = [null, "", " ", [], {}, 0, false, "null", "undefined"];
  test.each([
    ["/v1/auth/login", { email: "admin@example.test" }, "password"],
    ["/v1/auth/login/2fa", { code: "123456" }, "pending_token"],
    ["/v1/auth/login/2fa", { pending_token: "skpl_x" }, "code"],
    ["/v1/auth/refresh", {}, "refresh_token"],
    ["/v1/auth/setup", { email: "b@example.test", password: PASSWORD }, "setup_token"],
  ])("%s %p takes no empty %s", async (path, body, field) => {
    for (const value of empties) {
      const answer = await server.request("POST", path, { body: { ...body, [field]: value }, headers: elsewhere() });
      expect([400, 401, 403, 409, 422]).toContain(answer.status);
      expect(answer.body["access_token"]).toBeUndefined();
    }
  });
  test("no empty or blank credential is one, in header or cookie", async () => {
    for (const headers of [
      { Authorization: "" },
      { Authorization: "Bearer" },
      { Authorization: "Bearer  " },
      { Authorization: "Bearer null" },
      { Authorization: "Bearer undefined" },
      { Cookie: "skep_session=" },
      { Cookie: "skep_session=null" },
      { Cookie: "skep_session" },
    ] as Record<string, string>[])
      expect([headers, (await server.request("GET", "/v1/auth/me", { headers })).status]).toEqual([headers, 401]);
  });
});

describe("A9: nobody names their own id, role, owner or hash", () => {
  const more = {
    id: "usr_x",
    user_id: "usr_x",
    owner: "usr_x",
    password_hash: "x",
    created_at: "2000-01-01T00:00:00.000Z",
  };
  test("such fields in any body have no effect", async () => {
    const body = { email: "mass@example.test", password: PASSWORD, ...more, totp_enabled: true, last_login_at: "x" };
    const made = await server.request("POST", "/v1/users", { token: admin.token, body });
    expect(made.body["id"]).toStartWith("usr_0");
    expect(made.body["created_at"]).not.toBe(more.created_at);
    const user = await logIn(server, body.email);
    const raised = { display_name: "Mass", ...more, role: "admin", active: false, email: "other@example.test" };
    const put = await server.request("PUT", `/v1/users/${user.id}`, { token: user.token, body: raised });
    expect([put.status, put.body["role"], put.body["active"], put.body["email"], put.body["display_name"]]).toEqual([
      200,
      "user",
      true,
      "mass@example.test",
      "Mass",
    ]);
    const key = await server.request("POST", "/v1/auth/api-keys", {
      token: user.token,
      body: { name: "k", ...more, hash: "x", key: "skep_mine" },
    });
    expect(key.body["key"]).not.toBe("skep_mine");
    expect((await server.request("GET", "/v1/auth/me", { token: key.body["key"] as string })).body["id"]).toBe(user.id);
  });
  test("prototype members are ignored too", async () => {
    const body =
      '{"display_name":"P","__proto__":{"role":"admin","admin":true},"constructor":{"prototype":{"admin":true}}}';
    const user = await makeUser(server, admin, "proto@example.test");
    const put = await server.request("PUT", `/v1/users/${user.id}`, {
      token: user.token,
      body,
      headers: { "Content-Type": "application/json" },
    });
    expect([200, 422]).toContain(put.status);
    expect((await server.request("GET", "/v1/users", { token: user.token })).status).toBe(403);
  });
});

describe("A10: access tokens", () => {
  const decode = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const parts = () => admin.token.split(".") as [string, string, string];
  const signToken = (header: unknown, claims: unknown, key: Uint8Array | string) => {
    const input = `${encode(header)}.${encode(claims)}`;
    return `${input}.${createHmac("sha256", key).update(input).digest("base64url")}`;
  };
  const key = () => Buffer.from(readFileSync(join(server.data, "keys/signing.key"), "utf8").trim(), "hex");

  test("the signing key is 32 random bytes of this instance, readable by its owner alone", async () => {
    expect(key().byteLength).toBe(32);
    expect(statSync(join(server.data, "keys/signing.key")).mode & 0o777).toBe(0o600);
    const other = await startServer();
    try {
      expect(readFileSync(join(other.data, "keys/signing.key"), "utf8").trim()).not.toBe(key().toString("hex"));
    } finally {
      await other.remove();
    }
  });
  test("a token says who issued it to whom for what and when", () => {
    const [header, claims] = parts();
    expect(decode(header)).toEqual({ alg: "HS256", typ: "at+jwt", kid: expect.any(String) });
    const { iat, nbf, exp, ...rest } = decode(claims) as Record<string, number>;
    expect(exp! - nbf!).toBe(900);
    expect(Math.abs(iat! - nbf!)).toBeLessThanOrEqual(1);
    expect(rest as unknown).toEqual({
      iss: "skep",
      aud: "skep-api",
      sub: admin.id,
      role: "admin",
      jti: expect.any(String),
      sid: expect.any(String),
    });
  });
  test("the same claims signed by us are accepted: the forgeries below fail for their own reason", async () => {
    const [header, claims] = parts();
    expect(await statusOf(signToken(decode(header), decode(claims), key()))).toBe(200);
  });
  const now = Math.floor(Date.now() / 1_000);
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["alg none", { alg: "none" }, {}],
    ["alg HS512", { alg: "HS512" }, {}],
    ["alg RS256", { alg: "RS256" }, {}],
    ["another kid", { kid: "another" }, {}],
    ["no kid", { kid: undefined }, {}],
    ["another type", { typ: "JWT" }, {}],
    ["an unknown critical header", { crit: ["x"], x: 1 }, {}],
    ["that is over", {}, { exp: now - 1, nbf: now - 901 }],
    ["without an end", {}, { exp: undefined }],
    ["that is not yet", {}, { nbf: now + 600 }],
    ["for another audience", {}, { aud: "another" }],
    ["of another issuer", {}, { iss: "another" }],
    ["of another subject", {}, { sub: "usr_another" }],
    ["of no session", {}, { sid: undefined }],
    ["of an unknown session", {}, { sid: "lgn_unknown" }],
  ])("%s: refused, though signed with the right key", async (_, header, claims) => {
    const [h, c] = parts();
    expect(await statusOf(signToken({ ...decode(h), ...header }, { ...decode(c), ...claims }, key()))).toBe(401);
  });
  test("a wrong, missing or guessable signature is refused", async () => {
    const [h, c, s] = parts();
    for (const token of [
      `${h}.${c}.`,
      `${h}.${c}`,
      `${h}.${c}.${s.slice(0, -2)}AA`,
      `${encode({ ...decode(h), alg: "none" })}.${c}.`,
    ])
      expect(await statusOf(token)).toBe(401);
    for (const guess of ["secret", "", "skep", "changeme", "engine-token-engine-token", "\0".repeat(32)])
      expect(await statusOf(signToken(decode(h), decode(c), guess || " "))).toBe(401);
  });
});

describe("A12, A13: second factor", () => {
  const pending = async (email: string) => {
    const { body } = await tryLogin(email, PASSWORD);
    expect(body["two_factor_required"]).toBe(true);
    return body["pending_token"] as string;
  };
  const second = (body: Record<string, unknown>) =>
    server.request("POST", "/v1/auth/login/2fa", { body, headers: elsewhere() });

  test("one code opens one session, however many try at once; an older step is dead after a newer", async () => {
    const user = await makeUser(server, admin, "race@example.test");
    const { secret } = await enableTwoFactor(server, user);
    await steadyStep();
    const tokens = await Promise.all(Array.from({ length: 6 }, () => pending(user.email)));
    const code = totp(secret, 1);
    const answers = await Promise.all(tokens.map((pending_token) => second({ pending_token, code })));
    expect(answers.filter((answer) => answer.status === 200).length).toBe(1);
    const fresh = await pending(user.email);
    expect((await second({ pending_token: fresh, code })).status).toBe(401);
    expect((await second({ pending_token: fresh, code: totp(secret) })).status).toBe(401);
  });
  test("20 at once with one pending token: one session", async () => {
    const user = await makeUser(server, admin, "race2@example.test");
    const { secret } = await enableTwoFactor(server, user);
    await steadyStep();
    const pending_token = await pending(user.email);
    const code = totp(secret, 1);
    const answers = await Promise.all(Array.from({ length: 20 }, () => second({ pending_token, code })));
    expect(answers.filter((answer) => answer.status === 200).length).toBe(1);
  });
  test("codes outside one step are refused; wrong ones lock the factor, over any number of pending tokens", async () => {
    const user = await makeUser(server, admin, "guess@example.test");
    const { secret, recovery } = await enableTwoFactor(server, user);
    await steadyStep();
    const first = await pending(user.email);
    expect((await second({ pending_token: first, code: totp(secret, 3) })).status).toBe(401);
    expect((await second({ pending_token: first, code: totp(secret, -3) })).status).toBe(401);
    let tries = 2;
    for (let round = 0; round < 4 && tries < 30; round++) {
      const pending_token = await pending(user.email);
      for (let one = 0; one < 5; one++) {
        const { status } = await second({ pending_token, code: String(100_000 + tries++) });
        if (status === 429) break;
      }
    }
    expect(tries).toBeLessThanOrEqual(14);
    const pending_token = await pending(user.email);
    const right = await second({ pending_token, code: totp(secret, 1) });
    expect([right.status, right.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect((await second({ pending_token, recovery_code: recovery[0]! })).status).toBe(429);
  });
  test("a recovery code works once, and for its own user only", async () => {
    const one = await makeUser(server, admin, "recover1@example.test");
    const two = await makeUser(server, admin, "recover2@example.test");
    const ofOne = await enableTwoFactor(server, one);
    await enableTwoFactor(server, two);
    const recovery_code = ofOne.recovery[3]!;
    expect((await second({ pending_token: await pending(two.email), recovery_code })).status).toBe(401);
    expect((await second({ pending_token: await pending(one.email), recovery_code })).status).toBe(200);
    expect((await second({ pending_token: await pending(one.email), recovery_code })).status).toBe(401);
  });
});

describe("A14, A15: guessing", () => {
  test("ten wrong passwords lock the account from everywhere, known or not, with one and the same answer", async () => {
    const { id } = await makeUser(server, admin, "locked@example.test");
    const last = [];
    for (const email of ["locked@example.test", "never-was@example.test"]) {
      const statuses = [];
      for (let one = 0; one < 10; one++) statuses.push((await tryLogin(email, `wrong password ${one}`)).status);
      expect(statuses).toEqual(Array(10).fill(401));
      const { status, body, headers } = await tryLogin(email, PASSWORD);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(800);
      last.push([status, body["code"]]);
    }
    expect(last).toEqual([
      [429, "account_locked"],
      [429, "account_locked"],
    ]);
    // The lock ends early only when an administrator sets a new password.
    const password = "another horse battery";
    await server.request("PUT", `/v1/users/${id}`, { token: admin.token, body: { password } });
    expect((await tryLogin("locked@example.test", password)).status).toBe(200);
  });
  test("20 guesses at once get no more checks than 20 in a row", async () => {
    await server.request("POST", "/v1/users", {
      token: admin.token,
      body: { email: "burst@example.test", password: PASSWORD },
    });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => tryLogin("burst@example.test", `wrong ${n}`)),
    );
    expect(answers.filter((answer) => answer.status === 401).length).toBeLessThanOrEqual(10);
  });
  test("the lock outlives a restart", async () => {
    const own = await startServer({ env: { AUTH_ENABLED: "true" } });
    try {
      await setupAdmin(own);
      const guess = (on: TestServer) =>
        on.request("POST", "/v1/auth/login", { body: { email: "ghost@example.test", password: "wrong password" } });
      for (let one = 0; one < 10; one++) await guess(own);
      await own.stop("SIGKILL");
      const again = await startServer({ env: { AUTH_ENABLED: "true" }, data: own.data });
      expect((await guess(again)).status).toBe(429);
      await again.stop();
    } finally {
      await own.remove();
    }
  });
  test("a forged X-Forwarded-For is not taken as the address; a trusted proxy's last hop is", async () => {
    const own = await startServer({ env: { AUTH_ENABLED: "true" } });
    try {
      const statuses = new Set<number>();
      for (let one = 0; one < 40; one++) {
        const answer = await own.request("POST", "/v1/auth/login", {
          body: { email: `n${one}@example.test`, password: "" },
          headers: elsewhere(),
        });
        statuses.add(answer.status);
        if (answer.status === 429) expect(answer.headers.get("ratelimit")).toMatch(/^"login";r=0;t=\d+$/);
        expect(answer.headers.get("ratelimit-policy")).toBe('"login";q=30;w=60');
      }
      expect(statuses).toEqual(new Set([422, 429]));
    } finally {
      await own.remove();
    }
    const chain = { "X-Forwarded-For": "1.2.3.4, 10.99.99.99, 127.0.0.1" };
    const policy = async (headers: Record<string, string>) =>
      (await server.request("POST", "/v1/auth/login", { body: {}, headers })).headers.get("ratelimit");
    const parseRemaining = (text: string | null) => Number(/r=(\d+)/.exec(text ?? "")?.[1]);
    const first = parseRemaining(await policy(chain));
    expect(parseRemaining(await policy({ "X-Forwarded-For": "9.9.9.9, 10.99.99.99" }))).toBe(first - 1);
  });
  test("an unknown account costs the same as a known one", async () => {
    await server.request("POST", "/v1/users", {
      token: admin.token,
      body: { email: "timing@example.test", password: PASSWORD },
    });
    // In turns, and by processor time, so that other load on the machine changes nothing.
    const spent = { known: 0, unknown: 0 };
    for (let turn = 0; turn < 9; turn++)
      for (const [which, email] of [
        ["known", "timing@example.test"],
        ["unknown", "timing-none@example.test"],
      ] as const) {
        const before = processMs(server.pid);
        await tryLogin(email, "wrong password");
        spent[which] += processMs(server.pid) - before;
      }
    expect(Math.max(spent.known, spent.unknown) / Math.min(spent.known, spent.unknown)).toBeLessThan(2);
    expect(spent.unknown).toBeGreaterThan(50);
  });
});

describe("A5, A17: what is revoked is dead", () => {
  test("a password change ends the other sessions; demotion, deactivation and deletion end all", async () => {
    const user = await makeUser(server, admin, "revoke@example.test", "admin");
    const other = await logIn(server, user.email, PASSWORD, "10.50.0.1");
    const put = (token: string, body: unknown) => server.request("PUT", `/v1/users/${user.id}`, { token, body });
    expect((await put(user.token, { password: "another battery" })).status).toBe(422);
    expect((await put(user.token, { password: "another battery", current_password: "wrong password" })).status).toBe(
      422,
    );
    expect((await put(user.token, { password: "another battery", current_password: PASSWORD })).status).toBe(200);
    expect([await statusOf(user.token), await statusOf(other.token)]).toEqual([200, 401]);
    const key = (await server.request("POST", "/v1/auth/api-keys", { token: user.token, body: { name: "k" } })).body[
      "key"
    ] as string;
    expect((await put(admin.token, { role: "user" })).status).toBe(200);
    expect([await statusOf(user.token), await statusOf(key)]).toEqual([401, 200]);
    expect((await server.request("GET", "/v1/users", { token: key })).status).toBe(403);
    const again = await logIn(server, user.email, "another battery", "10.50.0.2");
    expect((await put(admin.token, { active: false })).status).toBe(200);
    expect([await statusOf(again.token), await statusOf(key)]).toEqual([401, 401]);
    expect((await put(admin.token, { active: true })).status).toBe(200);
    expect([await statusOf(again.token), await statusOf(key)]).toEqual([401, 200]);
    expect((await server.request("DELETE", `/v1/users/${user.id}`, { token: admin.token })).status).toBe(204);
    expect(await statusOf(key)).toBe(401);
  });

  test("open streams close when their session, key, role or user goes", async () => {
    const open = async (token: string) => {
      const answer = await fetch(`${server.url}/v1/events/stream`, { headers: { Authorization: `Bearer ${token}` } });
      expect(answer.status).toBe(200);
      return answer.text();
    };
    const [out, demoted, deleted] = await Promise.all([
      makeUser(server, admin, "stream1@example.test"),
      makeUser(server, admin, "stream2@example.test", "admin"),
      makeUser(server, admin, "stream3@example.test"),
    ]);
    const made = await server.request("POST", "/v1/auth/api-keys", { token: out.token, body: { name: "k" } });
    const { key, id } = made.body as { key: string; id: string };
    const streams = await Promise.all(
      [out.token, key, demoted.token, deleted.token].map(async (token) => [open(token)]),
    );
    await server.request("DELETE", `/v1/auth/api-keys/${id}`, { token: out.token });
    await server.request("POST", "/v1/auth/logout", { token: out.token });
    await server.request("PUT", `/v1/users/${demoted.id}`, { token: admin.token, body: { role: "user" } });
    await server.request("DELETE", `/v1/users/${deleted.id}`, { token: admin.token });
    for (const [text] of streams) expect(await text).toStartWith("retry:");
  }, 300_000);
});

describe("A6, A18: cookies, origins and hosts", () => {
  let cookie: string;
  beforeAll(async () => {
    const body = { email: admin.email, password: PASSWORD, session: "cookie" };
    const made = await server.request("POST", "/v1/auth/login", { body, headers: elsewhere() });
    cookie = made.headers.get("set-cookie")!.split(";")[0]!;
  });
  const change = (headers: Record<string, string>) =>
    server.request("POST", "/v1/events/ticket", { headers: { Cookie: cookie, ...headers } });

  test("a change authenticated by the cookie must come from a page of this server", async () => {
    expect((await change({ Origin: server.url })).status).toBe(200);
    expect((await change({ "Sec-Fetch-Site": "same-origin" })).status).toBe(200);
    for (const headers of [
      {},
      { Origin: "https://evil.test" },
      { Origin: "null" },
      { Origin: "" },
      { "Sec-Fetch-Site": "same-site" },
      { "Sec-Fetch-Site": "cross-site" },
      { Origin: server.url.replace(/:\d+$/, ":1") },
      { Origin: `${server.url}.evil.test` },
    ] as Record<string, string>[])
      expect([headers, (await change(headers)).status]).toEqual([headers, 403]);
  });
  test("the cookie has the same rights and limits as the token, and reaches no script", async () => {
    const user = await makeUser(server, admin, "cookie@example.test");
    const body = { email: user.email, password: PASSWORD, session: "cookie" };
    const made = await server.request("POST", "/v1/auth/login", { body, headers: elsewhere() });
    const set = made.headers.get("set-cookie")!;
    expect(set).toContain("HttpOnly; SameSite=Strict");
    const headers = { Cookie: set.split(";")[0]! };
    for (const path of ["/v1/users", `/v1/users/${admin.id}`, "/v1/secrets"]) {
      const [byToken, byCookie] = await Promise.all([
        server.request("GET", path, { token: user.token }),
        server.request("GET", path, { headers }),
      ]);
      expect([path, byCookie.status]).toEqual([path, byToken.status]);
      expect(byCookie.headers.get("ratelimit-policy")).toBe(byToken.headers.get("ratelimit-policy"));
    }
  });
  test("a bad bearer token is not rescued by a good cookie", async () => {
    const headers = { Cookie: cookie, Authorization: "Bearer garbage" };
    expect((await server.request("GET", "/v1/auth/me", { headers })).status).toBe(401);
  });
  test("a foreign origin gets no CORS answer, and a foreign name on a loopback bind no answer at all", async () => {
    const read = await server.request("GET", "/v1/auth/me", {
      headers: { Cookie: cookie, Origin: "https://evil.test" },
    });
    expect(read.headers.get("access-control-allow-origin")).toBeNull();
    expect(
      (await server.request("GET", "/v1/auth/me", { headers: { Cookie: cookie, Host: "evil.test" } })).status,
    ).toBe(421);
    const login = { email: admin.email, password: PASSWORD };
    const forged = await server.request("POST", "/v1/auth/login", {
      body: login,
      headers: { Origin: "https://evil.test" },
    });
    expect(forged.status).toBe(403);
  });
});
