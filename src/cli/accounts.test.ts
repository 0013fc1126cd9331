import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { enableTwoFactor, logIn, PASSWORD, steadyStep, totp } from "../testing/accounts.ts";
import { skepCommand, startServer, type TestServer } from "../testing/server.ts";

let home: string;
let server: TestServer;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "skep-cli-"));
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
});
afterAll(async () => {
  await server.remove();
  rmSync(home, { recursive: true });
});

/** Runs a command with these lines as standard input. */
async function skep(args: string[], input: string[] = [], more: Record<string, string> = {}) {
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, XDG_CONFIG_HOME: home, LOG_LEVEL: "silent", ...more };
  const child = Bun.spawn(skepCommand(...args), {
    env,
    stdin: new Blob([input.join("\n")]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out: out.trim(), err: err.trim(), code };
}
const here = () => ["--data", server.data];
const there = () => ["--url", server.url];

describe("lost access, beside a running server", () => {
  test("an administrator is made from the machine, and set-up over the network is closed at once", async () => {
    expect(server.output()).toContain(`No administrator yet. Make one: skep admin create --data ${server.data}`);
    const made = await skep(["admin", "create", ...here(), "--email", "Boss@example.test"], [PASSWORD]);
    expect(made).toEqual({ out: expect.stringContaining("is an administrator"), err: "", code: 0 });
    expect((await logIn(server, "boss@example.test")).id).toStartWith("usr_");
    const body = { email: "b@example.test", password: PASSWORD };
    expect((await server.request("POST", "/v1/auth/setup", { body })).status).toBe(409);
    const again = await skep(["admin", "create", ...here(), "--email", "boss@example.test"], [PASSWORD]);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining("reset-password")]);
    const short = await skep(["admin", "create", ...here(), "--email", "s@example.test"], ["short"]);
    expect([short.code, short.err]).toEqual([2, expect.stringContaining("10 characters")]);
  });

  test("a reset password ends sessions and the lock; a lost second factor is switched off", async () => {
    const before = await logIn(server, "boss@example.test");
    await enableTwoFactor(server, before);
    expect((await skep(["admin", "reset-password", "boss@example.test", ...here()], ["another battery"])).code).toBe(0);
    expect((await server.request("GET", "/v1/auth/me", { token: before.token })).status).toBe(401);
    expect((await skep(["admin", "disable-2fa", "boss@example.test", ...here()])).code).toBe(0);
    await logIn(server, "boss@example.test", "another battery");
    const unknown = await skep(["admin", "disable-2fa", "nobody@example.test", ...here()]);
    expect([unknown.code, unknown.err.split("\n").length]).toEqual([1, 1]);
  });

  test("a reset password ends the key of skep login, and says which keys stay valid", async () => {
    await skep(["login", ...there(), "--email", "boss@example.test"], ["another battery"]);
    expect((await skep(["whoami", ...there()])).code).toBe(0);
    const script = (await skep(["keys", "create", "nightly", ...there()])).out;
    const again = ["admin", "reset-password", "boss@example.test", ...here()];
    const reset = await skep(again, ["a third battery"]);
    expect([reset.code, reset.out]).toEqual([
      0,
      expect.stringMatching(/log-ins have ended; these API keys stay valid: nightly \(/),
    ]);
    expect((await skep(["whoami", ...there()])).code).toBe(1);
    expect((await server.request("GET", "/v1/auth/me", { token: script })).status).toBe(200);
    const all = await skep([...again, "--all-keys"], ["another battery"]);
    expect(all.out).toContain("no API key is left");
    expect((await server.request("GET", "/v1/auth/me", { token: script })).status).toBe(401);
    await skep(["logout", ...there()]);
  });

  test("a token goes to standard output alone, and is held to its scope", async () => {
    const { out, err, code } = await skep(["admin", "token", ...here(), "--days", "1", "--scope", "read"]);
    expect([code, out, err]).toEqual([0, expect.stringMatching(/^skep_[\w-]{43}$/), expect.stringContaining("boss@")]);
    expect((await server.request("GET", "/v1/auth/me", { token: out })).status).toBe(200);
    expect((await server.request("POST", "/v1/events/ticket", { token: out })).status).toBe(200);
    expect((await server.request("GET", "/v1/users", { token: out })).status).toBe(403);
    expect((await skep(["admin", "token", ...here(), "--scope", "root"])).code).toBe(2);
    expect((await skep(["admin", "token", ...here(), "--days", "x"])).code).toBe(2);
    const json = await skep(["admin", "token", ...here(), "--json"]);
    expect([json.err, JSON.parse(json.out)]).toEqual([
      "",
      {
        key: expect.stringMatching(/^skep_/),
        user: expect.objectContaining({ role: "admin" }),
        expires_at: expect.any(String),
      },
    ]);
    const nobody = await skep(["admin", "token", ...here(), "--email", "nobody@example.test"]);
    expect([nobody.code, nobody.out, nobody.err]).toEqual([1, "", expect.stringMatching(/^skep: There is no .*$/)]);
  });

  test("it works on a folder that no server has used yet", async () => {
    const data = join(home, "fresh");
    expect((await skep(["admin", "token", "--data", data])).err).toContain("skep admin create");
    expect((await skep(["admin", "create", "--data", data, "--email", "a@example.test"], [PASSWORD])).code).toBe(0);
    const { out } = await skep(["admin", "token", "--data", data]);
    const fresh = await startServer({ env: { AUTH_ENABLED: "true" }, data });
    expect((await fresh.request("GET", "/v1/users", { token: out })).status).toBe(200);
    expect(existsSync(join(data, "setup-token"))).toBe(false);
    await fresh.stop();
  });
});

describe("at a terminal", () => {
  /** Runs a command at its own terminal and types each answer when the command asks for it. */
  async function typeAnswers(args: string[], answers: string[]) {
    let screen = "";
    const child = Bun.spawn(skepCommand(...args), {
      env: { PATH: process.env["PATH"] ?? "", HOME: home, XDG_CONFIG_HOME: home, LOG_LEVEL: "silent" },
      terminal: {
        data(terminal, chunk) {
          screen += new TextDecoder().decode(chunk);
          if (/: $/.test(screen) && answers.length > 0) terminal.write(answers.shift()!);
        },
      },
    });
    const code = await child.exited;
    child.terminal?.close();
    return { screen, code };
  }

  test("a password is asked for twice and never shown", async () => {
    const typo = await typeAnswers(
      ["admin", "reset-password", "boss@example.test", ...here()],
      [`${PASSWORD}\r`, "another one\r"],
    );
    expect([typo.code, typo.screen]).toEqual([2, expect.stringContaining("not the same")]);
    const set = await typeAnswers(
      ["admin", "reset-password", "boss@example.test", ...here()],
      ["another battery\r", "another battery\r"],
    );
    expect([set.code, set.screen]).toEqual([0, expect.stringContaining("new password")]);
    expect(typo.screen + set.screen).not.toMatch(/horse|battery/);
  });

  test("Ctrl+C and Ctrl+D stop it, in one line; Ctrl+C exits as interrupted programs do", async () => {
    const keys = [
      ["\x03", 130],
      ["\x04", 1],
    ] as const;
    for (const [key, exit] of keys) {
      const { screen, code } = await typeAnswers(["admin", "reset-password", "boss@example.test", ...here()], [key]);
      expect([code, screen]).toEqual([exit, expect.stringContaining("skep: Stopped; nothing was changed.")]);
      expect(screen).not.toContain("at ");
    }
  });
});

describe("login, whoami, users", () => {
  const path = () => join(home, "skep/credentials.json");

  test("who is not logged in is told to, by skep alone", async () => {
    const login = /^ {2}skep login +log in; this server asks who you are$/m;
    expect((await skep([], [], { SKEP_URL: server.url })).out).toMatch(login);
    const account = await logIn(server, "boss@example.test", "another battery");
    const known = await skep([], [], { SKEP_URL: server.url, SKEP_TOKEN: account.token });
    expect([known.code, known.out]).toEqual([0, expect.not.stringMatching(login)]);
  });

  test("a log-in with a second factor is kept as a key, 0600, and used by the commands after it", async () => {
    const account = await logIn(server, "boss@example.test", "another battery");
    const { secret } = await enableTwoFactor(server, account);
    await steadyStep();
    const login = await skep(["login", ...there()], ["boss@example.test", "another battery", totp(secret, 1)]);
    expect([login.code, login.out]).toEqual([0, `Logged in to ${server.url} as boss@example.test (admin).`]);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(readFileSync(path(), "utf8")).not.toContain("another battery");
    const me = await skep(["whoami", ...there()]);
    expect(me.out).toBe(`boss <boss@example.test>, admin, at ${server.url}`);
    const json = JSON.parse((await skep(["whoami", "--json", ...there()])).out);
    expect(json).toMatchObject({ url: server.url, email: "boss@example.test", session: { kind: "user" } });
  });

  test("users are made, changed, listed and deleted", async () => {
    const made = await skep(
      ["users", "create", "ann@example.test", "--password", "--name", "Ann", ...there()],
      [PASSWORD],
    );
    expect([made.code, made.out]).toEqual([0, expect.stringContaining("ann@example.test")]);
    await logIn(server, "ann@example.test");
    const raised = await skep(["users", "update", "ann@example.test", "--role", "admin", "--json", ...there()]);
    expect(JSON.parse(raised.out)).toMatchObject({ email: "ann@example.test", role: "admin" });
    expect((await skep(["users", ...there()])).out.split("\n").length).toBe(3);
    expect((await skep(["users", "delete", "ann@example.test", ...there()])).code).toBe(0);
    const gone = await skep(["users", "delete", "ann@example.test", ...there()]);
    expect([gone.code, gone.err]).toEqual([1, expect.stringContaining("skep users")]);
    expect((await skep(["users", "update", "x", "--role", "root", ...there()])).code).toBe(2);
  });

  test("log-out revokes the key and forgets it", async () => {
    const { servers } = JSON.parse(readFileSync(path(), "utf8")) as {
      servers: Record<string, { access_token: string }>;
    };
    const token = servers[server.url]!.access_token;
    expect((await skep(["logout", ...there()])).code).toBe(0);
    expect((await server.request("GET", "/v1/auth/me", { token })).status).toBe(401);
    const twice = await skep(["logout", "--json", ...there()]);
    expect([twice.code, JSON.parse(twice.out)]).toEqual([0, { url: server.url, logged_out: false }]);
    const me = await skep(["whoami", ...there()]);
    expect([me.code, me.err]).toEqual([1, expect.stringContaining("skep login")]);
    const wrong = await skep(["login", ...there()], ["boss@example.test", "wrong password"]);
    // A person who is logging in needs no advice to log in.
    expect([wrong.code, wrong.err]).toEqual([1, "skep: E-mail or password is wrong."]);
  });

  test("a server that asks for no credentials says so before a password is typed, as one that does not answer", async () => {
    const open = await startServer({ env: { AUTH_ENABLED: "false" } });
    try {
      const login = await skep(["login", "--url", open.url]);
      expect(login).toEqual({ out: expect.stringContaining("asks for no credentials"), err: "", code: 0 });
    } finally {
      await open.remove();
    }
    const gone = await skep(["login", "--url", "http://127.0.0.1:1"]);
    expect([gone.code, gone.err]).toEqual([1, expect.stringContaining("does not answer")]);
  });

  test("a key that was revoked elsewhere is forgotten all the same; a key can be brought along", async () => {
    const { out: key } = await skep(["admin", "token", ...here(), "--days", "1"]);
    const login = await skep(["login", "--token", "--json", ...there()], [key]);
    expect([login.code, JSON.parse(login.out)]).toEqual([0, expect.objectContaining({ email: "boss@example.test" })]);
    expect((await skep(["users", "--json"], [], { SKEP_URL: server.url })).out).toStartWith('{"items":[{"id":"usr_');
    const me = await server.request("GET", "/v1/auth/api-keys", { token: key });
    for (const { id } of me.body["items"] as { id: string }[])
      await server.request("DELETE", `/v1/auth/api-keys/${id}`, { token: key });
    expect((await skep(["logout", ...there()])).code).toBe(0);
    expect(JSON.parse(readFileSync(path(), "utf8"))).toEqual({ servers: {} });
  });

  test("what cannot be reached, or is no server, is said in one line", async () => {
    for (const args of [["whoami"], ["users"], ["logout"], ["login"]]) {
      const { code, err } = await skep([...args, "--url", "http://127.0.0.1:1"], ["a@example.test", PASSWORD]);
      if (args[0] !== "logout")
        expect([args, code, err.split("\n")]).toEqual([args, 1, [expect.stringContaining("does not answer")]]);
    }
    const none = await skep(["users", "--data", join(home, "nowhere")]);
    expect([none.code, none.err.split("\n").length, none.err]).toEqual([1, 1, expect.stringContaining("skep serve")]);
  });
});
