/** `-` means standard input or output in every command; a command that needs a file refuses it and says so. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skep, temporaryFolder } from "../testing/command.ts";
import { skepCommand, startServer, type TestServer } from "../testing/server.ts";

setDefaultTimeout(300_000);

const folder = temporaryFolder();
let server: TestServer;
let env: Record<string, string>;
beforeAll(async () => {
  server = await startServer();
  env = { HOME: folder.path, SKEP_URL: server.url };
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

test("a project is exported to standard output and imported from standard input, byte for byte", async () => {
  expect(await skep(["projects", "add", "hive"], { env })).toMatchObject({ code: 0 });
  const command = skepCommand();
  const exported = Bun.spawnSync([...command, "projects", "export", "hive", "--out", "-"], {
    cwd: folder.path,
    env: { ...process.env, ...env },
  });
  expect([exported.exitCode, exported.stderr.toString(), readdirSync(folder.path)]).toEqual([0, "", []]);
  const imported = Bun.spawnSync([...command, "projects", "import", "-", "--name", "swarm"], {
    cwd: folder.path,
    env: { ...process.env, ...env },
    stdin: exported.stdout,
  });
  expect([imported.stderr.toString(), imported.stdout.toString()]).toEqual(["", expect.stringMatching(/^swarm is /)]);
  const both = await skep(["projects", "export", "hive", "--out", "-", "--json"], { env });
  expect(both).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("leave out --json") });
});

test("cookies come from standard input, which has no name of its own", async () => {
  const stdin = "shop.example.com\tFALSE\t/\tTRUE\t0\tsid\ta-value-of-a-cookie\n";
  expect((await skep(["cookies", "add", "-"], { env, stdin })).stderr).toContain("name the set with --name TEXT");
  const named = await skep(["cookies", "add", "-", "--name", "shop"], { env, stdin });
  expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining("shop: 1 cookie,") });
});

test.each([
  "backup - --data DATA",
  "restore - --data ./restored",
  "check -",
  "documents add -",
  "chat -p Hello --attach -",
  "voice say Hello --agent lead --output -",
  "update --check --from -",
  "eval -",
  "eval shipped -",
  "graph import-scip -",
])("%s is refused, and nothing is written", async (line) => {
  const args = line.replace("DATA", server.data).split(" ");
  const refused = await skep(args, { env, cwd: folder.path });
  expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("A file called - is ./-") });
  expect(readdirSync(folder.path)).toEqual([]);
});

test("a file called - is read as ./-, and a chat is not created for a file that cannot be attached", async () => {
  writeFileSync(join(folder.path, "-"), "# Bees\n");
  const added = await skep(["documents", "add", "./-", "--title", "Bees"], { env, cwd: folder.path });
  expect(added.stderr).not.toContain("needs a file");
  const missing = await skep(["chat", "-p", "Hello", "--attach", "none.txt"], { env, cwd: folder.path });
  expect([missing.code, missing.stderr]).toEqual([1, "skep: There is no file none.txt.\n"]);
  const { body } = await server.request<{ items: unknown[] }>("GET", "/v1/chat/sessions");
  expect(body.items).toEqual([]);
});
