/** Permissions from outside: an agent's rule asks, the server is killed, and the command line answers. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skep, temporaryFolder } from "../testing/command.ts";
import { startServer, type TestServer } from "../testing/server.ts";

setDefaultTimeout(300_000);

const SCRIPT = `version: 1
steps:
  write:
    - tool_calls:
        - { tool: write, input: { path: a.txt, content: "x" } }
        - { tool: write, input: { path: b.txt, content: "x" } }
    - tool_calls: [{ tool: complete, input: { summary: written } }]
`;
const folder = temporaryFolder();
const script = join(folder.path, "script.yml");
let server: TestServer;
const start = (data?: string) => startServer({ env: { DEMO_SCRIPT: script }, ...(data ? { data } : {}) });
const cli = (...args: string[]) => skep([...args, "--data", server.data]);
const AGENT = { id: "careful", prompt: "You work.", permissions: [{ ask: { tool: "write", path: "*.txt" } }] };

beforeAll(async () => {
  writeFileSync(script, SCRIPT);
  server = await start();
  const steps = [{ id: "write", agent: "careful", input: "Write" }];
  expect((await server.request("POST", "/v1/agents", { body: AGENT })).body).toMatchObject({
    rules: ["ask write: path *.txt"],
    config: { permissions: AGENT.permissions },
    problems: [],
  });
  const pipeline = { id: "write", name: "write", description: "", version: 1, steps };
  expect((await server.request("POST", "/v1/pipelines", { body: pipeline })).status).toBe(201);
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

/** Waits for the first event of that kind in the run, including past ones. */
async function event(run: string, wanted: string) {
  const stop = new AbortController();
  for await (const one of server.client().events(`/v1/events/stream?run_id=${run}&after=0`, stop.signal))
    if (one.kind === wanted) {
      stop.abort();
      return one;
    }
  throw new Error(`the stream of ${run} ended without ${wanted}`);
}

test("a rule with a misspelt tool is not saved, and the error says which", async () => {
  const body = { permissions: [{ deny: "bsh" }] };
  const { status, body: problem } = await server.request<{ detail: string }>("PUT", "/v1/agents/careful/config", {
    body,
  });
  expect([status, problem.detail]).toEqual([422, expect.stringContaining('"bsh". Did you mean bash?')]);
});

test("rules are listed, added, changed, moved and removed on the command line, and tried before a call is made", async () => {
  const created = await server.request("POST", "/v1/agents", { body: { id: "ruled", prompt: "You work." } });
  expect(created.status).toBe(201);
  const rules = async (...words: string[]) =>
    (await cli("agents", "rules", "ruled", ...words)).stdout.trimEnd().split("\n");
  expect(await rules()).toEqual([expect.stringContaining("No rules: it may use its tools without asking.")]);
  await rules("add", "--ask", "bash", "--matches", "git push*", "npm publish*");
  await rules("add", "1", "--deny", "edit", "--path", ".github/**");
  expect(await rules("add", "--allow", "read, search")).toEqual([
    "  1  deny edit: path .github/**",
    "  2  ask bash: git push*, npm publish*",
    "  3  allow read, search",
  ]);
  expect(await rules("move", "3", "1")).toEqual([
    "  1  allow read, search",
    "  2  deny edit: path .github/**",
    "  3  ask bash: git push*, npm publish*",
  ]);
  await rules("change", "2", "--deny", "edit,delete");
  expect(await rules("remove", "1")).toEqual(["  1  deny edit, delete", "  2  ask bash: git push*, npm publish*"]);
  const tried = await cli("agents", "try", "ruled", "bash", "--command", "git push -f");
  expect(tried.stdout).toBe("A person is asked: rule 2 decides, ask bash: git push*, npm publish*.\n");
  for (const wrong of [
    ["remove", "3"],
    ["remove"],
    ["move", "1"],
    ["add"],
    ["add", "--ask", "bash", "--deny", "bash"],
    ["add", "--ask", "bsh"],
  ])
    expect((await cli("agents", "rules", "ruled", ...wrong)).code).not.toBe(0);
  expect(await rules()).toHaveLength(2);
});

test("a question outlives kill -9, is answered once, and its call is made once", async () => {
  const created = await server.request<{ id: string }>("POST", "/v1/runs", {
    body: { pipeline_id: "write", task_description: "Write it" },
  });
  const run = created.body.id;
  await event(run, "permission_requested");
  await server.stop("SIGKILL");
  server = await start(server.data);
  const waiting = await cli("approvals", "--json");
  const { items } = JSON.parse(waiting.stdout);
  expect(items).toMatchObject([
    { kind: "permission", state: "waiting", tool: "write", subject: "a.txt", run_id: run, about: "Write it" },
  ]);
  const file = (name: string) => existsSync(join(server.data, "workspaces", run, name));
  expect(file("a.txt")).toBe(false);
  expect((await cli("approvals")).stdout).toContain("May careful use write: a.txt?");
  const allowed = await cli("approvals", "allow", items[0].id, "--for", "work");
  expect([allowed.code, allowed.stdout]).toEqual([0, `${items[0].id} allowed\n`]);
  await event(run, "run_complete");
  // The answer also allowed what the rule would ask later in the run.
  expect([file("a.txt"), file("b.txt")]).toEqual([true, true]);
  const { items: answered } = JSON.parse((await cli("approvals", "--state", "answered", "--json")).stdout);
  expect(answered).toMatchObject([{ id: items[0].id, state: "allowed", lasts: "work" }]);
  const kept = JSON.parse((await cli("permissions", "--agent", "careful", "--json")).stdout).items;
  expect(kept).toMatchObject([{ run_id: run, rule: "ask write: path *.txt" }]);
  expect((await cli("permissions", "revoke", kept[0].id, "--yes")).stdout).toContain("taken back");
  expect((await cli("permissions")).stdout).toContain("No answer is remembered");
  expect((await cli("approvals", "allow", items[0].id)).code).toBe(1);
});
