/** A new user's first minute: an empty home, `skep serve` in one terminal, `skep run hello` in another. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { skep, temporaryFolder } from "../command.ts";
import { dockerForTests } from "../docker-image.ts";
import { engineWithoutImage } from "../docker-without-image.ts";
import { skepCommand } from "../server.ts";
import { openTerminal, type TestTerminal } from "../terminal.ts";

setDefaultTimeout(300_000);

const docker = await dockerForTests(process.env);
let folder: ReturnType<typeof temporaryFolder>;
let home: string;
/** The folder where the server is started, and another one. */
let first: string;
let second: string;
beforeEach(() => {
  folder = temporaryFolder();
  [home, first, second] = ["home", "first", "second"].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [home, first, second]) mkdirSync(path);
});
afterEach(() => folder.remove());

const inTerminal = (args: string[], cwd: string, env: Record<string, string>): TestTerminal =>
  openTerminal(skepCommand(...args), { columns: 100, rows: 50, cwd, env: { HOME: home, ...env } });

/** Follows the README: serve in one terminal, a run in another, then the questions that users have. */
async function firstMinute(env: Record<string, string>): Promise<{ server: string; run: string }> {
  const server = inTerminal(["serve", "--port", "0"], first, env);
  try {
    await server.shows(/Listening on/);
    const run = inTerminal(["run", "hello", "Greet me", "--follow"], second, {});
    const code = await run.exited;
    expect({ code, screen: run.text() }).toEqual({ code: 0, screen: expect.stringContaining("3 of 3 steps") });
    const [id] = /run_[0-9a-z]{26}/.exec(run.text()) ?? [];
    expect(readFileSync(join(first, "data/workspaces", id!, "HELLO.md"), "utf8")).toContain("Hello");
    const runSkep = (...args: string[]) => skep(args, { cwd: second, env: { HOME: home } });
    expect((await runSkep("runs")).stdout).toMatch(new RegExp(`^${id} +succeeded `, "m"));
    expect((await runSkep("health")).code).toBe(0);
    expect(readdirSync(second).filter((name) => name !== ".bun")).toEqual([]);
    return { server: server.text(), run: run.text() };
  } finally {
    server.type("\x03");
    expect(await server.exited).toBe(0);
  }
}

describe("the first minute of a new user", () => {
  test("without a container engine ends in a finished run", async () => {
    const { server, run } = await firstMinute({ DOCKER_HOST: "unix:///nonexistent/engine.sock" });
    expect(server).toContain("skep init");
    expect(server).toContain("no container engine answers");
    expect(run).toMatch(/succeeded: run_/);
  });

  test.skipIf(!docker)(
    "with a container engine that lacks our image: it is made, and said, and no registry is asked",
    async () => {
      const engine = await engineWithoutImage(join(folder.path, "engine.sock"));
      try {
        expect(await docker!.images.inspect(engine.image)).toBeUndefined();
        const { server } = await firstMinute({ DOCKER_HOST: engine.address });
        expect(server).toContain("skep/agent:latest was missing and is made now");
        expect(await docker!.images.inspect(engine.image)).toBeDefined();
        expect(engine.requests.filter((line) => /fromImage=/.test(line))).toEqual([]);
        expect(engine.requests.filter((line) => /containers\/create/.test(line)).length).toBeGreaterThanOrEqual(3);
      } finally {
        await engine.stop();
        await docker!.images.remove(engine.image).catch(() => {});
      }
    },
  );

  test("a person who only types skep learns what to do, and nothing is started", async () => {
    const { code, stdout } = await skep([], { cwd: first, env: { HOME: home } });
    expect(code).toBe(0);
    for (const said of ["skep init", "skep demo", "skep serve", "skep doctor"]) expect(stdout).toContain(said);
    expect(readdirSync(first).filter((name) => name !== ".bun")).toEqual([]);
  });
});
