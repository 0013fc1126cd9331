/** Which server a command talks to, from any folder; it never starts one unasked. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SELF_SIGNED } from "../../testing/certificate.ts";
import { skep, temporaryFolder } from "../../testing/command.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);

const folder = temporaryFolder();
const home = join(folder.path, "home");
const elsewhere = join(folder.path, "elsewhere");
const env = { HOME: home, XDG_STATE_HOME: join(home, "state"), XDG_CONFIG_HOME: join(home, "config") };
/** The files that a command left behind. With the sources, the runtime adds a folder of its own. */
const leftIn = (path: string) => readdirSync(path).filter((name) => name !== ".bun");
const listed = join(env.XDG_STATE_HOME, "skep/servers");
const at = (cwd: string, more: Record<string, string> = {}) => ({ cwd, env: { ...env, ...more } });

let server: TestServer;
beforeAll(async () => {
  for (const path of [home, elsewhere]) mkdirSync(path);
  server = await startServer({ env });
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

describe("a command", () => {
  test("finds the running server of its user from any folder, and leaves nothing in it", async () => {
    const health = await skep(["health"], at(elsewhere));
    expect([health.code, health.stdout]).toEqual([0, expect.stringContaining(server.url)]);
    expect((await skep(["runs"], at(elsewhere))).stdout).toContain("No runs yet");
    expect((await skep(["run", "hello", "Greet me"], at(elsewhere))).code).toBe(0);
    expect(leftIn(elsewhere)).toEqual([]);
  });

  test("prefers what it is given: --url, SKEP_URL, --data, DATA", async () => {
    const away = "http://127.0.0.1:9";
    for (const [args, more] of [
      [["health", "--url", away], {}],
      [["health"], { SKEP_URL: away }],
      [["health", "--url", `${away}/`], { SKEP_URL: server.url }],
    ] as const)
      expect((await skep(args, at(elsewhere, more))).stderr).toBe(
        `skep: ${away} does not answer. Is the server running?\n`,
      );
    for (const [args, more] of [
      [["health", "--data", elsewhere], {}],
      [["health"], { DATA: elsewhere }],
    ] as const)
      expect((await skep(args, at(elsewhere, more))).stderr).toContain(
        `No server runs on the data folder ${elsewhere}`,
      );
    expect((await skep(["health", "--url", "skep.example.org"], at(elsewhere))).code).toBe(2);
  });

  test("with several servers, names them all and chooses none", async () => {
    const second = await startServer({ env });
    try {
      const { code, stderr } = await skep(["health"], at(elsewhere));
      expect(code).toBe(1);
      for (const { data } of [server, second]) expect(stderr).toContain(`--data ${data}`);
      expect((await skep(["health", "--data", second.data], at(elsewhere))).stdout).toContain(second.url);
      const backup = await skep(["backup", "several.tar.gz"], at(elsewhere));
      expect([backup.code, backup.stderr]).toEqual([1, stderr]);
      expect(leftIn(elsewhere)).toEqual([]);
    } finally {
      await second.remove();
    }
    expect((await skep(["health"], at(elsewhere))).stdout).toContain(server.url);
  });

  test("forgets a server that was killed, also when another one took its port", async () => {
    const killed = await startServer({ env });
    await killed.stop("SIGKILL");
    expect(readdirSync(listed)).toHaveLength(2);
    expect((await skep(["health"], at(elsewhere))).stdout).toContain(server.url);
    expect(readdirSync(listed)).toHaveLength(1);
    const { port } = new URL(killed.url);
    const heir = await startServer({ env: { XDG_STATE_HOME: "/dev/null", PORT: port } });
    const { code, stderr } = await skep(["health", "--data", killed.data], at(elsewhere));
    await heir.remove();
    await killed.remove();
    expect([code, stderr]).toEqual([1, expect.stringContaining("No server runs on the data folder")]);
  });

  test("leaves entries of other machines that share the home folder alone", async () => {
    // From here, these addresses lead to this machine's server.
    const entry = { url: server.url, pid: process.pid, host: "another-machine", data: "/elsewhere" };
    const path = join(listed, "another.json");
    writeFileSync(path, JSON.stringify(entry), { mode: 0o600 });
    const { code, stdout } = await skep(["health"], at(elsewhere));
    expect([code, stdout, existsSync(path)]).toEqual([0, expect.stringContaining(server.url), true]);
    rmSync(path);
  });

  test("without a server starts none: it says how, and --private runs on one of its own that ends with the run", async () => {
    const alone = { HOME: elsewhere, XDG_STATE_HOME: join(home, "other"), SANDBOX: "process" };
    const none = await skep(["run", "hello", "Greet me"], { cwd: elsewhere, env: alone });
    expect([none.code, none.stdout]).toEqual([1, ""]);
    for (const said of ["skep serve", "--private"]) expect(none.stderr).toContain(said);
    expect(existsSync(join(elsewhere, "data"))).toBe(false);
    const bare = await skep([], { cwd: elsewhere, env: alone });
    expect([bare.code, bare.stdout]).toEqual([0, expect.stringContaining("skep serve")]);
    expect(leftIn(elsewhere)).toEqual([]);
    const data = join(folder.path, "private");
    const own = await skep(["run", "hello", "Greet me", "--private", "--data", data], { cwd: elsewhere, env: alone });
    expect([own.code, own.stdout]).toEqual([0, expect.stringMatching(/^succeeded: run_/m)]);
    expect(existsSync(join(data, "server.json"))).toBe(false);
  });

  test("a TLS failure is reported as one, and so is a server that is not Skep", async () => {
    const stranger = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("<html>hello") });
    const secure = Bun.serve({ port: 0, hostname: "127.0.0.1", tls: SELF_SIGNED, fetch: () => new Response("{}") });
    const readError = async (url: string) => (await skep(["runs", "--url", url], at(elsewhere))).stderr;
    try {
      expect(await readError(`http://127.0.0.1:${stranger.port}`)).toMatch(/^skep: What answers at .* is not Skep/);
      expect(await readError(`https://127.0.0.1:${stranger.port}`)).toMatch(/^skep: .* does not speak TLS/);
      expect(await readError(`https://127.0.0.1:${secure.port}`)).toMatch(/^skep: TLS: the certificate of /);
      expect(await readError("http://nowhere.invalid")).toMatch(/^skep: The host name in/);
    } finally {
      await stranger.stop(true);
      await secure.stop(true);
    }
  });
});

describe("a log-in", () => {
  test("is remembered: commands go to its server from then on, until the log-out", async () => {
    const guarded = await startServer({ env: { AUTH_ENABLED: "true", XDG_STATE_HOME: "/dev/null" } });
    try {
      const data = ["--data", guarded.data];
      const made = ["admin", "create", "--email", "ann@example.test", ...data];
      expect((await skep(made, { ...at(elsewhere), stdin: "correct horse battery" })).code).toBe(0);
      const login = ["login", "--url", guarded.url, "--email", "ann@example.test"];
      expect((await skep(login, { ...at(elsewhere), stdin: "correct horse battery" })).code).toBe(0);
      expect((await skep(["whoami"], at(elsewhere))).stdout).toContain(`at ${guarded.url}`);
      expect((await skep(["logout"], at(elsewhere))).code).toBe(0);
      expect((await skep(["whoami"], at(elsewhere))).stdout).toContain(`at ${server.url}`);
    } finally {
      await guarded.remove();
    }
  });
});

describe("a data folder", () => {
  test("of another user is never used", async () => {
    const theirs = join(folder.path, "theirs");
    mkdirSync(join(theirs, "2024"), { recursive: true });
    writeFileSync(join(theirs, "customers.csv"), "a,b");
    const { code, stderr } = await skep(["serve", "--data", theirs, "--port", "0"], at(elsewhere));
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/is not a data folder of Skep: .* Name another with --data/),
    ]);
    expect(readdirSync(theirs).sort()).toEqual(["2024", "customers.csv"]);
  });

  test("that cannot be made is one line, without a stack", async () => {
    const { code, stderr } = await skep(["run", "hello", "x", "--private", "--data", "/dev/null/skep"], at(elsewhere));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^skep: Cannot write the data folder .*\n$/);
  });
});
