/**
 * Answers of tool servers other than plain text: structured answers, questions, and answers over the older transport.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { framesOf } from "../../testing/event-reader.ts";
import { BUN, npmServerEntry, ODD_SERVER } from "../../testing/mcp/image.ts";
import { mcpServerWhen } from "../../testing/mcp/wait.ts";
import { freePort } from "../../testing/proxies.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { McpServer } from "./model.ts";

setDefaultTimeout(300_000);
const call = (tool: string, input: object = {}) => ({ tool_calls: [{ tool, input }] });
const done = call("complete", { outputs: "{{ outputs }}", summary: "done" });
/** The calls that the scripted agent of this name makes, one per reply. */
const PLAYS: Record<string, object[]> = {
  scribe: [call("odd__count", { given: { n: 7 } }), done],
  reviewer: [call("odd__count", { given: { n: "seven" } }), done],
  researcher: [call("odd__count"), done],
  lead: [call("odd__ask", { required: ["color"] }), done],
  engineer: [call("odd__ask", { required: ["color", "other"] }), done],
  architect: [call("live__echo", { message: "over sse" }), done],
  "interviewer-intake": [call("odd__count", { fails: true }), done],
};
const folder = mkdtempSync(join(tmpdir(), "skep-mcp-answers-"));
let server: TestServer;
beforeAll(async () => {
  const script = join(folder, "script.json");
  writeFileSync(script, JSON.stringify({ version: 1, agents: PLAYS }));
  server = await startServer({ env: { DEMO_SCRIPT: script, ALLOW_HOST_SHELL: "true" } });
  const body = { id: "odd", transport: "stdio", command: BUN, args: [ODD_SERVER, "--more"], agents: ["*"] };
  expect(await request("POST", "", body)).toMatchObject({ status: 201 });
  await running("odd");
});
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});
const request = <T = McpServer>(method: string, path: string, body?: object) =>
  server.request<T>(method, `/v1/mcp${path}`, body ? { body } : {});
const running = (id: string) => mcpServerWhen(server, id, ({ status }) => status === "running");

/** Lets the agent make its call. @returns the result of the call. */
async function calledBy(agent: string): Promise<{ ok: boolean; output: string }> {
  const body = { agent_id: agent, prompt: "go" };
  const { session_id } = (await server.request<{ session_id: string }>("POST", "/v1/spawn-executor/execute", { body }))
    .body;
  let answer: { ok: boolean; output: string } | undefined;
  for await (const { event, data } of framesOf(server, `/v1/events/stream?session_id=${session_id}`)) {
    const { tool, ok, output } = (data["data"] ?? data) as { tool: string; ok: boolean; output: string };
    if (event === "tool_call_end" && tool !== "complete") answer = { ok, output };
    if (event === "session_ended" && answer) return answer;
  }
  throw new Error("the stream ended");
}

describe("a structured answer", () => {
  test("that fits the schema of its tool is read, and the schema is shown", async () => {
    const { tools } = (await request("GET", "/odd")).body;
    expect(tools.find(({ name }) => name === "count")?.output_schema).toMatchObject({ required: ["n"] });
    expect(await calledBy("scribe")).toEqual({ ok: true, output: "odd answers:\n> counted" });
  });

  test.each([
    ["that does not fit it", "reviewer", "does not fit its schema"],
    ["that is missing", "researcher", "no structured content"],
  ])("%s fails the call, and says why", async (_what, agent, why) => {
    expect(await calledBy(agent)).toEqual({ ok: false, output: expect.stringContaining(why) });
  });
});

test("an answer that says that the call failed is read as it is, whatever the schema", async () => {
  expect(await calledBy("interviewer-intake")).toEqual({ ok: false, output: "odd answers:\n> counted" });
});

describe("a question in the middle of a call", () => {
  test("is not answered unless an administrator wants that", async () => {
    // The server asks although the client declared that there is nobody to ask.
    expect((await calledBy("lead")).output).toContain("-32601");
  });

  test("is answered with the form's own defaults, or declined where they do not answer it", async () => {
    expect((await request("PUT", "/odd", { elicitation: "defaults" })).body.elicitation).toBe("defaults");
    await running("odd");
    const accepted = await calledBy("lead");
    expect(accepted.output).toContain('"action":"accept"');
    expect(accepted.output).toContain('"color":"green"');
    const declined = await calledBy("engineer");
    expect([declined.output.includes('"action":"decline"'), declined.output.includes("green")]).toEqual([true, false]);
  });
});

test("a server of the older SSE transport is used by an agent, and goes with its connection", async () => {
  const port = freePort();
  const everything = Bun.spawn([BUN, npmServerEntry("everything"), "sse"], {
    env: { PORT: String(port), PATH: "", HOME: folder },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  try {
    let said = "";
    for await (const chunk of everything.stderr) {
      said += new TextDecoder().decode(chunk);
      if (said.includes("is running")) break;
    }
    const body = { id: "live", transport: "sse", url: `http://127.0.0.1:${port}/sse`, agents: ["architect"] };
    expect(await request("POST", "", body)).toMatchObject({ status: 201 });
    expect((await running("live")).tools.length).toBeGreaterThan(5);
    expect(await calledBy("architect")).toEqual({ ok: true, output: expect.stringContaining("over sse") });
  } finally {
    everything.kill("SIGKILL");
    await everything.exited;
  }
  const lost = await mcpServerWhen(server, "live", ({ status }) => status !== "running");
  expect(lost.tools.every(({ state }) => state === "ready")).toBe(true);
  expect((await server.request<{ tools: string[] }>("GET", "/v1/agents/architect")).body.tools).not.toContain(
    "live__echo",
  );
});
