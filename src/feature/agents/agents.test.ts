import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { AgentDetail, PermissionPreview, ToolOverride } from "./model.ts";

let server: TestServer;
const pathOf = (path: string) => join(server.data, "agents", path);
function put(path: string, text: string): void {
  mkdirSync(dirname(pathOf(path)), { recursive: true });
  writeFileSync(pathOf(path), text);
}
const ANN = `---
# our first
name: Ann
role: tester
emoji: 🧪
description: Tests things
max_turns: 7 # enough
---

You are Ann.
`;

beforeAll(async () => {
  server = await startServer();
  put("ann/AGENT.md", ANN);
});
afterAll(() => server.remove());

const get = (id: string) => server.request<AgentDetail>("GET", `/v1/agents/${id}`);
const configure = (id: string, body: Record<string, unknown>, headers = {}) =>
  server.request<AgentDetail>("PUT", `/v1/agents/${id}/config`, { body, headers });

describe("agents", () => {
  test("an agent is its file, with defaults filled in and its counts", async () => {
    const { status, body } = await get("ann");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: "ann",
      name: "Ann",
      role: "tester",
      emoji: "🧪",
      model: null,
      enabled: true,
      prompt: "You are Ann.",
      status: "idle",
      counts: { runs: 0, memories: 0, secrets: 0 },
      problems: [],
      source_file: "ann/AGENT.md",
    });
    expect(body.config).toMatchObject({ max_turns: 7, network: "none", thinking_level: "off", temperature: null });
    expect(body.tools).toContain("bash");
    const list = await server.request<{ items: AgentDetail[] }>("GET", "/v1/agents");
    const listed = list.body.items.find((agent) => agent.id === "ann");
    expect(listed).toMatchObject({ name: "Ann" });
    expect(listed).not.toHaveProperty("prompt");
    expect((await server.request("GET", "/v1/agents/ann/runs")).body).toEqual({ items: [], next_cursor: null });
  });

  test("what its file leaves open follows the instance's settings", async () => {
    const before = (await get("ann")).body.config;
    const change = (limits: Record<string, unknown>, sandbox: Record<string, unknown>) =>
      server.request("PUT", "/v1/settings", { body: { limits, sandbox } });
    expect((await change({ max_turns: 33, timeout_seconds: 777 }, { memory_mb: 2048, cpus: 2 })).status).toBe(200);
    expect((await get("ann")).body.config).toMatchObject({
      max_turns: 7,
      timeout_seconds: 777,
      memory_mb: 2048,
      cpus: 2,
    });
    const { max_turns: _own, timeout_seconds, memory_mb, cpus } = before;
    await change({ max_turns: 50, timeout_seconds }, { memory_mb, cpus });
    expect((await get("ann")).body.config).toEqual(before);
  });

  test("configuring writes the file, keeps its comments, and null brings a default back", async () => {
    const changed = await configure("ann", {
      model: "ollama/qwen3",
      max_turns: 9,
      network: "bridge",
      temperature: 0.5,
    });
    expect(changed.status).toBe(200);
    expect(changed.body.config).toMatchObject({ model: "ollama/qwen3", max_turns: 9, network: "bridge" });
    const text = readFileSync(pathOf("ann/AGENT.md"), "utf8");
    for (const part of ["# our first", "# enough", "max_turns: 9", "You are Ann."]) expect(text).toContain(part);
    const back = await configure("ann", { model: null, max_turns: null, network: null, temperature: null });
    expect(back.body.config).toMatchObject({ model: null, network: "none", temperature: null });
    expect(readFileSync(pathOf("ann/AGENT.md"), "utf8")).not.toContain("max_turns");
  });

  test.each([
    ["a model without provider", { model: "qwen3" }],
    ["an unknown thinking level", { thinking_level: "deep" }],
    ["a temperature too high", { temperature: 3 }],
    ["no turns", { max_turns: 0 }],
    ["too many turns", { max_turns: 1_000_000 }],
    ["no time", { timeout_seconds: 0 }],
    ["an unknown tool", { tools: ["bash", "teleport"] }],
    ["an image that is an option", { image: "--privileged" }],
    ["a label that no host has", { host_labels: ["gpu"] }],
    ["the host's network", { network: "host" }],
    ["no memory", { memory_mb: 1 }],
    ["no processor", { cpus: 0 }],
    ["a budget below nothing", { budget_usd_per_run: -1 }],
    ["a switch that is a text", { pulse_enabled: "yes" }],
    ["an empty prompt", { prompt: "  " }],
  ])("refuses %s and leaves the file alone", async (_what, body) => {
    const before = readFileSync(pathOf("ann/AGENT.md"), "utf8");
    expect((await configure("ann", body)).status).toBe(422);
    expect(readFileSync(pathOf("ann/AGENT.md"), "utf8")).toBe(before);
  });

  test("what GET shows may be sent back; ids and owners in it have no effect", async () => {
    const { body: shown } = await get("ann");
    const { status, body } = await configure("ann", { ...shown, id: "eve", status: "working", source_file: "/x" });
    expect([status, body.id, body.status]).toEqual([200, "ann", "idle"]);
    const text = readFileSync(pathOf("ann/AGENT.md"), "utf8");
    for (const word of ["eve", "source_file", "working"]) expect(text).not.toContain(word);
    const raw = '{"__proto__":{"name":"polluted"},"description":"fine"}';
    const headers = { "Content-Type": "application/json" };
    expect(await server.request("PUT", "/v1/agents/ann/config", { body: raw, headers })).toMatchObject({ status: 422 });
    expect((await get("ann")).body.name).toBe("Ann");
  });

  test.each([
    ["max_turn", { max_turn: 5 }, "max_turn is not known."],
    ["config", { config: { max_turns: 5 } }, "The fields of config stand beside it, not in it"],
  ])("a field that would have no effect is refused: %s", async (name, body, words) => {
    const before = readFileSync(pathOf("ann/AGENT.md"), "utf8");
    const answer = await server.request("PUT", "/v1/agents/ann/config", { body: { ...body, description: "changed" } });
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: `/${name}` }] } });
    expect(String(answer.body["detail"])).toContain(words);
    expect(readFileSync(pathOf("ann/AGENT.md"), "utf8")).toBe(before);
  });

  test("the entity tag follows the file: an edit on disk makes an older one fail with 412", async () => {
    const tag = (await get("ann")).headers.get("etag")!;
    expect((await configure("ann", { role: "one" }, { "If-Match": tag })).status).toBe(200);
    expect((await configure("ann", { role: "two" }, { "If-Match": tag })).status).toBe(412);
    const now = (await get("ann")).headers.get("etag")!;
    writeFileSync(pathOf("ann/AGENT.md"), `${readFileSync(pathOf("ann/AGENT.md"), "utf8")}more\n`);
    expect((await configure("ann", { role: "three" }, { "If-Match": now })).status).toBe(412);
    expect((await get("ann")).body).toMatchObject({ role: "one", prompt: "You are Ann.\nmore" });
  });

  test("a broken file is an agent with problems that name the line; mending it on disk counts at once", async () => {
    put("bad/AGENT.md", "---\nname: Bad\nmax_turns: many\nunknown_key: 1\n---\nYou are bad.\n");
    put("worse/AGENT.md", "---\nname: [\n---\nYou are worse.\n");
    const bad = (await get("bad")).body;
    expect(bad.problems.map((problem) => problem.line).sort()).toEqual([3, 4]);
    expect(bad.name).toBe("Bad");
    expect((await get("worse")).body.problems).not.toEqual([]);
    expect((await configure("worse", { role: "x" })).status).toBe(409);
    expect((await configure("bad", { max_turns: 5 })).body.problems).toHaveLength(1);
    put("worse/AGENT.md", "---\nname: Better\n---\nYou are better.\n");
    expect((await get("worse")).body).toMatchObject({ name: "Better", problems: [] });
    for (const id of ["bad", "worse"]) rmSync(pathOf(id), { recursive: true });
    expect((await get("bad")).status).toBe(404);
  });

  test("agents are created and deleted; ids that are taken, reserved or not slugs are refused", async () => {
    const create = (body: Record<string, unknown>) => server.request<AgentDetail>("POST", "/v1/agents", { body });
    const made = await create({ id: "carl", name: "Carl", prompt: "You are Carl.", max_turns: 3, description: null });
    expect([made.status, made.headers.get("location")]).toEqual([201, "/v1/agents/carl"]);
    expect(made.body).toMatchObject({
      name: "Carl",
      prompt: "You are Carl.",
      config: { max_turns: 3 },
      description: "",
    });
    expect((await create({ id: "carl", prompt: "x" })).status).toBe(409);
    for (const id of ["settings", "", "A", "../x", "_skills", "a/b"])
      expect([id, (await create({ id, prompt: "x" })).status]).toEqual([id, 422]);
    expect((await create({ id: "empty" })).status).toBe(422);
    const secret = await server.request("POST", "/v1/secrets", { body: { name: "OF_CARL", value: "value-of-carl" } });
    await server.request("POST", `/v1/secrets/${secret.body["id"]}/grant/carl`);
    expect((await get("carl")).body.counts.secrets).toBe(1);
    expect((await server.request("DELETE", "/v1/agents/carl")).status).toBe(204);
    expect((await server.request("DELETE", "/v1/agents/carl")).status).toBe(404);
    const left = await server.request<{ items: { name: string; granted_agents: string[] }[] }>("GET", "/v1/secrets");
    expect(left.body.items.find((one) => one.name === "OF_CARL")?.granted_agents).toEqual([]);
  });

  test("links that lead out are not agents", async () => {
    symlinkSync("/etc", pathOf("etc"));
    mkdirSync(pathOf("linked"));
    symlinkSync("/etc/passwd", pathOf("linked/AGENT.md"));
    expect([(await get("etc")).status, (await get("linked")).status]).toEqual([404, 404]);
  });
});

describe("tool overrides", () => {
  const path = "/v1/agent-tools/ann";
  const list = async () => (await server.request<{ items: ToolOverride[] }>("GET", path)).body.items;

  test("an override wins over the agent's own list, both ways, and its removal brings the list back", async () => {
    await configure("ann", { tools: ["read", "write"] });
    expect((await get("ann")).body.tools.sort()).toEqual(["read", "write"]);
    const off = await server.request<ToolOverride>("PUT", `${path}/write`, { body: { enabled: false } });
    expect(off.body).toMatchObject({ agent_id: "ann", tool: "write", enabled: false, updated_by: "local" });
    await server.request("PUT", `${path}/bash`, { body: { enabled: true } });
    expect((await get("ann")).body.tools.sort()).toEqual(["bash", "read"]);
    expect((await list()).map((one) => [one.tool, one.enabled])).toEqual([
      ["bash", true],
      ["write", false],
    ]);
    expect((await server.request("DELETE", `${path}/write`)).status).toBe(204);
    expect((await server.request("DELETE", `${path}/write`)).status).toBe(404);
    expect((await get("ann")).body.tools.sort()).toEqual(["bash", "read", "write"]);
  });

  test("an unknown tool, an unknown agent and an empty body are refused", async () => {
    const set = (where: string, body: unknown) => server.request("PUT", `/v1/agent-tools/${where}`, { body });
    expect((await set("ann/teleport", { enabled: true })).status).toBe(404);
    expect((await set("nobody/bash", { enabled: true })).status).toBe(404);
    expect((await set("ann/bash", {})).status).toBe(422);
    expect((await server.request("GET", "/v1/agent-tools/nobody")).status).toBe(404);
  });
});

describe("what permission rules say of a call that nobody makes", () => {
  const RULES = [
    { deny: { tool: "edit", path: ".github/**" } },
    { ask: { tool: "bash", matches: "git push*" } },
    { deny: ["bash", "complete"] },
  ];
  const ask = (body: object) =>
    server.request<PermissionPreview>("POST", "/v1/agents/ruled/permissions/preview", { body });
  beforeAll(async () => {
    const body = { id: "ruled", prompt: "You work.", permissions: RULES, tools: ["edit", "bash"] };
    expect((await server.request("POST", "/v1/agents", { body })).status).toBe(201);
  });

  test.each([
    [
      { tool: "edit", path: ".github/workflows/ci.yml" },
      "deny",
      1,
      "Refused: rule 1 decides, deny edit: path .github/**.",
    ],
    [{ tool: "edit", path: "src/a.ts" }, "allow", null, "Allowed: no rule matches."],
    [{ tool: "bash", command: "make && git push origin" }, "deny", 3, "Refused: rule 3 decides, deny bash, complete."],
    [{ tool: "bash", command: "git push origin" }, "ask", 2, "A person is asked: rule 2 decides, ask bash: git push*."],
    [{ tool: "complete" }, "allow", null, "Allowed: no rule binds what ends the work."],
    [{ tool: "write" }, "allow", null, "Allowed: no rule matches. The agent does not have this tool now."],
  ])("%j: %s", async (call, effect, position, message) => {
    const { status, body } = await ask(call);
    expect([status, body.message]).toEqual([200, message]);
    expect(body).toMatchObject({ effect, position });
  });

  test("rules that are not saved yet are tried, and nothing is changed; what is no tool or no rule is said", async () => {
    const { body } = await ask({ tool: "edit", path: ".github/x", permissions: [{ allow: "*" }] });
    expect(body).toMatchObject({ effect: "allow", position: 1, rule: "allow *" });
    expect((await get("ruled")).body.config.permissions).toEqual(RULES);
    const wrong = await server.request<{ errors: { pointer: string; message: string }[] }>(
      "POST",
      "/v1/agents/ruled/permissions/preview",
      { body: { tool: "edit", permissions: [{ deny: "edt" }] } },
    );
    expect([wrong.status, wrong.body.errors]).toEqual([
      422,
      [{ pointer: "/permissions/0/deny", message: expect.stringContaining("Did you mean edit?") }],
    ]);
    expect((await ask({ tool: "edt" })).status).toBe(422);
    expect(
      (await server.request("POST", "/v1/agents/nobody/permissions/preview", { body: { tool: "edit" } })).status,
    ).toBe(404);
  });
});
