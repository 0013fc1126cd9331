/** Readers that disappear and connections that break: no command ever prints a stack trace. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { skep, temporaryFolder } from "../testing/command.ts";
import { skepCommand, startServer, type TestServer } from "../testing/server.ts";

setDefaultTimeout(600_000);

const folder = temporaryFolder();
let server: TestServer;
let run: string;
let env: Record<string, string>;
beforeAll(async () => {
  server = await startServer();
  env = { PATH: process.env["PATH"] ?? "", HOME: folder.path, SKEP_URL: server.url };
  const made = await skep(["run", "hello", "Greet me", "--follow", "--json"], { env });
  run = /run_\w+/.exec(made.stdout)?.[0] ?? "";
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

/** Every command that prints something without further input. */
const COMMANDS = (): string[][] => [
  [],
  ["help"],
  ["--version"],
  ...["runs", "agents", "skills", "pipelines", "projects", "providers", "secrets", "users", "jobs", "memory"].map(
    (name) => [name],
  ),
  ...["tasks", "documents", "routines", "swarms", "keys", "notifications", "settings", "usage", "doctor"].map(
    (name) => [name],
  ),
  ["runs", "--json"],
  ["runs", run],
  ["follow", run],
  ["diff", run],
  ["logs", run],
  ["run", "hello", "Greet me", "--follow"],
  ["chat", "lead", "-p", "Say hello."],
  ["health"],
  ["whoami"],
  ["doctor", "--limits"],
  ["check", join(import.meta.dir, "../../agents")],
  ["completion", "bash"],
  ["events"],
];

/** Runs a command whose standard output is a pipe without a reader. @returns what it wrote to standard error. */
async function withoutReader(args: readonly string[]): Promise<string> {
  const quoted = [...skepCommand(...args)].map((word) => `'${word}'`).join(" ");
  // The reader has gone before the command begins.
  const child = Bun.spawn(["sh", "-c", `{ sleep 0.2; ${quoted}; } | true`], { env, stderr: "pipe", stdin: "ignore" });
  return new Response(child.stderr).text();
}

describe("standard output that nobody reads", () => {
  test("ends every command quietly, also one that follows something without an end", async () => {
    const ticking = setInterval(
      () => void server.request("POST", "/v1/runs", { body: { pipeline_id: "hello", task_description: "x" } }),
      2_000,
    );
    try {
      for (const args of COMMANDS()) {
        const said = await withoutReader(args);
        expect([args, said]).toEqual([args, expect.not.stringMatching(/EPIPE|^\s+at /m)]);
      }
    } finally {
      clearInterval(ticking);
    }
  });

  test("that finds no room fails the command, and says so", async () => {
    for (const args of [["runs"], ["runs", "--json"], ["help"], ["run", "hello", "Greet me", "--follow"]]) {
      const full = Bun.file("/dev/full");
      const child = Bun.spawn(skepCommand(...args), { env, stdout: full, stderr: "pipe", stdin: "ignore" });
      const said = await new Response(child.stderr).text();
      expect([args, await child.exited, said]).toEqual([
        args,
        1,
        expect.stringMatching(/^skep: The output .*ENOSPC.*\n$/),
      ]);
    }
  });

  test("ends the server that a command started for itself, with all that it holds", async () => {
    const home = join(folder.path, "home");
    mkdirSync(home);
    const init = skepCommand("init", "--provider", "demo", "--no-project", "--keep").map((word) => `'${word}'`);
    const child = Bun.spawn(["sh", "-c", `${init.join(" ")} | head -n 1`], {
      env: { PATH: env["PATH"] ?? "", HOME: home, SANDBOX: "process", PORT: "0" },
      cwd: folder.path,
      stdout: "pipe",
      stderr: "pipe",
      stdin: "ignore",
    });
    const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    await child.exited;
    expect(said).toEqual([expect.stringMatching(/^Skep [^\n]*\n$/), ""]);
    const data = join(home, ".local/share/skep");
    expect([existsSync(join(data, "skep.db")), existsSync(join(data, "server.json"))]).toEqual([true, false]);
  });

  test("does not end a server", async () => {
    const data = join(folder.path, "data");
    const command = skepCommand("serve", "--data", data, "--port", "0").map((word) => `'${word}'`);
    const child = Bun.spawn(["sh", "-c", `{ sleep 0.2; exec ${command.join(" ")}; } | true`], {
      env: { ...env, SANDBOX: "process", XDG_STATE_HOME: join(folder.path, "state") },
      stderr: "pipe",
      stdin: "ignore",
    });
    let health = { code: 1 };
    while (health.code !== 0) health = await skep(["health", "--data", data], { env: { HOME: folder.path } });
    const { pid } = await Bun.file(join(data, "server.json")).json();
    process.kill(pid, "SIGTERM");
    expect(await new Response(child.stderr).text()).not.toMatch(/EPIPE|^\s+at /m);
    await child.exited;
  });
});

describe("a connection that breaks", () => {
  test.each([
    ["at once", ""],
    ["in the middle of an answer", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"],
  ])("%s is one line with what to do", async (_, begin) => {
    const breaking = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.write(begin, () => socket.resetAndDestroy()));
    });
    await new Promise<void>((done) => void breaking.listen(0, "127.0.0.1", done));
    const address = breaking.address();
    const port = typeof address === "object" && address ? address.port : 0;
    for (const args of [["runs"], ["runs", run], ["health"], ["settings"], []]) {
      const { code, stderr } = await skep(args, { env: { ...env, SKEP_URL: `http://127.0.0.1:${port}` } });
      expect([args, code, stderr]).toEqual([args, 1, expect.stringMatching(/^skep: [^\n]+\n$/)]);
      expect(stderr).not.toContain("unexpected");
    }
    breaking.close();
  });
});
