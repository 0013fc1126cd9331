/** Runs and steps over HTTP: every route, its refusals, and what a user sees while a run progresses. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { HistoryItem, Run, RunDetail, Step, StepOutput } from "./model.ts";

const SCRIPT = `
version: 1
steps:
  write:
    - text: I write it.
      tool_calls: [{ tool: write, input: { path: a.txt, content: hello } }]
    - tool_calls: [{ tool: complete, input: { outputs: { path: a.txt }, summary: "Wrote a.txt" } }]
  check:
    - tool_calls: [{ tool: read, input: { path: a.txt } }]
    - tool_calls: [{ tool: complete, input: { outputs: { verdict: good }, summary: "It is good" } }]
  slow:
    - tool_calls: [{ tool: bash, input: { command: sleep 600 } }]
  broken:
    - tool_calls: [{ tool: fail, input: { reason: "it cannot be done" } }]
default:
  - tool_calls: [{ tool: complete, input: { outputs: {}, summary: "done" } }]
`;
const step = (id: string, more: Record<string, unknown> = {}) => ({ id, agent: "ann", input: `Do ${id}`, ...more });
const PIPELINES = {
  two: [
    step("write", { outputs: ["path"], input: "Write {{ task_description }} for {{ inputs.who }}" }),
    step("check", { outputs: ["verdict"], input: "Check {{ steps.write.outputs.path }}" }),
  ],
  asks: [step("before"), { id: "ok", approval: { message: "Continue?" } }, step("after")],
  stuck: [step("slow"), step("last")],
  fails: [step("first"), step("broken"), step("last")],
};

let server: TestServer;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "skep-runs-"));
  writeFileSync(join(folder, "script.yml"), SCRIPT);
  server = await startServer({
    env: { DEMO_SCRIPT: join(folder, "script.yml"), ALLOW_HOST_SHELL: "true" },
  });
  const agent = await server.request("POST", "/v1/agents", { body: { id: "ann", name: "Ann", prompt: "Work." } });
  expect(agent.status).toBe(201);
  for (const [id, steps] of Object.entries(PIPELINES)) {
    const inputs = id === "two" ? { who: { description: "For whom", required: true } } : {};
    const body = { id, name: id, defaults: { model: "demo/scripted" }, inputs, steps };
    expect((await server.request("POST", "/v1/pipelines", { body })).status).toBe(201);
  }
});
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

const start = async (pipeline_id: string, more: Record<string, unknown> = {}) => {
  const inputs = pipeline_id === "two" ? { inputs: { who: "me" } } : {};
  const made = await server.request<Run>("POST", "/v1/runs", {
    body: { pipeline_id, task_description: "a letter", ...inputs, ...more },
  });
  expect(made.status).toBe(201);
  expect(made.headers.get("location")).toBe(`/v1/runs/${made.body.id}`);
  return made.body.id;
};
const get = async (id: string) => (await server.request<RunDetail>("GET", `/v1/runs/${id}`)).body;
const steps = async (id: string) => (await server.request<{ items: Step[] }>("GET", `/v1/steps/${id}`)).body.items;

/** Reads the run's events, from its first, until one of these kinds; returns them all. */
async function until(id: string, ...kinds: string[]): Promise<{ kind: string; data: Record<string, unknown> }[]> {
  type Event = { kind: string; data: Record<string, unknown> };
  const frames = framesOf<Event>(server, `/v1/events/stream?run_id=${id}&after=0`);
  return (await framesUntil(frames, ({ data: { kind } }) => kinds.includes(kind))).map(({ data }) => data);
}
const ENDS = ["run_complete", "run_failed", "run_cancelled"];
const waitForEnd = async (id: string) => {
  await until(id, ...ENDS);
  return get(id);
};

describe("runs", () => {
  test("a run goes through its steps to its outputs, and every route shows it so", async () => {
    const id = await start("two", { human_context: "Be short." });
    const kinds = (await until(id, ...ENDS)).map(({ kind }) => kind);
    expect(kinds[0]).toBe("run_created");
    expect(kinds.filter((kind) => kind.startsWith("step_"))).toEqual([
      "step_queued",
      "step_started",
      "step_complete",
      "step_queued",
      "step_started",
      "step_complete",
    ]);
    expect(kinds.filter((kind) => kind === "llm_call")).toHaveLength(4);
    const run = await get(id);
    expect(run).toMatchObject({
      pipeline_id: "two",
      task_description: "a letter",
      human_context: "Be short.",
      status: "succeeded",
      inputs: { who: "me" },
      error: null,
      outputs: { check: { verdict: "good" } },
      cost_usd: 0,
      restarted_from: null,
    });
    expect(run.tokens).toBeGreaterThan(0);
    const [listed] = (await server.request<{ items: object[] }>("GET", "/v1/runs?limit=1&pipeline_id=two")).body.items;
    expect(listed).not.toHaveProperty("inputs");
    expect(Date.parse(run.finished_at!)).toBeGreaterThanOrEqual(Date.parse(run.started_at!));
    const [write, check] = await steps(id);
    expect(write).toMatchObject({ step_id: "write", agent_id: "ann", status: "succeeded", attempt: 1, run_id: id });
    expect(write!.inputs["input"]).toBe("Write a letter for me");
    expect(check!.inputs["input"]).toBe("Check a.txt");
    expect((await server.request("GET", `/v1/steps/${id}/write`)).body).toEqual(write as never);
    expect((await server.request("GET", `/v1/steps/${id}/${write!.id}`)).body).toEqual(write as never);
    const output = await server.request<StepOutput>("GET", `/v1/steps/${id}/write/output`);
    expect(output.body).toMatchObject({ text: "Wrote a.txt", outputs: { path: "a.txt" }, status: "succeeded" });
    const text = await server.request("GET", `/v1/steps/${id}/write/output`, { headers: { Accept: "text/plain" } });
    expect(text.body as unknown).toBe("Wrote a.txt");
    const history = await server.request<{ items: HistoryItem[] }>(
      "GET",
      "/v1/internal/run-history?agent_id=ann&status=succeeded",
    );
    expect(history.body.items.find(({ run_id }) => run_id === id)).toMatchObject({
      outputs: { check: { verdict: "good" } },
      steps: [{ step_id: "write" }, { step_id: "check" }],
    });
    const ofAgent = await server.request<{ items: { run_id?: string; id?: string }[] }>("GET", "/v1/agents/ann/runs");
    expect(JSON.stringify(ofAgent.body.items)).toContain(id);
  });

  test("a request that cannot become a run says which field and why, and makes nothing", async () => {
    const before = (await server.request<{ items: Run[] }>("GET", "/v1/runs?limit=200")).body.items.length;
    const tryCreate = async (body: Record<string, unknown>) => {
      const { status, body: problem } = await server.request("POST", "/v1/runs", { body });
      return [status, JSON.stringify(problem)] as const;
    };
    const task = { task_description: "x" };
    for (const [body, status, says] of [
      [{ ...task }, 422, "/pipeline_id"],
      [{ pipeline_id: "two" }, 422, "/task_description"],
      [{ pipeline_id: "two", task_description: "" }, 422, "/task_description"],
      [{ pipeline_id: "nope", ...task }, 404, "pipeline"],
      [{ pipeline_id: "../two", ...task }, 404, "pipeline"],
      [{ pipeline_id: "two", ...task }, 422, "/inputs/who"],
      [{ pipeline_id: "two", ...task, inputs: { who: "me", other: "x" } }, 422, "/inputs/other"],
      [{ pipeline_id: "fails", ...task, project_name: "nowhere" }, 404, "project"],
      [{ pipeline_id: "fails", ...task, model: "no-such" }, 422, "/model"],
      [{ pipeline_id: "fails", ...task, model: "nobody/x" }, 422, "/model"],
    ] as const) {
      const [got, problem] = await tryCreate(body);
      expect([JSON.stringify(body), got]).toEqual([JSON.stringify(body), status]);
      expect(problem).toContain(says);
    }
    expect((await server.request<{ items: Run[] }>("GET", "/v1/runs?limit=200")).body.items).toHaveLength(before);
  });

  test("the same Idempotency-Key makes one run", async () => {
    const post = () =>
      server.request<Run>("POST", "/v1/runs", {
        body: { pipeline_id: "fails", task_description: "once" },
        headers: { "Idempotency-Key": "runs-test-1" },
      });
    const [one, two] = [await post(), await post()];
    expect(two.body.id).toBe(one.body.id);
    await waitForEnd(one.body.id);
  });

  test("a failed step fails the run with its reason; a restart continues from there, or from the step that is named", async () => {
    const id = await start("fails");
    const run = await waitForEnd(id);
    expect(run).toMatchObject({
      status: "failed",
      error: { code: "agent_failed", message: "it cannot be done", step_id: "broken" },
    });
    expect((await steps(id)).map(({ step_id, status }) => [step_id, status])).toEqual([
      ["first", "succeeded"],
      ["broken", "failed"],
      ["last", "cancelled"],
    ]);
    expect((await server.request("POST", `/v1/runs/${id}/restart`, { body: { from_step: "none" } })).status).toBe(422);
    const again = await server.request<Run>("POST", `/v1/runs/${id}/restart`);
    expect([again.status, again.body.restarted_from]).toEqual([202, "broken"]);
    while (ENDS.every((kind) => kind !== "") && (await get(id)).status === "running") await Bun.sleep(10);
    const whole = await server.request<Run>("POST", `/v1/runs/${id}/restart`, {
      body: { from_step: "first", human_context: "try harder" },
    });
    expect(whole.body).toMatchObject({ restarted_from: "first", human_context: "try harder" });
    while ((await get(id)).status === "running") await Bun.sleep(10);
    const firsts = (await steps(id)).filter(({ step_id }) => step_id === "first").map(({ attempt }) => attempt);
    expect(firsts).toEqual([1, 2]);
  });

  test("a run that succeeded continues from a named step, with the guidance given", async () => {
    const id = await start("two");
    await until(id, "run_complete");
    const plain = await server.request<{ code: string }>("POST", `/v1/runs/${id}/restart`);
    expect([plain.status, plain.body.code]).toEqual([409, "run_succeeded"]);
    const [last] = (await steps(id)).slice(-1);
    const body = { from_step: last!.step_id, human_context: "Shorter, please." };
    const again = await server.request<Run>("POST", `/v1/runs/${id}/restart`, { body });
    expect([again.status, again.body.status, again.body.restarted_from]).toEqual([202, "running", last!.step_id]);
    while ((await get(id)).status === "running") await Bun.sleep(10);
    expect(await get(id)).toMatchObject({ status: "succeeded", human_context: "Shorter, please." });
    expect((await steps(id)).filter(({ step_id }) => step_id === last!.step_id)).toHaveLength(2);
  });

  test("cancel stops a running step, once; a run that has ended is not cancelled", async () => {
    const id = await start("stuck");
    await until(id, "tool_call_start");
    expect((await server.request("POST", `/v1/runs/${id}/cancel`)).status).toBe(202);
    expect((await waitForEnd(id)).status).toBe("cancelled");
    expect((await steps(id)).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
    const twice = await server.request("POST", `/v1/runs/${id}/cancel`);
    expect([twice.status, twice.body["code"]]).toEqual([409, "run_ended"]);
    expect((await server.request("POST", `/v1/runs/${id}/restart`)).status).toBe(202);
    expect((await server.request("POST", `/v1/runs/${id}/cancel`)).status).toBe(202);
  });

  test("an approval waits for a person; yes continues, no fails, and nobody answers twice", async () => {
    const yes = await start("asks");
    await until(yes, "approval_requested");
    expect((await get(yes)).status).toBe("waiting");
    const answer = (id: string, body: Record<string, unknown>) =>
      server.request<Run>("POST", `/v1/runs/${id}/approve`, { body });
    expect((await answer(yes, { step_id: "nope", approved: true })).status).toBe(404);
    expect((await answer(yes, { step_id: "before", approved: true })).status).toBe(409);
    expect((await answer(yes, { step_id: "ok" })).status).toBe(422);
    expect((await answer(yes, { step_id: "ok", approved: true, comment: "fine" })).status).toBe(200);
    expect((await waitForEnd(yes)).status).toBe("succeeded");
    expect((await answer(yes, { step_id: "ok", approved: false })).status).toBe(409);
    const no = await start("asks");
    await until(no, "approval_requested");
    expect((await answer(no, { step_id: "ok", approved: false, comment: "not yet" })).status).toBe(200);
    expect(await waitForEnd(no)).toMatchObject({ status: "failed", error: { code: "rejected", message: "not yet" } });
  });

  test("lists come newest first, in pages that miss and repeat nothing, and take every filter", async () => {
    const made = [await start("fails"), await start("fails"), await start("fails")];
    for (const id of made) await waitForEnd(id);
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: { body: { items: Run[]; next_cursor: string | null } } = await server.request(
        "GET",
        `/v1/runs?limit=2&pipeline_id=fails${cursor ? `&cursor=${cursor}` : ""}`,
      );
      seen.push(...page.body.items.map(({ id }) => id));
      cursor = page.body.next_cursor;
    }
    expect(seen.slice(0, 3)).toEqual(made.toReversed());
    expect(new Set(seen).size).toBe(seen.length);
    const list = async (query: string) =>
      (await server.request<{ items: Run[] }>("GET", `/v1/runs?${query}`)).body.items;
    expect((await list("status=failed&limit=200")).every(({ status }) => status === "failed")).toBe(true);
    expect(await list("pipeline_id=none")).toEqual([]);
    expect(await list(`since=${Date.now() + 60_000}`)).toEqual([]);
    for (const query of ["status=odd", "limit=0", "limit=x", "since=yesterday"])
      expect([query, (await server.request("GET", `/v1/runs?${query}`)).status]).toEqual([query, 422]);
  });

  test("what does not exist is 404 on every route", async () => {
    const { id } = await get(await start("fails"));
    for (const [method, path, body] of [
      ["GET", "/v1/runs/run_none"],
      ["POST", "/v1/runs/run_none/cancel"],
      ["POST", "/v1/runs/run_none/restart"],
      ["POST", "/v1/runs/run_none/approve", { step_id: "x", approved: true }],
      ["GET", "/v1/steps/run_none"],
      ["GET", "/v1/steps/run_none/write"],
      ["GET", `/v1/steps/${id}/none`],
      ["GET", `/v1/steps/${id}/none/output`],
      ["GET", `/v1/steps/${id}/first/output?attempt=9`],
    ] as const) {
      const { status } = await server.request(method, path, body ? { body } : {});
      expect([path, status]).toEqual([path, 404]);
    }
    await waitForEnd(id);
  });
});
