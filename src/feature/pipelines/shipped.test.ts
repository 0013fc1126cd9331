/** A new server with what ships: the team, and every pipeline as a dry run without a key. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parsePipeline } from "../../engine/pipeline/parse.ts";
import { TOOL_NAMES } from "../../engine/tool/names.ts";
import { SHIPPED_FILES } from "../../store/shipped-files.ts";
import { skep } from "../../testing/command.ts";
import { framesOf } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Agent } from "../agents/model.ts";
import type { Run } from "../runs/model.ts";
import type { Skill } from "../skills/model.ts";
import type { Pipeline } from "./model.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

const all = async <T>(what: string): Promise<T[]> =>
  (await server.request<{ items: T[] }>("GET", `/v1/${what}?limit=200`)).body.items;

describe("a new server", () => {
  test("has the team, with no problem in any file and every tool it names", async () => {
    const agents = await all<Agent>("agents");
    const interviewers = ["architecture", "intake", "product", "strategy"].map((phase) => `interviewer-${phase}`);
    expect(agents.map(({ id }) => id)).toEqual(
      ["architect", "engineer", "lead", "researcher", "reviewer", "scribe", ...interviewers].sort(),
    );
    for (const { id, problems, tools, config } of agents) {
      expect([id, problems]).toEqual([id, []]);
      const missing = config.tools?.filter((tool) => !tools.includes(tool));
      expect([id, missing]).toEqual([id, []]);
    }
  });

  test("has the tools for tasks that docs/tasks.md says", async () => {
    const agents = await all<Agent>("agents");
    const page = readFileSync(join(import.meta.dir, "../../../docs/tasks.md"), "utf8");
    const rows = [...page.matchAll(/^\| (`[a-z_`, ]+`) \|[^|]+\| ([a-z, ]+) \|$/gm)];
    expect(rows).toHaveLength(4);
    for (const [, tools = "", names = ""] of rows)
      for (const [, tool = ""] of tools.matchAll(/`([a-z_]+)`/g)) {
        const having = agents.filter(({ config }) => config.tools?.includes(tool)).map(({ id }) => id);
        expect([tool, having]).toEqual([tool, names.split(", ").toSorted()]);
      }
  });

  test("has the tools that agents' files may name, no more and no fewer", async () => {
    const body = { id: "ann", prompt: "You work.", tools: ["zzzzzzzzzzzz"] };
    const { body: refusal } = await server.request<{ detail: string }>("POST", "/v1/agents", { body });
    const [, list = ""] = /There are: (.*)\.$/.exec(refusal.detail) ?? [];
    expect(list.split(", ").sort()).toEqual([...TOOL_NAMES].sort());
    const near = await server.request<{ detail: string }>("POST", "/v1/agents", { body: { ...body, tools: ["bsh"] } });
    expect(near.body.detail).toBe('There is no tool "bsh". Did you mean bash?');
  });

  test("has schemas in its pipelines that hold the whole of each text", () => {
    for (const [file, text] of Object.entries(SHIPPED_FILES)) {
      if (!/^_pipelines\//.test(file)) continue;
      const { definition, problems } = parsePipeline(text);
      expect([file, problems]).toEqual([file, []]);
      // A text that ends in a quotation mark, or holds a comma, is whole.
      const schemas = JSON.stringify(definition?.steps.map((step) => "output_schema" in step && step.output_schema));
      expect([file, schemas.includes(":null")]).toEqual([file, false]);
    }
  });

  test("says in doctor, API and check which agent names a tool that there is not", async () => {
    const file = join(server.data, "agents/scribe/AGENT.md");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("tools: [ls,", "tools: [lss,"));
    const message = 'There is no tool "lss". Did you mean ls?';
    const loadProblems = async () => (await server.request<Agent>("GET", "/v1/agents/scribe")).body.problems;
    while ((await loadProblems()).length === 0) await Bun.sleep(50);
    expect(await loadProblems()).toMatchObject([{ pointer: "/tools/0", message }]);
    const { body } = await server.request<{ findings: { check: string; verdict: string; detail: string }[] }>(
      "GET",
      "/v1/doctor",
    );
    const finding = body.findings.find(({ check }) => check === "agents");
    expect(finding).toMatchObject({ verdict: "fail", detail: expect.stringContaining(message) });
    expect(await skep(["check", file])).toMatchObject({ code: 1, stdout: expect.stringContaining(message) });
    writeFileSync(file, text);
    while ((await loadProblems()).length > 0) await Bun.sleep(50);
  });

  test("has skills that every agent may load, and valid pipelines", async () => {
    const skills = await all<Skill>("skills");
    expect(skills.length).toBeGreaterThanOrEqual(9);
    expect(skills.flatMap(({ name, problems, enabled }) => (problems.length > 0 || !enabled ? [name] : []))).toEqual(
      [],
    );
    const [lead] = (await all<Agent>("agents")).filter(({ id }) => id === "lead");
    expect(lead?.skills).toEqual(skills.map(({ name }) => name));
    const pipelines = await all<Pipeline>("pipelines");
    expect(pipelines.map(({ id }) => id)).toEqual(["bugfix", "feature", "hello", "import-repository", "research"]);
    expect(pipelines.flatMap(({ id, valid }) => (valid ? [] : [id]))).toEqual([]);
  });
});

async function toItsEnd(pipeline_id: string): Promise<Run> {
  const body = { pipeline_id, task_description: `A dry run of ${pipeline_id}` };
  const { status, body: run } = await server.request<Run>("POST", "/v1/runs", { body });
  expect(status).toBe(201);
  for await (const { event } of framesOf(server, `/v1/events/stream?run_id=${run.id}&after=0`)) {
    if (event !== "approval_requested") continue;
    const answer = { step_id: "agree", approved: true, comment: "Continue." };
    expect((await server.request("POST", `/v1/runs/${run.id}/approve`, { body: answer })).status).toBe(200);
  }
  return (await server.request<Run>("GET", `/v1/runs/${run.id}`)).body;
}

describe("without a key", () => {
  test("every pipeline plays the built-in transcript to its end, and costs nothing", async () => {
    const ids = ["hello", "feature", "bugfix", "research", "import-repository"];
    const runs = await Promise.all(ids.map((id) => toItsEnd(id)));
    expect(runs.map(({ pipeline_id, status, error }) => [pipeline_id, status, error])).toEqual(
      ids.map((id) => [id, "succeeded", null]),
    );
    expect(runs.every(({ cost_usd, tokens }) => cost_usd === 0 && tokens > 0)).toBe(true);
    const greeting = join(server.data, "workspaces", runs[0]!.id, "HELLO.md");
    expect(existsSync(greeting)).toBe(true);
    expect(readFileSync(greeting, "utf8")).toContain("no AI was asked");
  }, 300_000);
});
