/** Approvals that wait for a person, the plan of a run, and steering several runs at once: request, answer, events. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeUser, setupAdmin } from "../../testing/accounts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { TranscriptMessage } from "../transcripts/model.ts";
import type { BulkOutcome, PendingApproval } from "./approvals.ts";
import type { Run, Step } from "./model.ts";
import type { RunPlan } from "./plan.ts";

const complete = (outputs: Record<string, unknown>) => [
  { tool_calls: [{ tool: "complete", input: { outputs, summary: "s" } }] },
];
const SCRIPT = { version: 1, steps: { draft: complete({ text: "a draft" }) }, default: complete({}) };
const agent = (id: string, more = {}) => ({ id, agent: "ann", input: `Do ${id}`, ...more });
const PIPELINES = {
  asks: [
    agent("draft", { name: "Write a draft", outputs: ["text"] }),
    { id: "ok", approval: { message: "Publish {{ steps.draft.outputs.text }}?", timeout_seconds: 3_600 } },
    agent("publish"),
  ],
  returns: [
    agent("draft", { outputs: ["text"] }),
    { id: "ok", approval: { message: "Good?" }, on_failure: { goto: "draft" } },
  ],
};

let server: TestServer;
let folder: string;
let admin: string;
let user: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "skep-steering-"));
  writeFileSync(join(folder, "script.json"), JSON.stringify(SCRIPT));
  const env = { AUTH_ENABLED: "true", DEMO_SCRIPT: join(folder, "script.json"), TRUSTED_PROXIES: "127.0.0.1" };
  server = await startServer({ env });
  const account = await setupAdmin(server);
  admin = account.token;
  user = (await makeUser(server, account, "user@example.test")).token;
  await server.request("POST", "/v1/agents", { token: admin, body: { id: "ann", prompt: "Work." } });
  for (const [id, steps] of Object.entries(PIPELINES)) {
    const body = { id, name: id, defaults: { model: "demo/scripted" }, steps };
    expect((await server.request("POST", "/v1/pipelines", { token: admin, body })).status).toBe(201);
  }
});
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a run and reads its events until one of these kinds. */
async function until(kinds: string, pipeline_id: string, token = admin): Promise<Run> {
  const body = { pipeline_id, task_description: `Announce ${pipeline_id}` };
  const made = await server.request<Run>("POST", "/v1/runs", { token, body });
  await next(kinds, made.body.id, token);
  return (await server.request<Run>("GET", `/v1/runs/${made.body.id}`, { token })).body;
}
async function next(kinds: string, run: string, token = admin): Promise<void> {
  const leave = new AbortController();
  const answer = await fetch(`${server.url}/v1/events/stream?run_id=${run}&kinds=${kinds}`, {
    headers: { Authorization: `Bearer ${token}` },
    signal: leave.signal,
  });
  let text = "";
  for await (const chunk of answer.body!) {
    text += new TextDecoder().decode(chunk);
    if (/^event: (?!gap)/m.test(text)) break;
  }
  leave.abort();
}
const get = async <T>(path: string, token = admin) => (await server.request<T>("GET", path, { token })).body;
const waiting = async (token = admin) => (await get<{ items: PendingApproval[] }>("/v1/approvals", token)).items;

test("an approval says what it asks, what came before it and what each answer does", async () => {
  const run = await until("run_waiting", "asks");
  expect(run).toMatchObject({
    status: "waiting",
    steps_done: 1,
    steps_total: 3,
    current_step: "ok",
    current_step_name: "ok",
  });
  expect(run.waiting_reason).toBe("Publish a draft?");
  const [found] = (await waiting()).filter(({ run_id }) => run_id === run.id);
  expect(found).toMatchObject({
    step_id: "ok",
    step_name: "ok",
    pipeline_name: "asks",
    state: "waiting",
    message: "Publish a draft?",
    on_timeout: "fail",
    results: [{ step_id: "draft", step_name: "Write a draft", outputs: { text: "a draft" } }],
    if_approved: { outcome: "go_on", steps: ["publish"] },
    if_refused: { outcome: "fail_run" },
  });
  const other = await until("run_waiting", "returns");
  expect((await waiting()).find(({ run_id }) => run_id === other.id)?.if_refused).toMatchObject({
    outcome: "go_to",
    steps: ["draft"],
  });
});

test("several are answered at once, each on its own, and are listed as answered then", async () => {
  const [one, two] = [await until("run_waiting", "asks"), await until("run_waiting", "asks")];
  const answers = [
    { run_id: one.id, step_id: "ok", approved: true, comment: "yes" },
    { run_id: two.id, step_id: "ok", approved: false, comment: "not now" },
    { run_id: "run_none", step_id: "ok", approved: true },
  ];
  const { body } = await server.request<{ items: BulkOutcome[] }>("POST", "/v1/approvals", {
    token: admin,
    body: { answers },
  });
  expect(body.items.map(({ ok, code }) => [ok, code])).toEqual([
    [true, null],
    [true, null],
    [false, "not_found"],
  ]);
  await next("run_complete", one.id);
  expect((await get<Run>(`/v1/runs/${two.id}`)).status).toBe("failed");
  const answered = (await get<{ items: PendingApproval[] }>("/v1/approvals?state=answered")).items;
  expect(answered.find(({ run_id }) => run_id === one.id)).toMatchObject({ state: "approved", comment: "yes" });
  expect(answered.find(({ run_id }) => run_id === two.id)).toMatchObject({ state: "refused", comment: "not now" });
});

test("a user sees and answers none of another's approvals, and steers none of another's runs", async () => {
  const run = await until("run_waiting", "asks");
  expect((await waiting(user)).some(({ run_id }) => run_id === run.id)).toBe(false);
  const answers = [{ run_id: run.id, step_id: "ok", approved: true }];
  const tried = await server.request<{ items: BulkOutcome[] }>("POST", "/v1/approvals", {
    token: user,
    body: { answers },
  });
  expect(tried.body.items[0]).toMatchObject({ ok: false, code: "not_found" });
  const bulk = { action: "cancel", run_ids: [run.id] };
  const steered = await server.request<{ items: BulkOutcome[] }>("POST", "/v1/runs/bulk", { token: user, body: bulk });
  expect(steered.body.items[0]).toMatchObject({ ok: false, code: "not_found" });
  expect((await server.request("GET", `/v1/runs/${run.id}/plan`, { token: user })).status).toBe(404);
});

test("the plan is the run's own, also after the pipeline was changed, with the state of each step", async () => {
  const run = await until("run_waiting", "returns");
  await server.request("PUT", "/v1/pipelines/returns", { token: admin, body: { name: "Renamed" } });
  const plan = await get<RunPlan>(`/v1/runs/${run.id}/plan`);
  expect(plan.name).toBe("returns");
  expect(plan.steps.map(({ id, kind, needs, status }) => [id, kind, needs, status])).toEqual([
    ["draft", "agent", [], "succeeded"],
    ["ok", "approval", ["draft"], "waiting"],
  ]);
  expect(plan.steps[1]?.leads_back).toEqual([{ to: "draft", why: "failed", times: 0 }]);
});

test("runs are found by several states and by words, and cancelled and restarted together", async () => {
  const run = await until("run_waiting", "asks");
  const bulk = (action: string) =>
    server.request<{ items: BulkOutcome[] }>("POST", "/v1/runs/bulk", {
      token: admin,
      body: { action, run_ids: [run.id, "run_none"] },
    });
  expect((await bulk("restart")).body.items.map(({ code }) => code)).toEqual(["run_not_ended", "not_found"]);
  expect((await bulk("cancel")).body.items[0]).toMatchObject({ ok: true, status: "cancelled" });
  const findIds = async (query: string) => (await get<{ items: Run[] }>(`/v1/runs?${query}`)).items.map(({ id }) => id);
  expect(await findIds("status=cancelled,failed&q=announce%20asks")).toContain(run.id);
  expect(await findIds("status=waiting,running")).not.toContain(run.id);
  expect(await findIds("q=100%25")).toEqual([]);
  expect((await server.request("GET", "/v1/runs?status=lost", { token: admin })).status).toBe(422);
  expect((await bulk("restart")).body.items[0]?.ok).toBe(true);
  await next("run_waiting", run.id);
});

test("a session's transcript is paged from its end, searched, and visible to its user alone", async () => {
  const run = await until("run_waiting", "asks");
  const { items } = await get<{ items: Step[] }>(`/v1/steps/${run.id}`);
  const path = `/v1/sessions/${items[0]?.session_id}/transcript`;
  type Transcript = { items: TranscriptMessage[]; next_cursor: string | null };
  const whole = await get<Transcript>(path);
  expect(whole.items.map(({ seq, role }) => [seq, role])).toEqual([
    [1, "assistant"],
    [0, "user"],
  ]);
  expect(whole.items[0]?.calls[0]).toMatchObject({ tool: "complete", status: "done", ok: true });
  const last = await get<Transcript>(`${path}?limit=1`);
  expect(last.items.map(({ seq }) => seq)).toEqual([1]);
  expect((await get<Transcript>(`${path}?limit=1&cursor=${last.next_cursor}`)).items.map(({ seq }) => seq)).toEqual([
    0,
  ]);
  expect((await get<Transcript>(`${path}?q=Do%20draft`)).items.map(({ seq }) => seq)).toEqual([0]);
  expect((await get<Transcript>(`${path}?q=a%20draft`)).items.map(({ seq }) => seq)).toEqual([1]);
  expect((await server.request("GET", path, { token: user })).status).toBe(404);
});
