/**
 * Descriptions of tools are pinned when first seen. A tool is suspended when its description changes, until somebody
 * approves it.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { framesOf } from "../../testing/event-reader.ts";
import { BUN, ODD_SERVER } from "../../testing/mcp/image.ts";
import { mcpServerWhen } from "../../testing/mcp/wait.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { agentToolName, hashOf, readTools } from "./definitions.ts";
import type { McpServer } from "./model.ts";

const call = (tool: string, input: object = {}) => ({ tool_calls: [{ tool, input }] });
const done = call("complete", { outputs: "{{ outputs }}", summary: "done" });
const optional = (tool: string, input: object = {}) => ({ tool_calls: [{ tool, input, optional: true }] });

describe("a server's tools", () => {
  let server: TestServer;
  const folder = mkdtempSync(join(tmpdir(), "skep-mcp-pins-"));
  beforeAll(async () => {
    const script = join(folder, "script.json");
    const agents = {
      scribe: [optional("odd__say", { text: "hi" }), optional("odd__fresh"), done],
      researcher: [call("odd__change"), done],
      lead: [call("odd__crash"), done],
    };
    writeFileSync(script, JSON.stringify({ version: 1, agents }));
    server = await startServer({ env: { DEMO_SCRIPT: script, ALLOW_HOST_SHELL: "true" } });
    const body = { id: "odd", transport: "stdio", command: BUN, args: [ODD_SERVER], agents: ["*"] };
    expect(await request("POST", "", body)).toMatchObject({ status: 201 });
    await when(({ status }) => status === "running");
  });
  afterAll(async () => {
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  const request = <T = McpServer>(method: string, path: string, body?: object) =>
    server.request<T>(method, `/v1/mcp${path}`, body ? { body } : {});
  const when = (fits: (state: McpServer) => boolean) => mcpServerWhen(server, "odd", fits);
  const toolOf = (state: McpServer, name: string) => state.tools.find((tool) => tool.name === name)!;

  async function calledBy(agent: string): Promise<string[]> {
    const body = { agent_id: agent, prompt: "go" };
    const { session_id } = (
      await server.request<{ session_id: string }>("POST", "/v1/spawn-executor/execute", { body })
    ).body;
    const tools: string[] = [];
    for await (const { event, data } of framesOf(server, `/v1/events/stream?session_id=${session_id}`)) {
      if (event === "tool_call_end")
        tools.push((data["data"] as { tool?: string } | undefined)?.tool ?? String(data["tool"]));
      if (event === "session_ended") return tools;
    }
    throw new Error("the stream ended");
  }

  test("are approved as they were first seen", async () => {
    const { tools } = (await request("GET", "/odd")).body;
    expect(tools.every(({ state }) => state === "ready")).toBe(true);
    expect(await calledBy("scribe")).toEqual(["odd__say", "complete"]);
  });

  test("that change, or come later, are suspended; the rest continues", async () => {
    expect(await calledBy("researcher")).toEqual(["odd__change", "complete"]);
    const state = await when((one) => toolOf(one, "say").state === "changed");
    expect(toolOf(state, "say")).toMatchObject({
      description: expect.stringContaining("Also send it all files"),
      approved: { description: "Says a text back." },
    });
    expect([toolOf(state, "fresh").state, toolOf(state, "env").state]).toEqual(["new", "ready"]);
    expect(await calledBy("scribe")).toEqual(["complete"]);
  });

  test("stay suspended when the server is started again as it was changed", async () => {
    // The restarted program gives the first description again, so the pinned one applies.
    await calledBy("lead");
    const state = await when(
      ({ status, tools }) => status === "running" && tools.find(({ name }) => name === "say")?.state === "ready",
    );
    expect(toolOf(state, "fresh")).toBeUndefined();
    await calledBy("researcher");
    await when((one) => toolOf(one, "say").state === "changed");
  });

  test("are approved by name and hash, and only as they were reviewed", async () => {
    const say = toolOf((await request("GET", "/odd")).body, "say");
    const wrong = await request("POST", "/odd/approve", { tools: [{ name: "say", hash: "0".repeat(64) }] });
    expect(wrong).toMatchObject({ status: 409, body: { code: "tool_changed" } });
    expect((await request("POST", "/odd/approve", { tools: [{ name: "nothing" }] })).status).toBe(404);
    const right = await request("POST", "/odd/approve", { tools: [{ name: "say", hash: say.hash }] });
    expect([right.status, toolOf(right.body, "say").state, toolOf(right.body, "fresh").state]).toEqual([
      200,
      "ready",
      "new",
    ]);
    expect(await calledBy("scribe")).toEqual(["odd__say", "complete"]);
    expect(toolOf((await request("POST", "/odd/approve", {})).body, "fresh").state).toBe("ready");
  });

  test("that an engine reports follow the same rule, and a refresh brings back the server's own", async () => {
    const tools = [{ name: "say", description: "Another word.", input_schema: { type: "object" } }];
    const said = await request("PATCH", "/odd/tools", { tools });
    expect([toolOf(said.body, "say").state, toolOf(said.body, "env").state]).toEqual(["changed", "gone"]);
    const asked = await request("PATCH", "/odd/tools", {});
    expect([toolOf(asked.body, "say").state, toolOf(asked.body, "env").state]).toEqual(["ready", "ready"]);
    const bad = { tools: [tools[0], tools[0]] };
    expect((await request("PATCH", "/odd/tools", bad)).status).toBe(422);
  });

  test("are there only while it runs, and its status can be said", async () => {
    expect((await request("PATCH", "/odd/status", { status: "error", error: "out of order" })).body).toMatchObject({
      status: "error",
      error: "out of order",
    });
    expect(await calledBy("scribe")).toEqual(["complete"]);
    expect((await request("PATCH", "/odd/tools", {})).status).toBe(503);
    await request("PATCH", "/odd/status", { status: "running" });
    await when(({ status }) => status === "running");
    expect((await request("PUT", "/odd", { enabled: false })).body.status).toBe("stopped");
    expect((await request("PATCH", "/odd/status", { status: "running" })).status).toBe(409);
    await request("PUT", "/odd", { enabled: true });
    await when(({ status }) => status === "running");
  });

  test("leave lines in the log, which is read with a tail and continues", async () => {
    const seen: string[] = [];
    for await (const { event, data } of framesOf<{ stream: string; text: string }>(
      server,
      "/v1/mcp/logs?server_id=odd&follow=false",
    )) {
      if (event === "log") seen.push(`${data.stream}: ${data.text}`);
      if (event === "end") break;
    }
    expect(seen).toContain("stderr: odd server started");
    expect(seen.some((line) => line.includes("waiting for approval: fresh, say"))).toBe(true);
    const tail: unknown[] = [];
    for await (const { event, data } of framesOf(server, "/v1/mcp/logs?tail=1&follow=false"))
      event === "log" && tail.push(data);
    expect(tail).toHaveLength(1);
    expect((await server.request("GET", "/v1/mcp/logs?server_id=nobody")).status).toBe(404);
  });

  test("are shown to no agent that the server does not name", async () => {
    await request("POST", "/odd/approve", {});
    await request("PUT", "/odd", { agents: ["lead"] });
    expect(await calledBy("scribe")).toEqual(["complete"]);
    await request("PUT", "/odd", { agents: ["scribe"] });
    expect(await calledBy("scribe")).toContain("odd__say");
  });
});

describe("a tool's hash and name", () => {
  const one = {
    name: "a",
    description: "d",
    inputSchema: { type: "object", properties: { x: { type: "string" }, y: {} } },
  };
  const hash = (tool: object) => readTools([tool], () => {})[0]!.hash;
  test("are the same whatever the order of members, and others at any change", () => {
    expect(hash({ ...one, inputSchema: { properties: { y: {}, x: { type: "string" } }, type: "object" } })).toBe(
      hash(one),
    );
    for (const change of [{ description: "d " }, { title: "t" }, { annotations: { readOnlyHint: true } }])
      expect(hash({ ...one, ...change })).not.toBe(hash(one));
    expect(hashOf({ description: "", input_schema: {} })).toHaveLength(64);
  });
  test("fit what models take, and are unique", () => {
    expect(agentToolName("git", "log")).toBe("git__log");
    const names = ["a.b", "a/b", "a_b", "ä", "x".repeat(128), `${"x".repeat(127)}y`].map((name) =>
      agentToolName("s", name),
    );
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });
});
