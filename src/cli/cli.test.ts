/** The command line as a person meets it: one line for what is wrong, exit codes that scripts can trust, JSON that parses. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { LIMITS } from "../core/limits.ts";
import { skep, temporaryFolder } from "../testing/command.ts";
import { skepCommand, startServer, type TestServer } from "../testing/server.ts";
import { openTerminal } from "../testing/terminal.ts";
import { createProgram } from "./commands.ts";

const lines = (text: string) => text.split("\n").filter(Boolean);

describe("wrong use", () => {
  const wrong: [title: string, args: string[], env: Record<string, string>, says: RegExp][] = [
    ["a command that does not exist", ["frobnicate"], {}, /no command 'frobnicate'. See: skep help/],
    ["a flag that does not exist", ["serve", "--nope"], {}, /unknown option '--nope'\. See: skep serve --help/],
    ["a missing argument", ["run"], {}, /missing required argument 'pipeline'\. See: skep run --help/],
    [
      "a missing argument after others",
      ["graph", "context", "main"],
      {},
      /missing required argument 'symbol': it comes after 'path' \(repository or folder\)\. See: skep graph context --help/,
    ],
    [
      "a verb without its name",
      ["routines", "add", "scribe"],
      {},
      /argument 'name': it comes after 'agent' .*\. See: skep routines add --help/,
    ],
    ["a verb that is written wrong", ["graph", "indx"], {}, /'indx'\. Did you mean index\? See: skep graph --help/],
    ["an unknown shell", ["completion", "tcsh"], {}, /bash, zsh, fish/],
    ["a bad flag value", ["serve", "--port", "x"], {}, /--port accepts a whole number from 0 to 65535/],
    ["a bad environment value", ["serve"], { SANDBOX: "jail" }, /SANDBOX accepts auto, docker, kubernetes or process/],
    [
      "a short token where others can reach the server",
      ["config", "--host", "0.0.0.0"],
      { ENGINE_INTERNAL_TOKEN: "short-canary" },
      /ENGINE_INTERNAL_TOKEN accepts at least 16 characters where others/,
    ],
  ];
  for (const [title, args, env, says] of wrong)
    test(`${title} is one line that says what is accepted, and exit code 2`, async () => {
      const { code, stdout, stderr } = await skep(args, { env });
      expect(code).toBe(2);
      expect(stdout).toBe("");
      expect(lines(stderr)).toHaveLength(1);
      expect(stderr).toMatch(/^skep: /);
      expect(stderr).toMatch(says);
      expect(stderr).not.toContain("short-canary");
    });

  test("an expected failure is one line and exit code 1", async () => {
    const folder = temporaryFolder();
    const { code, stderr } = await skep(["health", "--data", folder.path]);
    folder.remove();
    expect(code).toBe(1);
    expect(lines(stderr)).toEqual([
      `skep: No server runs on the data folder ${folder.path}. Start it with: skep serve --data ${folder.path}`,
    ]);
  });
});

describe("configuration", () => {
  test("shows what is in force and where from; secrets are said to be set, never shown", async () => {
    const canary = "canary-0123456789abcdef";
    const env = { ENGINE_INTERNAL_TOKEN: canary, SECRET_ENCRYPTION_KEY: canary, PORT: "8123" };
    const asText = await skep(["config", "--host", "127.0.0.2"], { env });
    const asJson = await skep(["config", "--host", "127.0.0.2", "--json"], { env });
    expect(asText.stdout + asText.stderr + asJson.stdout).not.toContain(canary);
    const rows = JSON.parse(asJson.stdout) as { option: string; value: string; source: string }[];
    const row = (option: string) => rows.find((one) => one.option === option);
    expect(row("ENGINE_INTERNAL_TOKEN")).toMatchObject({ value: "(set)", source: "environment" });
    expect(row("PORT")).toMatchObject({ value: "8123", source: "environment" });
    expect(row("HOST")).toMatchObject({ value: "127.0.0.2", source: "flag" });
    expect(row("SANDBOX")).toMatchObject({ value: "auto", source: "default" });
    expect(lines(asText.stdout)).toHaveLength(rows.length + 1);
  });

  test("a secret has no flag, since others can read a process's arguments", async () => {
    expect((await skep(["serve", "--engine-internal-token", "x".repeat(20)])).code).toBe(2);
  });
});

describe("a server that runs", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.remove());

  test("says where it is in its data folder, for the owner alone, and other commands find it there", async () => {
    const path = join(server.data, "server.json");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ url: server.url });
    const health = await skep(["health", "--data", server.data, "--json"]);
    expect(health.code).toBe(0);
    expect(JSON.parse(health.stdout)).toMatchObject({ status: "ok" });
  });

  test("doctor sees it running", async () => {
    const doctor = JSON.parse((await skep(["doctor", "--data", server.data, "--json"])).stdout);
    expect(doctor.findings).toContainEqual(
      expect.objectContaining({ check: "server", verdict: "ok", detail: expect.stringContaining(server.url) }),
    );
    expect(doctor.findings).toContainEqual(expect.objectContaining({ check: "migrations", verdict: "ok" }));
  });

  test("an unknown run, and a server that does not answer, are one line each", async () => {
    const unknown = await skep(["runs", "run_01h455vb4pex5vsknk084sn02q", "--data", server.data]);
    expect(unknown.code).toBe(1);
    expect(lines(unknown.stderr)).toHaveLength(1);
    const away = await skep(["runs", "--url", "http://127.0.0.1:9"]);
    expect(away.code).toBe(1);
    expect(lines(away.stderr)).toEqual(["skep: http://127.0.0.1:9 does not answer. Is the server running?"]);
  });

  test("removes its address when it stops", async () => {
    const own = await startServer();
    expect(await own.stop()).toBe(0);
    expect(await Bun.file(join(own.data, "server.json")).exists()).toBe(false);
    await own.remove();
  });

  test("an address left behind by a kill misleads nobody", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder.path, "server.json"), JSON.stringify({ url: "http://127.0.0.1:9", pid: 1 }));
    const { code, stderr } = await skep(["health", "--data", folder.path]);
    folder.remove();
    expect(code).toBe(1);
    expect(stderr).toContain("No server runs on the data folder");
  });
});

describe("the log of a server", () => {
  const serve = ["serve", "--port", "0", "--sandbox", "process"];

  test("is for people on a terminal, and JSON when asked for", async () => {
    for (const [format, line] of [
      ["auto", /^\d\d:\d\d:\d\d info {2}shipped agents, .* files=\d+$/m],
      ["json", /^\{"level":30,.*"msg":"shipped agents/m],
    ] as const) {
      const folder = temporaryFolder();
      const command = skepCommand(...serve, "--data", join(folder.path, "data"), "--log-format", format);
      const env = { HOME: folder.path, XDG_STATE_HOME: "/dev/null" };
      const terminal = openTerminal(command, { columns: 200, env });
      await terminal.shows(/Listening on/);
      terminal.kill("SIGTERM");
      expect(await terminal.exited).toBe(0);
      expect(terminal.text()).toMatch(line);
      folder.remove();
    }
  });

  test("is JSON where there is no terminal, and text when asked for", async () => {
    for (const [format, first] of [
      ["auto", /^\{"level":30,/],
      ["text", /^\d\d:\d\d:\d\d info {2}shipped/],
    ] as const) {
      const own = await startServer({ env: { LOG_LEVEL: "info", LOG_FORMAT: format } });
      await own.stop();
      const log = own
        .output()
        .split("\n")
        .find((line) => line.includes("shipped agents"));
      expect(log).toMatch(first);
      await own.remove();
    }
  });
});

describe("a place that cannot be written", () => {
  test("is one line with the place, never a stack", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder.path, "a.ts"), "export const a = 1;");
    const env = { HOME: "/dev/null/home" };
    for (const [args, says] of [
      [["graph", "index", folder.path], /^skep: Cannot \w+ [^\n]*\/dev\/null\/home\/.* Is HOME right/],
      [["demo", "--folder", "/dev/null/demo"], /^skep: Cannot make the folder \/dev\/null\/demo/],
      [["admin", "token", "--data", join(folder.path, "none")], /^skep: .*\/none is not a data folder of a server/],
    ] as const) {
      const { code, stderr } = await skep(args, { env });
      expect([args[0], code, lines(stderr).length]).toEqual([args[0], 1, 1]);
      expect(stderr).toMatch(says);
    }
    folder.remove();
  });
});

describe("words and JSON", () => {
  test("serve --help shows defaults, choices and the variable of each flag", async () => {
    const help = (await skep(["serve", "--help"])).stdout.replace(/\s+/g, " ");
    expect(help).toContain(
      "--port <value> Port to listen on; 0 takes a free one. (a whole number from 0 to 65535; default: 8000; $PORT)",
    );
    expect(help).toContain(
      '--sandbox <value> Where agents work. (default: auto; $SANDBOX) (choices: "auto", "docker", "kubernetes", "process")',
    );
  });

  test("version says what the build is, in both", async () => {
    const asJson = JSON.parse((await skep(["version", "--json"])).stdout);
    expect(Object.keys(asJson)).toEqual(["version", "commit", "built_at", "runtime", "platform"]);
    expect((await skep(["version"])).stdout).toContain(`${asJson.version} (${asJson.commit}`);
  });

  test("every command that shows something has --json", () => {
    // These run on, print a script or a file in another format, or ask a person something.
    const silent = new Set([
      "serve",
      "mcp",
      "graph-worker",
      "export",
      "completion",
      "complete",
      "login",
      "logout",
      "token",
      "create",
      "reset-password",
      "disable-2fa",
      "dashboard",
      "alerts",
    ]);
    const leaves = (command: Command): Command[] =>
      command.commands.length > 0 ? command.commands.flatMap(leaves) : [command];
    const without = leaves(createProgram(() => {}))
      .filter((one) => !silent.has(one.name()) && !one.options.some(({ long }) => long === "--json"))
      .map((one) => one.name());
    expect(without).toEqual([]);
  });

  test("doctor names every limit with a value a person can read", async () => {
    const folder = temporaryFolder();
    const { stdout } = await skep(["doctor", "--limits", "--data", join(folder.path, "new")]);
    const report = JSON.parse((await skep(["doctor", "--json", "--data", join(folder.path, "new")])).stdout);
    folder.remove();
    for (const [name, value] of Object.entries(LIMITS)) {
      expect(stdout).toMatch(new RegExp(`^ +${name} +\\S`, "m"));
      expect(report.limits).toContainEqual(expect.objectContaining({ name, value }));
    }
    expect(stdout).toMatch(/bodyBytes +1 MiB/);
    expect(stdout).toMatch(/drainMs +10 s/);
  });
});
