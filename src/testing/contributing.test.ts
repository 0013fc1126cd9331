/** The worked example of CONTRIBUTING, performed on a copy of the sources: it compiles, and the server does what it says. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { performExample, readExample } from "./examples.ts";
import { startServer, type TestServer } from "./server.ts";

setDefaultTimeout(300_000);

const ROOT = resolve(import.meta.dir, "../..");
const copy = mkdtempSync(join(tmpdir(), "skep-contributing-"));
let server: TestServer | undefined;
afterAll(async () => {
  await server?.remove();
  rmSync(copy, { recursive: true, force: true });
});

/** @throws Error with what it says when it fails. */
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
  const example = readExample(readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8"), "A column.");
  expect(example).toHaveLength(7);
  for (const part of ["src", "scripts", "agents", "package.json", "tsconfig.json", "build.ts"])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  performExample(copy, example);
  // The types of the API follow its model; the dashboard's page and the command compile with them alone.
  await act("scripts/dashboard/build.ts", "--types");
  await Promise.all([act("node_modules/.bin/tsc"), act("node_modules/.bin/tsc", "-p", "src/web")]);

  server = await startServer({ command: [process.execPath, join(copy, "src/main.ts")] });
  const flags = ["--label", "blue", "--json", "--url", server.url];
  const started = JSON.parse(await act("src/main.ts", "run", "hello", "Greet", ...flags));
  expect(started.label).toBe("blue");
  expect((await server.request("GET", `/v1/runs/${started.id}`)).body["label"]).toBe("blue");
  const { body } = await server.request<{ items: { label: string | null }[] }>("GET", "/v1/runs");
  expect(body.items.map(({ label }) => label)).toEqual(["blue"]);
  const wrong = { pipeline_id: "hello", task_description: "Greet", label: "x".repeat(10_000) };
  expect((await server.request("POST", "/v1/runs", { body: wrong })).status).toBe(422);
});
