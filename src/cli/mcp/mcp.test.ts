/** `skep mcp` without a path: a running server on standard input and output, and its tool servers by verbs. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { skep } from "../../testing/command.ts";
import { skepCommand, startServer, type TestServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);
let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

const run = (...args: string[]) => skep(["mcp", "--url", server.url, ...args]);

describe("skep mcp", () => {
  test("passes requests on, and answers all of them before it ends with its input", async () => {
    const child = Bun.spawn(skepCommand("mcp", "--url", server.url), {
      env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    const ask = (id: number, method: string, params: object = {}) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } });
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    ask(2, "tools/list");
    ask(3, "tools/call", { name: "list_pipelines", arguments: {} });
    ask(4, "prompts/list");
    ask(5, "tools/call", { name: "get_run", arguments: { run_id: "run_none" } });
    child.stdin.end();
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect([await child.exited, err]).toEqual([0, ""]);
    const answers = new Map(
      out
        .trim()
        .split("\n")
        .map((line) => {
          const { id, result } = JSON.parse(line) as { id: number; result: Record<string, unknown> };
          return [id, JSON.stringify(result)] as const;
        }),
    );
    expect(answers.size).toBe(5);
    expect(answers.get(2)).toContain("start_run");
    expect(answers.get(3)).toContain("hello");
    expect(answers.get(4)).toContain("bugfix");
    expect(answers.get(5)).toContain("no such run");
  });

  test("without a server says how to start one", async () => {
    const { code, stderr } = await skep(["mcp", "--url", "http://127.0.0.1:9"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("does not answer as an MCP server")]);
  });
});

describe("skep mcp VERB", () => {
  test("adds, lists, grants, and says what is wrong", async () => {
    const added = await run(
      "add",
      "far",
      "https://far.example.test/mcp",
      "--header",
      "X-Key: aaaabbbbccccdddd",
      "--disabled",
    );
    expect([added.code, added.stdout]).toEqual([0, "far stopped; 0 tools; granted to nobody\n"]);
    const command = await run(
      "add",
      "near",
      "--image",
      "node:22",
      "--network",
      "none",
      "--disabled",
      "--",
      "npx",
      "-y",
      "x",
    );
    expect(command.code).toBe(0);
    expect((await run("grant", "far", "scribe", "lead")).stdout).toContain("granted to scribe, lead");
    expect((await run("revoke", "far", "scribe")).stdout).toContain("granted to lead");
    expect((await run("grant", "near", "all")).stdout).toContain("granted to all agents");
    const list = await run("list");
    expect(list.stdout).toContain("https://far.example.test/mcp");
    expect(list.stdout).not.toContain("aaaabbbb");
    expect((await run("show", "near", "--json")).stdout).toContain('"args":["-y","x"]');
    expect(await run("add", "bad", "--", "sh", "-c", "x")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("runs in a container"),
    });
    expect(await run("approve", "far", "nothing")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no such tool"),
    });
    expect(await run("add", "bad", "https://a.example.test", "--header", "nonsense")).toMatchObject({ code: 2 });
    expect((await run("logs", "far")).code).toBe(0);
    expect((await run("delete", "near", "--yes")).stdout).toContain("deleted tool server near");
  });
});
