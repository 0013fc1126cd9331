/** Real tool servers from npm and one that misbehaves, in containers, used by an agent over the running server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DockerClient } from "../../adapter/docker.ts";
import { dockerForTests } from "../../testing/docker-image.ts";
import { framesOf } from "../../testing/event-reader.ts";
import { inImage, mcpImage } from "../../testing/mcp/image.ts";
import { mcpServerWhen } from "../../testing/mcp/wait.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { McpServer } from "./model.ts";

const docker = await dockerForTests(process.env);
const call = (tool: string, input: object = {}) => ({ tool_calls: [{ tool, input }] });
/** The calls that the scripted agent of this name makes, one per reply. */
const PLAYS: Record<string, object[]> = {
  scribe: [
    call("memo__create_entities", { entities: [{ name: "Ada", entityType: "person", observations: ["counts"] }] }),
    call("files__write_file", { path: "/data/a.txt", content: "from the agent" }),
    call("files__read_text_file", { path: "/data/a.txt" }),
    call("ref__echo", { message: "hello" }),
    call("think__sequentialthinking", { thought: "so", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }),
    call("odd__forge"),
    call("odd__fails"),
    call("odd__say", { text: "the value is tok-1234567890abcdef" }),
    call("remember", { title: "Seen", content: "What the tools said." }),
    call("complete", { outputs: "{{ outputs }}", summary: "used them all" }),
  ],
  // One server after another misbehaves, and the others are used in between.
  reviewer: [
    call("odd__garbage"),
    call("odd__long", { mb: 60 }),
    call("ref__echo", { message: "between" }),
    call("odd__hang"),
    call("odd__say", { text: "after the hang" }),
    call("odd__fork"),
    call("odd__crash"),
    call("files__list_directory", { path: "/data" }),
    call("complete", { outputs: "{{ outputs }}", summary: "all of them" }),
  ],
  researcher: [
    call("ref__echo", { message: "not mine" }),
    call("complete", { outputs: "{{ outputs }}", summary: "none" }),
  ],
};

/** Seconds within which a server answers, even with 60 MB. After two later answers it would be restarted. */
const ANSWER_S = 30;

describe.skipIf(!docker)("tool servers in containers", () => {
  const engine = docker as DockerClient;
  let server: TestServer;
  let image: string;
  const folder = mkdtempSync(join(tmpdir(), "skep-mcp-"));
  beforeAll(async () => {
    image = await mcpImage(engine);
    const script = join(folder, "script.json");
    writeFileSync(script, JSON.stringify({ version: 1, agents: PLAYS }));
    server = await startServer({ env: { DEMO_SCRIPT: script, DOCKER_HOST: engine.address, SANDBOX: "auto" } });
    for (const body of [
      { id: "ref", ...inImage("everything"), timeout_ms: ANSWER_S * 1_000 },
      { id: "files", ...inImage("filesystem", "/data"), network: "none" },
      { id: "memo", ...inImage("memory"), env: { MEMORY_FILE_PATH: "/data/memory.jsonl" }, network: "none" },
      { id: "think", ...inImage("sequential-thinking"), network: "none" },
      {
        id: "odd",
        ...inImage("odd", "--malformed"),
        env: { TOKEN: "tok-1234567890abcdef" },
        timeout_ms: ANSWER_S * 1_000,
        network: "none",
      },
    ])
      expect(
        await request("POST", "", { transport: "stdio", image, agents: ["scribe", "reviewer"], ...body }),
      ).toMatchObject({
        status: 201,
      });
  }, 300_000);
  afterAll(async () => {
    const rows = await engine.containers.list(["skep.mcp_server"]);
    const own = rows.filter(({ labels }) => labels["skep.instance"] === instance);
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
    const left = await engine.containers.list(["skep.mcp_server"]);
    expect(left.filter(({ id }) => own.some((one) => one.id === id))).toEqual([]);
  });
  let instance = "";
  const request = <T = McpServer>(method: string, path: string, body?: object) =>
    server.request<T>(method, `/v1/mcp${path}`, body ? { body } : {});
  const running = (id: string) => mcpServerWhen(server, id, ({ status }) => status === "running");
  const stateOf = (state: McpServer, tool: string) => state.tools.find(({ name }) => name === tool)?.state;

  /** Lets the agent work. @returns its calls by tool. */
  async function work(agent: string): Promise<Map<string, { ok: boolean; output: string }>> {
    const spawned = await server.request<{ session_id: string }>("POST", "/v1/spawn-executor/execute", {
      body: { agent_id: agent, prompt: "use them" },
    });
    const { session_id } = spawned.body;
    const calls = new Map<string, { ok: boolean; output: string }>();
    for await (const { event, data } of framesOf(server, `/v1/events/stream?session_id=${session_id}`)) {
      if (event === "tool_call_end") {
        const { tool, ok, output } = (data["data"] ?? data) as { tool: string; ok: boolean; output: string };
        calls.set(tool, { ok, output });
      }
      if (event === "session_ended") return calls;
    }
    throw new Error("the stream ended");
  }

  test("four from npm and an odd one run side by side, and an agent uses their tools", async () => {
    for (const id of ["ref", "files", "memo", "think", "odd"]) await running(id);
    const rows = await engine.containers.list(["skep.mcp_server=files"]);
    instance = rows[0]!.labels["skep.instance"]!;
    const calls = await work("scribe");
    expect(Object.fromEntries([...calls].map(([tool, { ok }]) => [tool, ok]))).toMatchObject({
      memo__create_entities: true,
      files__write_file: true,
      files__read_text_file: true,
      ref__echo: true,
      think__sequentialthinking: true,
      odd__forge: true,
      odd__fails: false,
      odd__say: true,
      complete: true,
    });
    expect(calls.get("files__read_text_file")?.output).toContain("> from the agent");
    // A server's text is quoted, line by line, and holds no secret.
    expect(
      calls
        .get("odd__forge")
        ?.output.split("\n")
        .slice(1)
        .every((line) => line.startsWith(">")),
    ).toBe(true);
    expect(calls.get("odd__say")?.output).not.toContain("tok-1234567890abcdef");
    // Everything that the agent stores afterwards counts as outside text until a person confirms it.
    const note = await server.request("GET", "/v1/memory/vaults/scribe/entries/note%2Fseen");
    expect(note.body).toMatchObject({
      trusted: false,
      origin: { outside: expect.stringContaining("memo__create_entities") },
    });
  }, 300_000);

  test("garbage, 60 MB, a hang and a crash of one cost the others nothing, and it comes back", async () => {
    const calls = await work("reviewer");
    expect(Object.fromEntries([...calls].map(([tool, { ok }]) => [tool, ok]))).toEqual({
      odd__garbage: true,
      odd__long: false,
      ref__echo: true,
      odd__hang: false,
      odd__say: true,
      odd__fork: true,
      odd__crash: false,
      files__list_directory: true,
      complete: true,
    });
    expect(calls.get("odd__long")?.output).toContain("more than the 4194304");
    expect(calls.get("odd__hang")?.output).toContain(`no answer within ${ANSWER_S} s`);
    await running("odd");
    expect(await engine.containers.list([`skep.instance=${instance}`, "skep.mcp_server=odd"])).toHaveLength(1);
  }, 300_000);

  test("an agent without a grant has none of them", async () => {
    const calls = await work("researcher");
    // The scripted model gives up if the tool that it should call is not offered.
    expect([...calls.keys()]).toEqual(["fail"]);
    const agent = (id: string) => server.request<{ tools: string[] }>("GET", `/v1/agents/${id}`);
    expect((await agent("scribe")).body.tools).toContain("ref__echo");
    expect((await agent("researcher")).body.tools).not.toContain("ref__echo");
  }, 300_000);

  test("a malformed tool does not affect the others", async () => {
    const state = await running("odd");
    for (const tool of ["no_schema", "bad_schema", "bad_pattern", "endless"])
      expect([tool, stateOf(state, tool)]).toEqual([tool, "unusable"]);
    expect(stateOf(state, "say")).toBe("ready");
  });

  test("its container is locked down", async () => {
    const [row] = await engine.containers.list([`skep.instance=${instance}`, "skep.mcp_server=files"]);
    const { Config, HostConfig } = await engine.containers.inspect(row!.id);
    expect(Config.User).toBe("10001:10001");
    expect(HostConfig).toMatchObject({
      CapDrop: ["ALL"],
      ReadonlyRootfs: true,
      NetworkMode: "none",
      Privileged: false,
      PidsLimit: 512,
    });
    expect(Config.Env?.map((one: string) => one.split("=")[0]).sort()).toEqual(["HOME", "LANG", "PATH"]);
  });
});
