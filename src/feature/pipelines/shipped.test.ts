/** A new server with what ships: the team, and every pipeline as a dry run without a key. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
