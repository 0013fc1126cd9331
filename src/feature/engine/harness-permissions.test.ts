/**
 * Permission rules apply to a program that drives an agent: to its requests over its protocol, and to Skep's tools that
 * it calls over MCP.
 */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { dockerForTests } from "../../testing/docker-image.ts";
import { framesOf, framesUntil, type ReadFrame } from "../../testing/event-reader.ts";
import { EXAMPLE, exampleImage } from "../../testing/example-agents.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { PermissionRequest } from "../permissions/model.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);
const isRun = test.skipIf(!docker);
const env = { SANDBOX: "docker" };
let server: TestServer;
let image: string;
beforeAll(async () => {
  if (!docker) return;
  image = await exampleImage(docker);
  server = await startServer({ env });
});
afterAll(() => server?.remove());

const PERMISSIONS = [
  { allow: { tool: "bash", matches: "git status*" } },
  { deny: { tool: "bash", matches: "rm *" } },
  { ask: { tool: "bash", matches: "git push*" } },
  { deny: { tool: "edit", path: "secrets/**" } },
  { deny: { tool: "fetch_url", matches: "https://bad.example/*" } },
  { ask: { tool: "fetch_url", matches: "https://asked.example/*" } },
];
const command = (line: string, more = {}) => ({ kind: "execute", rawInput: { command: line }, ...more });

let made = 0;
/** Starts a run whose program makes these requests. @returns the run's id. */
async function begin(...asks: object[]): Promise<string> {
  const id = `asker-${++made}`;
  const prompt = ["MODE: asks", ...asks.map((one) => `ASK: ${JSON.stringify(one)}`)].join("\n");
  const harness = { acp: EXAMPLE, image };
  const post = async <T>(path: string, body: object) => {
    const answer = await server.request<T>("POST", path, { body });
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    return answer.body;
  };
  await post("/v1/agents", { id, prompt, harness, permissions: PERMISSIONS, memory_mb: 512, model: "demo/scripted" });
  await post("/v1/pipelines", { id, name: id, steps: [{ id: "work", agent: id, input: "Do it." }] });
  return (await post<{ id: string }>("/v1/runs", { pipeline_id: id, task_description: "it" })).id;
}
const until = (run: string, is: (frame: ReadFrame) => boolean) =>
  framesUntil(framesOf(server, `/v1/events/stream?run_id=${run}&after=0`), is);
const dataOf = ({ data }: ReadFrame) => (data as { data: Record<string, unknown> }).data;
/** The answers that the program got. */
async function outcomes(run: string): Promise<string[]> {
  await until(run, ({ event }) => /^run_(complete|failed|cancelled)$/.test(event));
  const { body } = await server.request<{ text: string }>("GET", `/v1/steps/${run}/work/output`);
  return JSON.parse(body.text) as string[];
}
/** The first question of the run. */
async function question(run: string): Promise<PermissionRequest> {
  const frames = await until(run, ({ event }) => event === "permission_requested");
  const id = String(dataOf(frames.at(-1)!)["request_id"]);
  return (await server.request<PermissionRequest>("GET", `/v1/permissions/requests/${id}`)).body;
}
const answer = (id: string, body: object) =>
  server.request<PermissionRequest>("POST", `/v1/permissions/requests/${id}/answer`, { body });
const waits = (frame: ReadFrame) => frame.event === "activity" && String(dataOf(frame)["title"]).startsWith("Waits: ");
function inRows<T>(act: (rows: Database) => T): T {
  const rows = new Database(join(server.data, "skep.db"));
  try {
    return act(rows);
  } finally {
    rows.close();
  }
}

isRun("what the rules allow and refuse is answered at once, and never by a yes without a refusing option", async () => {
  const run = await begin(
    command("git status --short"),
    command("rm -rf x"),
    command("cd x && rm -rf x", { refuses: false }),
    { kind: "edit", locations: [{ path: "/workspace/secrets/key" }] },
    { kind: "edit", locations: [{ path: "/workspace/open/key" }] },
    { kind: "other" },
    { tool: "fetch_url", args: { url: "https://bad.example/x" } },
  );
  const [fetched, ...others] = (await outcomes(run)).reverse();
  expect(others.reverse()).toEqual([
    "allow_once",
    "reject_once",
    "cancelled",
    "reject_once",
    "allow_once",
    "reject_once",
  ]);
  expect(fetched).toContain("the rules of this agent refuse it");
});

isRun("a person allows it: the program waits for that, and its time does not pass meanwhile", async () => {
  const run = await begin(command("git push origin main"), command("git push origin main"));
  const asked = await question(run);
  expect(asked).toMatchObject({
    state: "waiting",
    tool: "bash",
    tool_kind: "execute",
    subject: "git push origin main",
    run_id: run,
    rules: ["ask bash: git push*"],
    can_remember: true,
  });
  await until(run, waits);
  const execution = () =>
    inRows(
      (rows) =>
        rows.query("SELECT * FROM executions WHERE run_id = ?").get(run) as Record<string, number | string | null>,
    );
  expect(execution()).toMatchObject({ status: "running", waiting_since: expect.any(Number) });
  expect((await answer(asked.id, { allow: true, lasts: "work" })).status).toBe(200);
  // The second time, the remembered answer is used.
  expect(await outcomes(run)).toEqual(["allow_once", "allow_once"]);
  expect(execution()).toMatchObject({ waiting_since: null, waits_for: null });
  expect(execution()["waited_ms"]).toBeGreaterThan(0);
});

isRun.each([
  ["a person refuses it", {}, "reject_once"],
  ["a person refuses it and the program has no option for that", { refuses: false }, "cancelled"],
])("%s", async (_, more, outcome) => {
  const run = await begin(command("git push", more));
  await answer((await question(run)).id, { allow: false });
  expect(await outcomes(run)).toEqual([outcome]);
});

isRun("nobody answers in time: a late yes is a no", async () => {
  const run = await begin(command("git push"));
  const { id } = await question(run);
  inRows((rows) => rows.run("UPDATE permission_requests SET deadline = 1 WHERE id = ?", [id]));
  await answer(id, { allow: true });
  expect(await outcomes(run)).toEqual(["reject_once"]);
});

isRun("Skep's own tools wait for a person, too", async () => {
  const run = await begin({ tool: "fetch_url", args: { url: "https://asked.example/x" } });
  const { id, tool, subject } = await question(run);
  expect([tool, subject]).toEqual(["fetch_url", "https://asked.example/x"]);
  await answer(id, { allow: false, comment: "not there" });
  expect(await outcomes(run)).toEqual(["Not made: a person refused the use of fetch_url. They say: not there"]);
});

isRun("cancelling the run ends the waiting and withdraws the question", async () => {
  const run = await begin(command("git push"));
  const { id } = await question(run);
  await server.request("POST", `/v1/runs/${run}/cancel`);
  await framesUntil(
    framesOf(server, "/v1/events/stream?kinds=permission_resolved&after=0"),
    (frame) => dataOf(frame)["request_id"] === id,
  );
  const { body } = await server.request<PermissionRequest>("GET", `/v1/permissions/requests/${id}`);
  expect(body.state).toBe("withdrawn");
});

isRun("a server that was killed while it waited asks no second time", async () => {
  const run = await begin(command("git push"));
  const { id } = await question(run);
  await server.stop("SIGKILL");
  server = await startServer({ env, data: server.data });
  await answer(id, { allow: true });
  expect(await outcomes(run)).toEqual(["allow_once"]);
  const frames = await until(run, ({ event }) => event === "run_complete");
  expect(frames.filter(({ event }) => event === "permission_requested")).toHaveLength(1);
});
