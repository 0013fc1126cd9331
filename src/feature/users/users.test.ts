import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../core/clock.ts";
import { type Account, enableTwoFactor, logIn, makeUser, PASSWORD, setupAdmin } from "../../testing/accounts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

let server: TestServer;
let admin: Account;
let user: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
  admin = await setupAdmin(server);
  user = await makeUser(server, admin, "user@example.test");
});
afterAll(() => server.remove());
const by = (who: Account, method: string, path: string, body?: unknown) =>
  server.request(method, path, { token: who.token, body });

describe("users", () => {
  test("a created user is answered with its place, found in the list, and can log in in any spelling of its address", async () => {
    const body = { email: "New.User@Example.test", password: PASSWORD, display_name: "New" };
    const made = await by(admin, "POST", "/v1/users", body);
    expect([made.status, made.body["email"], made.body["role"]]).toEqual([201, "new.user@example.test", "user"]);
    expect(made.headers.get("location")).toBe(`/v1/users/${made.body["id"]}`);
    const list = await by(admin, "GET", "/v1/users?limit=200");
    expect((list.body["items"] as { id: string }[]).map((item) => item.id)).toContain(made.body["id"] as string);
    await logIn(server, "NEW.USER@example.TEST");
    expect((await by(admin, "POST", "/v1/users", { ...body, email: "new.user@EXAMPLE.test" })).status).toBe(409);
  });

  test("a second factor is taken off by another administrator, never by its own user without a code", async () => {
    const other = await makeUser(server, admin, "factor@example.test", "admin");
    await enableTwoFactor(server, other);
    const off = async (who: Account) => {
      const { body } = await by(who, "PUT", `/v1/users/${other.id}`, { two_factor_enabled: false });
      return body["two_factor_enabled"];
    };
    expect(await off(other)).toBe(true);
    expect(await off(admin)).toBe(false);
    expect((await logIn(server, other.email)).id).toBe(other.id);
    expect((await by(admin, "DELETE", `/v1/users/${other.id}`)).status).toBe(204);
  });

  test.each([
    [{ email: "x" }, 422],
    [{ email: "a b@example.test" }, 422],
    [{ email: "a@example.test@example.test" }, 422],
    [{ email: "short@example.test", password: "123456789" }, 422],
    [{ email: "same@example.test", password: "same@example.test" }, 422],
    [{ email: "dull@example.test", password: "aaaaaaaaaaaa" }, 422],
    [{ email: "role@example.test", role: "root" }, 422],
    [{}, 422],
  ])("%p is refused without echo", async (body, status) => {
    const answer = await by(admin, "POST", "/v1/users", body);
    expect(answer.status).toBe(status);
    if ("password" in body && body.password !== body.email)
      expect(JSON.stringify(answer.body)).not.toContain(body.password!);
  });

  test("a repeat with the same Idempotency-Key makes one user", async () => {
    const options = { token: admin.token, body: { email: "twice@example.test" }, headers: { "Idempotency-Key": "u1" } };
    const [one, two] = [
      await server.request("POST", "/v1/users", options),
      await server.request("POST", "/v1/users", options),
    ];
    expect([two.status, two.body["id"]]).toEqual([201, one.body["id"]]);
  });

  test("users see and edit themselves; others do not exist for them", async () => {
    expect((await by(user, "GET", `/v1/users/${user.id}`)).status).toBe(200);
    expect((await by(user, "GET", "/v1/users")).status).toBe(403);
    expect((await by(user, "POST", "/v1/users", { email: "x@example.test" })).status).toBe(403);
    for (const method of ["GET", "PUT", "DELETE"]) {
      const theirs = await by(
        user,
        method,
        `/v1/users/${admin.id}`,
        method === "PUT" ? { display_name: "x" } : undefined,
      );
      const nobodys = await by(
        user,
        method,
        "/v1/users/usr_nobody",
        method === "PUT" ? { display_name: "x" } : undefined,
      );
      expect([method, theirs.status, theirs.body["detail"]]).toEqual([method, 404, nobodys.body["detail"]]);
    }
    const renamed = await by(user, "PUT", `/v1/users/${user.id}`, { display_name: "Renamed" });
    expect(renamed.body["display_name"]).toBe("Renamed");
  });

  test("administrators find users by part of name or address, with log-ins, keys and providers of each", async () => {
    const one = await makeUser(server, admin, "Managed.One@example.test");
    await logIn(server, one.email);
    const soon = new Date(Date.now() + HOUR_MS).toISOString();
    await by(one, "POST", "/v1/auth/api-keys", { name: "k", expires_at: soon });
    const found = await by(admin, "GET", "/v1/admin/users?search=aged.ONE&role=user&active=true");
    expect(found.body["items"]).toEqual([
      expect.objectContaining({
        id: one.id,
        email: "managed.one@example.test",
        sessions: 2,
        api_keys: 1,
        providers: [],
      }),
    ]);
    expect((await by(admin, "GET", "/v1/admin/users?search=%25")).body["items"]).toEqual([]);
    await by(one, "PUT", `/v1/users/${one.id}`, { display_name: "Änne" });
    const named = await by(admin, "GET", `/v1/admin/users?search=${encodeURIComponent("ÄNN")}`);
    expect(named.body["items"]).toMatchObject([{ id: one.id }]);
    const first = await by(admin, "GET", "/v1/admin/users?limit=1");
    expect(first.body["next_cursor"]).toBeString();
    expect((await by(one, "GET", "/v1/admin/users")).status).toBe(403);
  });

  test("an administrator sets another's password and second factor; the old password is refused", async () => {
    const one = await makeUser(server, admin, "reset@example.test");
    await by(one, "POST", "/v1/auth/2fa/enable");
    expect((await by(admin, "PUT", `/v1/users/${one.id}`, { password: "set by the admin" })).status).toBe(200);
    await expect(logIn(server, one.email)).rejects.toThrow("401");
    await logIn(server, one.email, "set by the admin");
  });

  test("a new password ends log-ins and the keys of log-ins, and says which keys are still valid; all end on request", async () => {
    const one = await makeUser(server, admin, "keys@example.test");
    const newKey = async (who: Account, body: Record<string, unknown>) => {
      const { status, body: made } = await by(who, "POST", "/v1/auth/api-keys", body);
      expect([status, made["kind"]]).toEqual([201, body["kind"] ?? "key"]);
      return made as { id: string; key: string; name: string };
    };
    const works = async ({ key }: { key: string }) =>
      (await server.request("GET", "/v1/auth/me", { token: key })).status;
    const script = await newKey(one, { name: "nightly" });
    const laptop = await newKey(one, { name: "skep login on laptop", kind: "login" });
    const desktop = await newKey(one, { name: "skep login on desktop", kind: "login" });

    // The owner changes the password with the key of one log-in. That key stays valid, as a session would.
    const change = { password: "a second password", current_password: PASSWORD };
    const own = await server.request("PUT", `/v1/users/${one.id}`, { token: laptop.key, body: change });
    expect([own.status, (own.body["api_keys_left"] as { name: string }[]).map(({ name }) => name).sort()]).toEqual([
      200,
      ["nightly", "skep login on laptop"],
    ]);
    expect([await works(laptop), await works(desktop), await works(script)]).toEqual([200, 401, 200]);
    expect(JSON.stringify(own.body)).not.toContain(script.key);

    // When an administrator changes the password, the keys of all log-ins end.
    const byAdmin = await by(admin, "PUT", `/v1/users/${one.id}`, { password: "a third password" });
    expect(byAdmin.body["api_keys_left"]).toMatchObject([{ id: script.id, name: "nightly" }]);
    expect([await works(laptop), await works(script)]).toEqual([401, 200]);
    const all = { password: "a fourth password", end_api_keys: true };
    expect((await by(admin, "PUT", `/v1/users/${one.id}`, all)).body["api_keys_left"]).toEqual([]);
    expect(await works(script)).toBe(401);
    expect((await by(admin, "PUT", `/v1/users/${one.id}`, { display_name: "Same" })).body).not.toHaveProperty(
      "api_keys_left",
    );
  });

  test("an administrator lists and revokes another's keys; others reach their own alone", async () => {
    const one = await makeUser(server, admin, "held@example.test");
    const key = (await by(one, "POST", "/v1/auth/api-keys", { name: "held" })).body as { id: string; key: string };
    const path = `/v1/users/${one.id}/api-keys`;
    const listed = await by(admin, "GET", path);
    expect(listed.body).toMatchObject({ items: [{ id: key.id, name: "held", kind: "key" }], next_cursor: null });
    expect(JSON.stringify(listed.body)).not.toContain(key.key);
    expect((await by(one, "GET", path)).body).toEqual(listed.body);
    for (const method of ["GET", "DELETE"])
      expect((await by(user, method, method === "GET" ? path : `${path}/${key.id}`)).status).toBe(404);
    expect((await by(admin, "GET", "/v1/users/usr_nobody/api-keys")).status).toBe(404);
    expect((await by(admin, "DELETE", `/v1/users/${user.id}/api-keys/${key.id}`)).status).toBe(404);
    expect((await by(admin, "DELETE", `${path}/${key.id}`)).status).toBe(204);
    expect((await server.request("GET", "/v1/auth/me", { token: key.key })).status).toBe(401);
    const audit = await by(admin, "GET", "/v1/admin/audit?action=api_key.revoked");
    expect(audit.body["items"]).toContainEqual(
      expect.objectContaining({ actor: admin.id, subject: key.id, data: { user_id: one.id } }),
    );
  });

  test("the last active administrator can be neither demoted, switched off nor deleted", async () => {
    const path = `/v1/users/${admin.id}`;
    expect((await by(admin, "PUT", path, { role: "user" })).body["code"]).toBe("last_administrator");
    expect((await by(admin, "PUT", path, { active: false })).status).toBe(409);
    expect((await by(admin, "DELETE", path)).status).toBe(409);
    const second = await makeUser(server, admin, "second@example.test", "admin");
    await by(admin, "PUT", `/v1/users/${second.id}`, { active: false });
    expect((await by(admin, "DELETE", path)).status).toBe(409);
    await by(admin, "PUT", `/v1/users/${second.id}`, { active: true });
    const [one, two] = await Promise.all([
      by(admin, "PUT", path, { role: "user" }),
      by(admin, "PUT", `/v1/users/${second.id}`, { role: "user" }),
    ]);
    expect([one.status, two.status].sort()).not.toEqual([200, 200]);
    admin = await logIn(server, (one.status === 200 ? second : admin).email);
    expect((await by(admin, "GET", "/v1/users?role=admin&active=true")).status).toBe(200);
  });

  test("deleting oneself works for a user, ends its tokens, and says who received its things", async () => {
    const one = await makeUser(server, admin, "leaver@example.test");
    expect((await by(one, "DELETE", `/v1/users/${one.id}`)).status).toBe(204);
    expect((await by(one, "GET", "/v1/auth/me")).status).toBe(401);
    const audit = await by(admin, "GET", "/v1/admin/audit?action=user.deleted");
    const [row] = audit.body["items"] as { subject: string; data: { handed_to: string } }[];
    expect(row?.subject).toBe(one.id);
    expect(row?.data.handed_to).toStartWith("usr_");
  });
});

describe("audit", () => {
  test("it is for administrators, newest first, by action, actor and time, in pages, without values", async () => {
    expect((await by(user, "GET", "/v1/admin/audit")).status).toBe(403);
    const since = new Date().toISOString();
    await server.request("POST", "/v1/auth/login", { body: { email: user.email, password: "wrong password" } });
    await logIn(server, user.email);
    type Page = { items: { action: string; at: string; actor: string }[]; next_cursor: string | null };
    const read = async (query: string) => (await by(admin, "GET", `/v1/admin/audit?${query}`)).body as unknown as Page;
    const group = await read(`action=login&since=${since}`);
    expect(group.items.map((item) => item.action)).toEqual(["login.succeeded", "login.failed"]);
    expect((await read(`action=login.failed&since=${Date.parse(since)}`)).items.length).toBe(1);
    expect((await read(`actor=${user.id}&since=${since}`)).items.length).toBe(1);
    const first = await read("limit=2");
    const next = await read(`limit=2&cursor=${first.next_cursor}`);
    const times = [...first.items, ...next.items].map((item) => item.at);
    expect(times).toEqual([...times].sort().reverse());
    expect(JSON.stringify(await read("limit=200"))).not.toContain("wrong password");
    expect((await by(admin, "GET", "/v1/admin/audit?since=yesterday")).status).toBe(422);
  });
});

describe("waitlist", () => {
  test("joining answers the same whether known or not, is listed once for administrators, and is limited", async () => {
    const join = (email: unknown) => server.request("POST", "/v1/waitlist", { body: { email } });
    const [first, second] = [await join("W@example.test"), await join("w@example.test")];
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.body).toEqual(first.body);
    expect((await join("no address")).status).toBe(422);
    expect((await by(user, "GET", "/v1/waitlist")).status).toBe(403);
    const list = await by(admin, "GET", "/v1/waitlist");
    expect(list.body["items"]).toEqual([{ email: "w@example.test", created_at: expect.any(String) }]);
    const statuses = [];
    for (let one = 0; one < 12; one++) statuses.push((await join(`w${one}@example.test`)).status);
    expect(statuses.slice(0, 7)).toEqual(Array(7).fill(202));
    expect(statuses.slice(7)).toEqual(Array(5).fill(429));
  });
});
