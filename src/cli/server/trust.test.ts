/** A `server.json` in any folder, such as a cloned repository, must not decide where tokens and secrets are sent. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { skep, temporaryFolder } from "../../testing/command.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);

const TOKEN = "skp_canary_of_the_token";
const SECRET = "canary-of-the-secret";

const folder = temporaryFolder();
const repository = join(folder.path, "repository");
const data = join(repository, "data");
const file = join(data, "server.json");
const env = { HOME: join(folder.path, "home"), SKEP_TOKEN: TOKEN };

let requests: string[] = [];
let trap: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  trap = Bun.serve({
    port: 0,
    hostname: "0.0.0.0",
    async fetch(request) {
      requests.push(`${request.method} ${request.url} ${JSON.stringify([...request.headers])} ${await request.text()}`);
      return Response.json({ status: "ok", items: [], next_cursor: null });
    },
  });
});
afterAll(async () => {
  await trap.stop(true);
  folder.remove();
});
beforeEach(() => {
  requests = [];
  rmSync(repository, { recursive: true, force: true });
  mkdirSync(data, { recursive: true, mode: 0o700 });
});

function plant(more: Record<string, unknown> = {}): void {
  const url = `http://127.0.0.1:${trap.port}`;
  writeFileSync(file, JSON.stringify({ url, pid: process.pid, host: hostname(), data, ...more }), { mode: 0o600 });
}

/** Runs commands in a folder that belongs to somebody else. */
async function useTheFolder(): Promise<void> {
  for (const [args, stdin] of [
    [["secrets", "set", "DEPLOY_KEY"], SECRET],
    [["runs"], ""],
    [["health"], ""],
    [["login", "--email", "ann@example.test"], "correct horse battery"],
    [[], ""],
  ] as const)
    await skep(args, { cwd: repository, env, stdin });
  const named = await skep(["secrets", "set", "DEPLOY_KEY", "--data", "data"], { cwd: repository, env, stdin: SECRET });
  expect([named.code, named.stderr]).toEqual([1, expect.stringContaining("No server runs on the data folder")]);
}

describe("the server.json of a cloned repository gets nothing", () => {
  test.each([
    [
      "as git writes it",
      () => {
        plant();
        chmodSync(data, 0o755);
        chmodSync(file, 0o644);
      },
    ],
    ["closed as a server's is, naming a process of the user's", () => plant()],
    ["for another machine, as a container's may be", () => plant({ host: "another-machine" })],
    ["with no process", () => plant({ pid: 0 })],
    ["with a path for a process", () => plant({ pid: `self/../${process.pid}` })],
    [
      "as a link",
      () => {
        plant();
        renameSync(file, join(repository, "elsewhere.json"));
        symlinkSync(join(repository, "elsewhere.json"), file);
      },
    ],
  ])("%s", async (_, prepare) => {
    prepare();
    await useTheFolder();
    expect(requests).toEqual([]);
  });
});

describe("beside a running server", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.remove());

  test("its process, but another folder, is not enough", async () => {
    plant({ pid: server.pid, url: `http://127.0.0.1:${trap.port}` });
    await useTheFolder();
    expect(requests).toEqual([]);
  });

  test("a link to its data folder is not followed, unless somebody names it", async () => {
    rmSync(data, { recursive: true });
    symlinkSync(server.data, data);
    expect((await skep(["health"], { cwd: repository, env })).code).toBe(1);
    expect((await skep(["health", "--data", "data"], { cwd: repository, env })).stdout).toContain(server.url);
  });

  test("an address of another machine in its own file is not used", async () => {
    const path = join(server.data, "server.json");
    const own = await Bun.file(path).text();
    writeFileSync(path, JSON.stringify({ ...JSON.parse(own), url: "http://192.0.2.1:3000" }));
    const { code, stderr } = await skep(["health", "--data", server.data], { cwd: repository, env });
    writeFileSync(path, own);
    expect([code, stderr]).toEqual([1, expect.stringContaining("No server runs on the data folder")]);
    expect((await skep(["health", "--data", server.data], { cwd: repository, env })).code).toBe(0);
  });

  test("somebody who is logged in elsewhere is told which server a command uses", async () => {
    const config = join(folder.path, "config");
    mkdirSync(join(config, "skep"), { recursive: true });
    const kept = { current: "https://skep.example.org", servers: {} };
    writeFileSync(join(config, "skep/credentials.json"), JSON.stringify(kept), { mode: 0o600 });
    const here = { cwd: repository, env: { ...env, SKEP_TOKEN: "", XDG_CONFIG_HOME: config }, stdin: SECRET };
    const set = ["secrets", "set", "DEPLOY_KEY"];
    const unnamed = await skep(set, { ...here, env: { ...here.env, DATA: server.data } });
    expect([unnamed.code, unnamed.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^skep: using http:\S+, the server of \S+\. You are logged in at https:\/\/skep\.example\.org /,
      ),
    ]);
    const named = await skep([...set, "--data", server.data], here);
    expect([named.code, named.stderr]).toEqual([0, ""]);
  });

  test("an answer that sends commands on to another address is not followed", async () => {
    const away = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => Response.redirect(`http://127.0.0.1:${trap.port}/v1/secrets`, 307),
    });
    const said = await skep(["secrets", "set", "A", "--url", `http://127.0.0.1:${away.port}`], { env, stdin: SECRET });
    await away.stop(true);
    expect([said.code, said.stderr]).toEqual([1, expect.stringMatching(/sends you on to http:.* Use that address/)]);
    expect(requests).toEqual([]);
  });
});
