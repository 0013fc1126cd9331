/** This server as a tool server, used by the protocol's own client in both revisions. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

let server: TestServer;
let admin: Account;
let a: Account;
let b: Account;
const clients: Client[] = [];
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
  admin = await setupAdmin(server);
  a = await makeUser(server, admin, "a@example.test");
  b = await makeUser(server, admin, "b@example.test");
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.remove();
});

const MODES = { "2025-11-25": "legacy", "2026-07-28": { pin: "2026-07-28" } } as const;
type Revision = keyof typeof MODES;
const REVISIONS = Object.keys(MODES) as Revision[];

async function connect(token: string, revision: Revision = "2026-07-28", onElicit?: () => Record<string, unknown>) {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: MODES[revision] }, capabilities: onElicit ? { elicitation: {} } : {} },
  );
  if (onElicit)
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: onElicit() as never }));
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", server.url), { requestInit }));
  clients.push(client);
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const { text } = content[0] as { text: string };
    return { text, isError: isError === true, json: () => JSON.parse(text) };
  };
  return { client, call };
}
const keyOf = async (who: Account, scopes: string[]) =>
  (
    await server.request<{ key: string }>("POST", "/v1/auth/api-keys", {
      token: who.token,
      body: { name: "k", scopes },
    })
  ).body.key;

describe.each(REVISIONS)("an MCP client of %s", (revision) => {
  test("lists tools with schemas that stand alone, and uses them as its user", async () => {
    const { client, call } = await connect(a.token, revision);
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["code_graph_query", "start_run", "list_tasks", "search_memory", "search_documents"]),
    );
    expect(new Set(names).size).toBe(names.length);
    expect(JSON.stringify(tools)).not.toContain("$ref");
    expect(tools.find(({ name }) => name === "start_run")?.inputSchema.required).toEqual([
      "pipeline_id",
      "task_description",
    ]);
    const made = await call("start_run", { pipeline_id: "hello", task_description: "say hello" });
    const run = made.json() as { id: string; created_by: string };
    expect([made.isError, run.created_by]).toEqual([false, a.id]);
    expect((await call("get_run", { run_id: run.id })).json()).toMatchObject({ id: run.id });
    const { contents } = await client.readResource({ uri: `skep://runs/${run.id}` });
    expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({ id: run.id });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain(`skep://runs/${run.id}`);
    // Another user does not see the run.
    const other = await connect(b.token, revision);
    expect(await other.call("get_run", { run_id: run.id })).toMatchObject({
      isError: true,
      text: expect.stringContaining("no such run"),
    });
    await expect(other.client.readResource({ uri: `skep://runs/${run.id}` })).rejects.toThrow();
    expect((await other.client.listResources()).resources).toEqual([]);
  });

  test("gets an error that names what is wrong with its request", async () => {
    const { client, call } = await connect(a.token, revision);
    expect(await call("get_run", {})).toMatchObject({
      isError: true,
      text: expect.stringContaining("run_id is missing"),
    });
    expect(await call("get_run", { run_id: "x", nothing: 1 })).toMatchObject({
      isError: true,
      text: expect.stringContaining("no argument nothing"),
    });
    expect(await call("get_run", { run_id: "../../v1/users" })).toMatchObject({ isError: true });
    // As part of a path, these ids would lead to the project's own address.
    for (const task_id of ["..", "."])
      expect(await call("get_task", { project_id: "x", task_id })).toMatchObject({
        isError: true,
        text: expect.stringContaining("is not an id"),
      });
    expect(await call("start_run", { pipeline_id: "no-such", task_description: "x" })).toMatchObject({ isError: true });
    await expect(call("drop_all_tables")).rejects.toThrow("no tool");
    await expect(client.readResource({ uri: "file:///etc/passwd" })).rejects.toThrow();
    await expect(client.readResource({ uri: `skep://runs/${"a".repeat(100_000)}` })).rejects.toThrow();
  });

  test("finds each pipeline as a prompt", async () => {
    const { client } = await connect(a.token, revision);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(expect.arrayContaining(["hello", "feature", "bugfix"]));
    const got = await client.getPrompt({ name: "bugfix", arguments: { task: "it crashes" } });
    expect(JSON.stringify(got.messages)).toContain("it crashes");
    await expect(client.getPrompt({ name: "bugfix" })).rejects.toThrow("task");
    await expect(client.getPrompt({ name: "no-such", arguments: { task: "x" } })).rejects.toThrow();
  });

  test("may do with an API key what the key's scopes allow, tool by tool", async () => {
    const reading = await connect(await keyOf(a, ["read"]), revision);
    expect((await reading.call("list_runs")).isError).toBe(false);
    expect(await reading.call("start_run", { pipeline_id: "hello", task_description: "x" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("lacks the scope runs"),
    });
    const working = await connect(await keyOf(a, ["runs"]), revision);
    expect((await working.call("start_run", { pipeline_id: "hello", task_description: "x" })).isError).toBe(false);
    const args = { agent_id: "scribe", title: "t", content: "c" };
    expect(await working.call("remember", args)).toMatchObject({
      isError: true,
      text: expect.stringContaining("scope write"),
    });
  });
});

test("calls of two users side by side never cross", async () => {
  const both = [
    await connect(a.token),
    await connect(b.token),
    await connect(a.token, "2025-11-25"),
    await connect(b.token, "2025-11-25"),
  ];
  const owners = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const { call } = both[i % 4]!;
      const run = (await call("start_run", { pipeline_id: "hello", task_description: `run ${i}` })).json() as {
        id: string;
      };
      return [i % 2, ((await call("get_run", { run_id: run.id })).json() as { created_by: string }).created_by];
    }),
  );
  for (const [who, owner] of owners) expect(owner).toBe(who === 0 ? a.id : b.id);
});

describe("without a credential", () => {
  test("nothing is answered", async () => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    expect((await server.request("POST", "/mcp", { body })).status).toBe(401);
    const headers = { Origin: "https://evil.example" };
    expect((await server.request("POST", "/mcp", { body, headers, token: a.token })).status).toBe(403);
    expect((await server.request("GET", "/mcp", { token: a.token })).status).toBe(405);
    expect((await server.request("DELETE", "/mcp", { token: a.token })).status).toBe(400);
  });
});

describe("a session of an older client", () => {
  const headers = { Accept: "application/json, text/event-stream" };
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  };
  const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
  const open = async (token: string) => {
    const answer = await server.request("POST", "/mcp", { token, headers, body: initialize });
    expect(answer.status).toBe(200);
    return answer.headers.get("mcp-session-id")!;
  };
  const ask = async (token: string, session: string, method = "POST") =>
    (
      await server.request(method, "/mcp", {
        token,
        headers: { ...headers, "Mcp-Session-Id": session },
        ...(method === "POST" ? { body: list } : {}),
      })
    ).status;

  test("answers only the credential that opened it, and ends on request", async () => {
    const session = await open(a.token);
    expect(await ask(a.token, session)).toBe(200);
    expect(await ask(b.token, session)).toBe(404);
    expect(await ask(b.token, session, "DELETE")).toBe(404);
    expect(await ask(await keyOf(a, ["read"]), session)).toBe(404);
    expect(await ask(a.token, "never-opened")).toBe(404);
    expect(await ask(a.token, session)).toBe(200);
    expect(await ask(a.token, session, "DELETE")).toBe(200);
    expect(await ask(a.token, session)).toBe(404);
  });

  test("gives way when its user opens many more, and costs no other user's", async () => {
    const other = await open(b.token);
    const first = await open(a.token);
    for (let i = 0; i < 32; i++) await open(a.token);
    expect([await ask(a.token, first), await ask(b.token, other)]).toEqual([404, 200]);
  });

  test("is not needed: a request without one is answered by itself", async () => {
    expect((await server.request("POST", "/mcp", { token: a.token, headers, body: list })).status).toBe(200);
  });
});

describe("what a pipeline still needs", () => {
  const source = `id: asking
name: Asking
inputs:
  color:
    description: Which color.
    required: true
steps:
  - id: one
    name: One
    agent: scribe
    input: "{{ task_description }} in {{ inputs.color }}"
`;
  const args = { pipeline_id: "asking", task_description: "paint" };
  beforeAll(async () => {
    expect(await server.request("POST", "/v1/pipelines", { token: admin.token, body: { source } })).toMatchObject({
      status: 201,
    });
  });

  /** Sends a request as a client of the newer revision does. */
  async function raw(token: string, params: object, name = "start_run") {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    };
    const answer = await server.request<{ result?: Record<string, unknown>; error?: { code: number } }>(
      "POST",
      "/mcp",
      {
        token,
        body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, ...params, _meta: meta } },
        headers: {
          Accept: "application/json, text/event-stream",
          "MCP-Protocol-Version": "2026-07-28",
          "Mcp-Method": "tools/call",
          "Mcp-Name": name,
        },
      },
    );
    return answer.body;
  }

  test.each(REVISIONS)(
    "is asked of a person by a client of %s, and the run is made with the answer",
    async (revision) => {
      const asked: number[] = [];
      const { call } = await connect(a.token, revision, () => {
        asked.push(1);
        return { color: "green" };
      });
      const run = (await call("start_run", args)).json() as { id: string };
      expect(run.id).toStartWith("run_");
      expect(asked).toHaveLength(1);
    },
  );

  test("is reported to the model where nobody can be asked", async () => {
    for (const revision of REVISIONS)
      expect(await (await connect(a.token, revision)).call("start_run", args)).toMatchObject({
        isError: true,
        text: expect.stringContaining("/inputs/color"),
      });
  });

  test("is taken only with our own state: of this user, this tool, these arguments, unaltered", async () => {
    const first = await raw(a.token, { arguments: args });
    const requestState = String(first.result?.["requestState"]);
    expect(first.result).toMatchObject({ resultType: "input_required", inputRequests: { inputs: expect.anything() } });
    const inputResponses = { inputs: { action: "accept", content: { color: "green" } } };
    const expectRefusal = async (answer: Promise<{ result?: object; error?: { code: number } }>) =>
      expect((await answer).error?.code).toBe(-32_602);
    await expectRefusal(raw(b.token, { arguments: args, inputResponses, requestState }));
    await expectRefusal(
      raw(a.token, { arguments: args, inputResponses, requestState: `${requestState.slice(0, -2)}AA` }),
    );
    await expectRefusal(raw(a.token, { arguments: args, inputResponses, requestState: "v1.e30.e30" }));
    await expectRefusal(
      raw(a.token, { arguments: { ...args, task_description: "burn" }, inputResponses, requestState }),
    );
    await expectRefusal(raw(a.token, { arguments: args, inputResponses }));
    const [, body = ""] = requestState.split(".");
    const forged = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(body, "base64url").toString()), exp: 9e9 }),
    ).toString("base64url");
    await expectRefusal(
      raw(a.token, { arguments: args, inputResponses, requestState: requestState.replace(body, forged) }),
    );
    const right = await raw(a.token, { arguments: args, inputResponses, requestState });
    expect(JSON.stringify(right.result)).toContain("run_");
  });
});
