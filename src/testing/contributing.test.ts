/**
 * Applies the worked examples for contributors to a copy of the sources: they compile, and the server does what they
 * say.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeUser, setupAdmin } from "./accounts.ts";
import { framesOf, framesUntil } from "./event-reader.ts";
import { performExample, readExample } from "./examples.ts";
import { startServer, type TestServer } from "./server.ts";

setDefaultTimeout(300_000);

const ROOT = resolve(import.meta.dir, "../..");
let copy = "";
const servers: TestServer[] = [];
beforeAll(async () => {
  copy = copySources();
  performOn(copy, "CONTRIBUTING.md", "A column.", 7);
  performOn(copy, "src/feature/README.md", "A feature.", 12);
  await act("scripts/dashboard/build.ts", "--types");
  // Both at once, because compiling is most of the work. The dashboard's page and the command compile only with the
  // API's types.
  await Promise.all([compile(), compile("-p", "src/web")]);
}, 1_200_000);
afterAll(async () => {
  for (const server of servers) await server.remove();
  if (copy) rmSync(copy, { recursive: true, force: true });
});

function copySources(): string {
  const folder = mkdtempSync(join(tmpdir(), "skep-contributing-"));
  for (const part of ["src", "scripts", "agents", "docs", "package.json", "tsconfig.json", "build.ts"])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

function performOn(folder: string, page: string, title: string, files: number): void {
  const example = readExample(readFileSync(join(ROOT, page), "utf8"), title);
  expect(example).toHaveLength(files);
  performExample(folder, example);
}

const compile = (...args: string[]) => act("node_modules/.bin/tsc", "--checkers", "1", ...args);

async function serve(env: Record<string, string> = {}): Promise<TestServer> {
  const server = await startServer({ env, command: [process.execPath, join(copy, "src/main.ts")] });
  servers.push(server);
  return server;
}

/** Runs a command. @throws Error with its output if it fails. */
async function act(...command: string[]): Promise<string> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: copy, XDG_STATE_HOME: "/dev/null" };
  const child = Bun.spawn([process.execPath, ...command], { cwd: copy, env, stdout: "pipe", stderr: "pipe" });
  const [said, complaint, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command.join(" ")}: ${said}${complaint}`);
  return said;
}

test("a column of runs takes seven files: it is given by the command line, stored, listed, shown and typed", async () => {
  const server = await serve();
  const flags = ["--label", "blue", "--json", "--url", server.url];
  const started = JSON.parse(await act("src/main.ts", "run", "hello", "Greet", ...flags));
  expect(started.label).toBe("blue");
  expect((await server.request("GET", `/v1/runs/${started.id}`)).body["label"]).toBe("blue");
  const { body } = await server.request<{ items: { label: string | null }[] }>("GET", "/v1/runs");
  expect(body.items.map(({ label }) => label)).toEqual(["blue"]);
  const wrong = { pipeline_id: "hello", task_description: "Greet", label: "x".repeat(10_000) };
  expect((await server.request("POST", "/v1/runs", { body: wrong })).status).toBe(422);
});

test("a feature takes twelve files: its rows are their owner's, paged and followed live", async () => {
  // Every table must be declared in these tests.
  await act("test", "src/store/whose.test.ts", "src/store/deletion-plan.test.ts", "src/testing/architecture");
  const server = await serve({ AUTH_ENABLED: "true", RATE_LIMIT: "0" });
  const admin = await setupAdmin(server);
  const { token } = admin;
  const { token: other } = await makeUser(server, admin, "other@example.test");
  const frames = framesOf(server, "/v1/events/stream?kinds=notes_changed&after=0", token);
  for (const text of ["one", "two", "three"])
    expect((await server.request("POST", "/v1/notes", { token, body: { text } })).status).toBe(201);
  await framesUntil(frames, ({ event }) => event === "notes_changed");
  type List = { items: { id: string; text: string }[]; next_cursor: string | null };
  const list = async (query: string, as = token) =>
    (await server.request<List>("GET", `/v1/notes?${query}`, { token: as })).body;
  const first = await list("limit=2");
  expect(first.items.map(({ text }) => text)).toEqual(["three", "two"]);
  const rest = await list(`limit=2&cursor=${first.next_cursor}`);
  expect([rest.items.map(({ text }) => text), rest.next_cursor]).toEqual([["one"], null]);
  const path = `/v1/notes/${first.items[0]!.id}`;
  expect((await list("", other)).items).toEqual([]);
  expect((await server.request("GET", path, { token })).body).toEqual({ ...first.items[0] });
  expect((await server.request("GET", path, { token: other })).status).toBe(404);
  expect((await server.request("DELETE", path, { token: other })).status).toBe(404);
  expect((await server.request("DELETE", path, { token })).status).toBe(204);
  expect((await server.request("POST", "/v1/notes", { token, body: { text: "" } })).status).toBe(422);
});
