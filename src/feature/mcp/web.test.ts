/** Tool servers with an address: of both revisions, hostile ones, and ones that need a login. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { framesOf } from "../../testing/event-reader.ts";
import { mcpServerWhen } from "../../testing/mcp/wait.ts";
import { startWebServer, type WebServer, type WebServerOptions } from "../../testing/mcp/web-server.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { McpServer } from "./model.ts";

setDefaultTimeout(300_000);
const folder = mkdtempSync(join(tmpdir(), "skep-mcp-web-"));
let server: TestServer;
const started: WebServer[] = [];
beforeAll(async () => {
  const agents = {
    scribe: [
      { tool_calls: [{ tool: "web__say", input: { text: "hi" } }] },
      { tool_calls: [{ tool: "complete", input: { outputs: "{{ outputs }}", summary: "done" } }] },
    ],
  };
  writeFileSync(join(folder, "script.json"), JSON.stringify({ version: 1, agents }));
  server = await startServer({ env: { DEMO_SCRIPT: join(folder, "script.json") } });
});
afterAll(async () => {
  await server.remove();
  await Promise.all(started.map((one) => one.stop()));
  rmSync(folder, { recursive: true, force: true });
});

const request = <T = McpServer>(method: string, path: string, body?: object) =>
  server.request<T>(method, `/v1/mcp${path}`, body ? { body } : {});
const start = (options?: WebServerOptions) => {
  const one = startWebServer(options);
  started.push(one);
  return one;
};
const when = (id: string, fits: (state: McpServer) => boolean) => mcpServerWhen(server, id, fits);

/** Registers a tool server under this id until the test is over. */
async function registerServer(id: string, url: string, more: object = {}): Promise<AsyncDisposable> {
  expect(await request("POST", "", { id, transport: "http", url, agents: ["*"], ...more })).toMatchObject({
    status: 201,
  });
  return { [Symbol.asyncDispose]: async () => void (await request("DELETE", `/${id}`)) };
}

/** Lets an agent use the tool server. @returns the tool's answer. */
async function runAgent(): Promise<string | undefined> {
  const body = { agent_id: "scribe", prompt: "go" };
  const { session_id } = (await server.request<{ session_id: string }>("POST", "/v1/spawn-executor/execute", { body }))
    .body;
  let output: string | undefined;
  for await (const { event, data } of framesOf(server, `/v1/events/stream?session_id=${session_id}`)) {
    const call = (data["data"] ?? data) as { tool?: string; output?: string };
    if (event === "tool_call_end" && call.tool === "web__say") output = call.output;
    if (event === "session_ended") return output;
  }
  throw new Error("the stream ended");
}

describe("a tool server with an address", () => {
  test.each([
    ["2026-07-28", {}],
    ["2025-11-25", { legacyOnly: true }],
  ])("is spoken to in %s, and an agent uses it", async (revision, options) => {
    await using _ = await registerServer("web", start(options).url);
    expect((await when("web", ({ status }) => status === "running")).protocol).toBe(revision);
    expect(await runAgent()).toBe("web answers:\n> hi");
  });

  test("that dies in the middle of a call is said to, in words that the agent and its administrator understand", async () => {
    const tools = [{ name: "say", description: "Says", inputSchema: { type: "object" } }];
    const dying = createServer(async (request, response) => {
      const text = (await Array.fromAsync(request)).join("");
      if (request.method !== "POST") return response.writeHead(405).end();
      const { id, method, params } = JSON.parse(text);
      if (id === undefined) return response.writeHead(202).end();
      if (method === "tools/call") {
        dying.close();
        return request.socket.destroy();
      }
      const info = { capabilities: { tools: {} }, serverInfo: { name: "d", version: "1" } };
      const results = { initialize: { protocolVersion: params?.protocolVersion, ...info }, "tools/list": { tools } };
      const result = results[method as keyof typeof results];
      const error = { code: -32601, message: "No such method" };
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
    });
    await new Promise<void>((resolve) => dying.listen(0, "127.0.0.1", resolve));
    const { port } = dying.address() as AddressInfo;
    await using _ = await registerServer("web", `http://127.0.0.1:${port}/mcp`);
    await when("web", ({ status, tools }) => status === "running" && tools.length > 0);
    expect(await runAgent()).toMatch(/^The tool server broke off in the middle of say .* look before you repeat it\.$/);
    const { error } = await when("web", (one) => one.status === "error" && /ECONNREFUSED/.test(one.error ?? ""));
    expect(error).not.toContain("negotiation");
  });

  test("whose first answer takes 3 s is connected when its limit allows it", async () => {
    let first: Promise<void> | undefined;
    const answer = async () => {
      first ??= Bun.sleep(3_000);
      await first;
      return undefined;
    };
    await using _ = await registerServer("web", start({ answer }).url, { timeout_ms: 60_000 });
    const { status, protocol } = await when("web", (state) => state.status === "running" || state.status === "error");
    // A slow server is not taken for an old one: it uses the newer revision.
    expect([status, protocol]).toEqual(["running", "2026-07-28"]);
  });

  test("that goes away takes its tools with it, and brings them back", async () => {
    let isDown = false;
    const web = start({ answer: () => (isDown ? new Response("down", { status: 503 }) : undefined) });
    await using _ = await registerServer("web", web.url);
    await when("web", ({ status }) => status === "running");
    isDown = true;
    expect(await runAgent()).not.toContain("> hi");
    expect((await when("web", ({ status }) => status === "error")).error).not.toBeNull();
    expect(await runAgent()).toBeUndefined();
    isDown = false;
    await when("web", ({ status }) => status === "running");
    expect(await runAgent()).toBe("web answers:\n> hi");
  });

  test.each([
    [
      "an endless answer",
      () => new Response("x".repeat(6 * 1024 * 1024), { headers: { "Content-Type": "application/json" } }),
    ],
    ["HTML", () => new Response("<html>", { headers: { "Content-Type": "text/html" } })],
    ["a redirect to the metadata service", () => Response.redirect("http://169.254.169.254/latest/meta-data", 307)],
  ])("that answers with %s is in error, and the server lives", async (_what, answer) => {
    await using _ = await registerServer("bad", start({ answer }).url, { timeout_ms: 2_000 });
    await when("bad", ({ status }) => status === "error");
    expect((await server.request("GET", "/healthz")).status).toBe(200);
  });
});

describe("a tool server that wants a login", () => {
  /** Goes through the login as a browser does. @returns the last answer. */
  async function logIn(id: string): Promise<Response> {
    const begun = await request<{ authorization_url: string }>("POST", `/${id}/authorize`);
    expect(begun).toMatchObject({ status: 200 });
    const away = await fetch(begun.body.authorization_url, { redirect: "manual" });
    return fetch(away.headers.get("location")!, { headers: { Accept: "text/html" } });
  }

  test("says so, is logged in to through the browser, and renews what it was given", async () => {
    const web = start({ oauth: true });
    await using _ = await registerServer("web", web.url);
    const waiting = await when("web", ({ status }) => status === "error");
    expect([waiting.needs_authorization, waiting.authorized]).toEqual([true, false]);
    const end = await logIn("web");
    expect([end.status, await end.text()]).toEqual([200, expect.stringContaining("logged in to the tool server web")]);
    expect((await when("web", ({ status }) => status === "running")).authorized).toBe(true);
    expect(await runAgent()).toBe("web answers:\n> hi");
    web.expire();
    expect(await runAgent()).toBe("web answers:\n> hi");
    // Neither the database nor any answer holds a token in plain text.
    const { body } = await request<object>("GET", "/web");
    expect(JSON.stringify(body)).not.toMatch(/(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/);
    expect(readFileSync(join(server.data, "skep.db")).includes("access_token")).toBe(false);
    expect((await request("DELETE", "/web/authorization")).status).toBe(204);
    expect((await when("web", ({ needs_authorization }) => needs_authorization)).authorized).toBe(false);
  });

  test("is refused with a state that is not ours or used, or with another issuer", async () => {
    const callback = (query: string) => server.request("GET", `/v1/mcp/oauth/callback?${query}`);
    expect((await callback("code=x&state=")).status).toBe(400);
    expect((await callback(`code=x&state=${"a".repeat(43)}`)).status).toBe(400);
    const web = start({ oauth: true, iss: "https://other.example.test" });
    await using _ = await registerServer("mixed", web.url);
    expect((await logIn("mixed")).status).toBe(502);
    const begun = await request<{ authorization_url: string }>("POST", "/mixed/authorize");
    const state = new URL(begun.body.authorization_url).searchParams.get("state");
    expect((await callback(`error=access_denied&state=${state}`)).status).toBe(502);
    expect((await callback(`code=x&state=${state}`)).status).toBe(400);
    expect((await request("GET", "/mixed")).body.authorized).toBe(false);
  });

  test.each([
    ["an authorization page that is a program", { metadata: () => ({ authorization_endpoint: "file:///bin/sh" }) }],
    ["one with a script", { metadata: () => ({ authorization_endpoint: "javascript:alert(1)" }) }],
    ["one in plain http elsewhere", { metadata: () => ({ authorization_endpoint: "http://login.example.test/" }) }],
    ["an authorization server in a private network", { authorizationServer: "http://10.0.0.1" }],
    ["the metadata service of a cloud", { authorizationServer: "http://169.254.169.254" }],
    ["another issuer than its own", { metadata: () => ({ issuer: "https://other.example.test" }) }],
    ["no PKCE", { metadata: () => ({ code_challenge_methods_supported: ["plain"] }) }],
  ])("is refused with %s", async (_what, options: WebServerOptions) => {
    await using _ = await registerServer("evil", start({ oauth: true, ...options }).url);
    const { status, body } = await request<{ code: string }>("POST", "/evil/authorize");
    expect([status >= 400 && status !== 500, body.code]).toEqual([
      true,
      expect.stringMatching(/authorization_failed|address_refused/),
    ]);
  });

  test("asks for the scope that it wants, and for a wider one when a call lacks it", async () => {
    const web = start({ oauth: true, scope: "read" });
    await using _ = await registerServer("web", web.url);
    await when("web", ({ needs_authorization }) => needs_authorization);
    await logIn("web");
    await when("web", ({ status }) => status === "running");
    expect(await runAgent()).toContain("skep mcp authorize");
    // The server keeps working as far as its token allows, and reports what the token lacks.
    const lacking = await when("web", ({ needs_authorization }) => needs_authorization);
    expect(lacking.status).toBe("running");
    await logIn("web");
    await when("web", ({ status, needs_authorization }) => status === "running" && !needs_authorization);
    expect(await runAgent()).toBe("web answers:\n> hi");
    expect(web.scopes).toEqual(["read", "read write"]);
  });

  test("is logged in to with a client id that was registered by hand, whose secret is masked and stays here", async () => {
    const client = { id: "skep-at-work", secret: "s3cret-of-the-client-1234" };
    const web = start({ oauth: true, client });
    await using _ = await registerServer("byhand", web.url);
    expect((await request("POST", "/byhand/authorize")).status).toBe(502);
    const oauth = { client_id: client.id, client_secret: client.secret, issuer: web.origin };
    const { body } = await request("PUT", "/byhand", { oauth });
    expect(JSON.stringify(body)).not.toContain(client.secret);
    expect(readFileSync(join(server.data, "skep.db")).includes(client.secret)).toBe(false);
    // A client that is sent back as it was answered stays unchanged.
    expect((await request("PUT", "/byhand", { oauth: body.oauth! })).body.oauth).toEqual(body.oauth);
    expect((await logIn("byhand")).status).toBe(200);
    expect((await when("byhand", ({ status }) => status === "running")).authorized).toBe(true);
    web.expire();
    expect(await runAgent()).toBeUndefined();
    // A secret that nobody can read must not be sent to another authorization server either.
    const elsewhere = await request("PUT", "/byhand", {
      oauth: { ...body.oauth!, issuer: "https://evil.example.test" },
    });
    expect(elsewhere.status).toBe(422);
    // Tokens are dropped for another client; another address loses the client as well.
    expect((await request("PUT", "/byhand", { oauth: { ...oauth, client_id: "other" } })).body.authorized).toBe(false);
    expect((await request("PUT", "/byhand", { url: start().url })).body.oauth).toBeNull();
  });

  test("that names another authorization server than the client id was registered with is given no secret", async () => {
    const client = { id: "skep-at-work", secret: "s3cret-of-the-client-1234" };
    const web = start({ oauth: true, client });
    const oauth = { client_id: client.id, client_secret: client.secret, issuer: "https://login.example.test" };
    await using _ = await registerServer("moved", web.url, { oauth });
    const refused = await request<{ code: string }>("POST", "/moved/authorize");
    expect([refused.status, refused.body.code]).toEqual([502, "authorization_failed"]);
    expect(web.asked.filter((line) => /token$|authorize$/.test(line))).toEqual([]);
  });

  test.each([
    ["an issuer that is no address", { issuer: "nonsense" }],
    ["one in plain http elsewhere", { issuer: "http://login.example.test" }],
    ["no client id", { issuer: "https://login.example.test", client_id: "" }],
  ])("takes no client with %s", async (_what, part) => {
    const body = { id: "bad", transport: "http", url: "http://127.0.0.1:9/", oauth: { client_id: "x", ...part } };
    expect((await request("POST", "", body)).status).toBe(422);
  });

  test("finds the document that Skep's own client id leads to", async () => {
    const { status, body } = await server.request<Record<string, unknown>>("GET", "/v1/mcp/oauth/client.json");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      client_id: expect.stringMatching(/\/v1\/mcp\/oauth\/client\.json$/),
      redirect_uris: [expect.stringMatching(/\/v1\/mcp\/oauth\/callback$/)],
      token_endpoint_auth_method: "none",
    });
  });

  test("sends tokens to no other address", async () => {
    const web = start({ oauth: true });
    const other = start();
    await using _ = await registerServer("moving", web.url);
    await logIn("moving");
    await when("moving", ({ status }) => status === "running");
    expect((await request("PUT", "/moving", { url: other.url })).body.authorized).toBe(false);
    await when("moving", ({ status }) => status === "running");
    expect(other.asked.length).toBeGreaterThan(0);
    expect(other.asked.filter((line) => line.includes("with a token"))).toEqual([]);
  });
});
