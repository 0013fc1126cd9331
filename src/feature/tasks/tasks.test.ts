import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Task, TaskHistoryEntry } from "./model.ts";
import type { ResolvedWorkflow } from "./policy-model.ts";

let server: TestServer;
let base: string;
let projects = 0;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

/** Makes a project. @returns the path of its tasks. */
async function board(fields: object = {}): Promise<string> {
  const body = { name: `board ${++projects}` };
  const made = await server.request<{ id: string }>("POST", "/v1/projects", { body });
  base = `/v1/projects/${made.body.id}`;
  if (Object.keys(fields).length > 0) expect((await server.request("PUT", base, { body: fields })).status).toBe(200);
  return base;
}
const call = <T = Task>(method: string, path: string, body?: object) =>
  server.request<T>(method, `${base}${path}`, { body });
const make = async (title: string, fields: object = {}) => (await call("POST", "/tasks", { title, ...fields })).body;
const move = (task: Task, status: string, extra: object = {}) =>
  call<Task & { next_statuses: string[]; code: string }>("POST", `/tasks/${task.id}/transition`, { status, ...extra });
const statusOf = async (task: Task) => (await call("GET", `/tasks/${task.id}`)).body.status;
const titles = async (query: string) =>
  (await call<{ items: Task[] }>("GET", `/tasks${query}`)).body.items.map(({ title }) => title);

describe("tasks", () => {
  test("are created with defaults, read, changed field by field, and deleted; another project has no such task", async () => {
    await board();
    const made = await call("POST", "/tasks", { title: "One", tags: ["ui", "ui"], id: "task_x", run_id: "run_x" });
    expect(made.status).toBe(201);
    expect(made.headers.get("location")).toBe(`${base}/tasks/${made.body.id}`);
    expect(made.body).toMatchObject({
      title: "One",
      description: "",
      status: "backlog",
      priority: "p2",
      tags: ["ui"],
      run_id: null,
      assigned_agent: null,
      lease_until: null,
      depends_on: [],
      completed_stages: [],
      finished_at: null,
    });
    const changed = await call("PUT", `/tasks/${made.body.id}`, {
      description: "more",
      priority: "p0",
      metadata: { a: 1 },
    });
    expect(changed.body).toMatchObject({ title: "One", description: "more", priority: "p0", metadata: { a: 1 } });
    const own = base;
    await board();
    expect((await call("GET", `/tasks/${made.body.id}`)).status).toBe(404);
    base = own;
    expect((await call("DELETE", `/tasks/${made.body.id}`)).status).toBe(204);
    expect((await call("GET", `/tasks/${made.body.id}`)).status).toBe(404);
  });

  test("that are not valid are refused at their field", async () => {
    await board();
    const a = await make("a");
    const b = await make("b", { depends_on: [a.id] });
    const bad: [string, string, object, string][] = [
      ["POST", "/tasks", { title: "" }, "/title"],
      ["POST", "/tasks", { title: "x", status: "shipping" }, "/status"],
      ["POST", "/tasks", { title: "x", assigned_agent: "nobody-here" }, "/assigned_agent"],
      ["POST", "/tasks", { title: "x", depends_on: ["task_none"] }, "/depends_on/0"],
      ["POST", "/tasks", { title: "x", parent_id: "task_none" }, "/parent_id"],
      ["PUT", `/tasks/${a.id}`, { depends_on: [b.id] }, "/depends_on"],
      ["PUT", `/tasks/${a.id}`, { depends_on: [a.id] }, "/depends_on"],
      ["PUT", `/tasks/${a.id}`, { parent_id: a.id }, "/parent_id"],
      ["POST", "/tasks", { title: "x", metadata: { a: "x".repeat(20_000) } }, "/metadata"],
    ];
    for (const [method, path, body, pointer] of bad) {
      const answer = await call<{ errors: { pointer: string }[] }>(method, path, body);
      expect([path, body, answer.status, answer.body.errors?.[0]?.pointer]).toEqual([path, body, 422, pointer]);
    }
  });

  test("200 parallel claims have one winner, who may claim again; the others learn who holds it", async () => {
    await board();
    const task = await make("wanted", { status: "ready" });
    const agents = ["scribe", "engineer", "lead", "reviewer"];
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        call<{ task: Task; branch: string; holder: string }>("POST", `/tasks/${task.id}/claim`, {
          agent_id: agents[at % 4],
        }),
      ),
    );
    const won = answers.filter(({ status }) => status === 200);
    const winners = new Set(won.map(({ body }) => body.task.assigned_agent));
    expect(winners.size).toBe(1);
    const [winner] = winners;
    expect(won).toHaveLength(50);
    for (const { body } of answers.filter(({ status }) => status === 409)) expect(body.holder).toBe(winner!);
    expect(won[0]!.body).toMatchObject({ branch: `task/${task.id}`, task: { status: "in_progress" } });
    const other = agents.find((one) => one !== winner)!;
    expect((await call("POST", `/tasks/${task.id}/claim`, { agent_id: other, release: true })).status).toBe(409);
    const given = await call<{ task: Task }>("POST", `/tasks/${task.id}/claim`, { agent_id: winner, release: true });
    expect(given.body.task).toMatchObject({ status: "ready", assigned_agent: null, lease_until: null });
  });

  test("that depend on others wait for them: finishing unblocks, failing blocks, and the ready queue holds what can be started", async () => {
    await board();
    const [a, b] = [await make("a", { status: "ready" }), await make("b", { status: "ready", priority: "p0" })];
    const c = await make("c", { status: "ready", depends_on: [a.id, b.id], priority: "p0" });
    expect(await titles("?ready=true")).toEqual(["b", "a"]);
    expect(await move(c, "in_progress")).toMatchObject({ status: 409, body: { code: "dependencies_unmet" } });
    expect(await call("POST", `/tasks/${c.id}/claim`, { agent_id: "scribe" })).toMatchObject({ status: 409 });
    await move(a, "failed");
    expect(await statusOf(c)).toBe("blocked");
    await move(b, "done");
    expect(await statusOf(c)).toBe("blocked");
    await move(a, "ready");
    await move(a, "done");
    expect(await statusOf(c)).toBe("ready");
    expect(await titles("?ready=true")).toEqual(["c"]);
    const history = (await call<{ items: TaskHistoryEntry[] }>("GET", `/tasks/${c.id}/history`)).body.items;
    expect(history.map(({ actor, to_status, note }) => [actor, to_status, note])).toEqual([
      ["rule", "ready", "a is done."],
      ["rule", "blocked", "a has failed."],
      ["local", "ready", null],
    ]);
  });

  test("with subtasks follow them", async () => {
    await board();
    const parent = await make("parent");
    const [x, y] = [await make("x", { parent_id: parent.id }), await make("y", { parent_id: parent.id })];
    await move(x, "in_progress");
    expect(await statusOf(parent)).toBe("in_progress");
    await move(x, "done");
    await move(y, "failed");
    expect(await statusOf(parent)).toBe("failed");
    await move(y, "in_progress");
    expect(await statusOf(parent)).toBe("in_progress");
    await move(y, "done");
    expect(await statusOf(parent)).toBe("done");
  });

  test("keep to the board: its statuses, its limits, and where a task may go next; force goes past a limit", async () => {
    const columns = [
      { id: "todo", name: "To do", statuses: ["backlog", "ready", "blocked"] },
      { id: "doing", name: "Doing", statuses: ["in_progress", "qa"], wip_limit: 1 },
      { id: "end", name: "End", statuses: ["review", "done", "failed"] },
    ];
    await board({ columns });
    const [a, b] = [await make("a"), await make("b")];
    expect((await move(a, "qa")).status).toBe(200);
    expect((await move(a, "in_progress")).status).toBe(200);
    const kept = await move(b, "in_progress");
    expect(kept).toMatchObject({ status: 409, body: { code: "wip_limit" } });
    expect((await move(b, "ready")).body.next_statuses).toEqual(["backlog", "blocked", "review", "done", "failed"]);
    expect((await move(b, "shipping")).status).toBe(422);
    expect((await move(b, "in_progress", { force: true })).status).toBe(200);
    const project = await server.request("GET", base);
    expect(project.body).toMatchObject({ counts: { in_progress: 2 } });
    const without = await server.request("PUT", base, { body: { columns: null } });
    expect(without.status).toBe(200);
    await make("c", { status: "review" });
    for (const wrong of [
      [columns[0]],
      [...columns, columns[0]],
      [...columns, { id: "x", name: "X", statuses: ["done"] }],
    ])
      expect((await server.request("PUT", base, { body: { columns: wrong } })).status).toBe(422);
  });

  test("stay where they are put: before, after, in another column, however often", async () => {
    await board();
    const made = new Map<string, Task>();
    for (const title of ["a", "b", "c", "d"]) made.set(title, await make(title));
    const put = (title: string, place: object) => call("POST", `/tasks/${made.get(title)!.id}/move`, place);
    await put("d", { before: made.get("a")!.id });
    await put("a", { after: made.get("c")!.id });
    expect(await titles("?status=backlog")).toEqual(["d", "b", "c", "a"]);
    let order = ["d", "b", "c", "a"];
    for (let round = 0; round < 60; round++) {
      const [one, two] = [order[round % 4]!, order[(round * 7 + 1) % 4]!];
      if (one === two) continue;
      expect((await put(one, { before: made.get(two)!.id })).status).toBe(200);
      order = order.filter((title) => title !== one);
      order.splice(order.indexOf(two), 0, one);
      expect(await titles("?status=backlog")).toEqual(order);
    }
    expect((await put("a", { status: "ready" })).body.status).toBe("ready");
    expect((await put("b", { after: made.get("a")!.id })).status).toBe(422);
    expect((await put("b", { after: made.get("c")!.id, before: made.get("d")!.id })).status).toBe(422);
  });

  test("are listed in pages without one twice or missing, filtered by status, priority, agent, tag and words", async () => {
    await board();
    for (let at = 0; at < 25; at++)
      await make(`task ${at}`, {
        priority: `p${at % 4}`,
        tags: at % 5 ? [] : ["five"],
        assigned_agent: at % 2 ? "scribe" : null,
      });
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const page = await call<{ items: Task[]; next_cursor: string | null }>("GET", `/tasks?limit=10${cursor}`);
      seen.push(...page.body.items.map(({ title }) => title));
      if (page.body.next_cursor === null) break;
      cursor = `&cursor=${encodeURIComponent(page.body.next_cursor)}`;
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, at) => `task ${at}`));
    expect(await titles("?tag=five")).toHaveLength(5);
    expect(await titles("?priority=p3&agent_id=scribe")).toHaveLength(6);
    expect(await titles("?q=task%202")).toHaveLength(6);
    expect(await titles("?q=%25")).toEqual([]);
    const other = Buffer.from(JSON.stringify([1, "run_of_another_list"])).toString("base64url");
    for (const cursor of ["x", other])
      expect((await call("GET", `/tasks?cursor=${cursor}`)).status).toBeOneOf([400, 422]);
  });

  test("are changed in bulk, each by itself", async () => {
    await board();
    const [a, b] = [await make("a"), await make("b")];
    const c = await make("c", { depends_on: [a.id] });
    const answer = await call<{ items: { id: string; task: Task | null; error: { code: string } | null }[] }>(
      "PATCH",
      "/tasks",
      {
        ids: [b.id, c.id, "task_none"],
        change: { status: "in_progress", priority: "p1", add_tags: ["now"] },
      },
    );
    expect(answer.body.items).toMatchObject([
      { id: b.id, task: { status: "in_progress", priority: "p1", tags: ["now"] }, error: null },
      { id: c.id, task: null, error: { code: "dependencies_unmet" } },
      { id: "task_none", task: null, error: { code: "not_found" } },
    ]);
  });

  test("are imported by a job, what one names before it; a cycle is refused before anything is created", async () => {
    await board();
    const chain = Array.from({ length: 300 }, (_, at) => ({
      key: `k${at}`,
      title: `t${at}`,
      depends_on: at < 299 ? [`k${at + 1}`] : [],
    }));
    const job = await call<{ id: string }>("POST", "/tasks/import", { tasks: chain });
    expect(job.status).toBe(202);
    const stream = await server.request("GET", `/v1/jobs/${job.body.id}`);
    let state = stream.body["state"];
    while (state === "queued" || state === "running")
      state = (await server.request("GET", `/v1/jobs/${job.body.id}`)).body["state"];
    const done = (await server.request("GET", `/v1/jobs/${job.body.id}`)).body;
    expect(done).toMatchObject({ state: "succeeded", result: { created: 300, refused_count: 0 } });
    const all = (await call<{ items: Task[] }>("GET", "/tasks?limit=200")).body.items;
    expect(all.find(({ title }) => title === "t298")!.depends_on).toHaveLength(1);
    const circle = [
      { key: "a", title: "a", depends_on: ["b"] },
      { key: "b", title: "b", depends_on: ["a"] },
    ];
    expect((await call("POST", "/tasks/import", { tasks: circle })).status).toBe(422);
    expect((await call("POST", "/tasks/import", { tasks: [{ title: "x", depends_on: ["nothing"] }] })).status).toBe(
      422,
    );
  });
});

describe("workflow policies", () => {
  test("set the stages that work goes through; a required one that is missing keeps a task from being done", async () => {
    await board();
    expect((await call("GET", "/workflow-policy")).body).toMatchObject({ exists: false, rules: {} });
    const rules = {
      feature: [
        { stage: "design", disposition: "skip" },
        { stage: "build", disposition: "required", agent_id: "engineer" },
        { stage: "look", disposition: "optional", agent_id: "reviewer" },
      ],
    };
    const set = await call("PUT", "/workflow-policy", { rules });
    expect(set.body).toMatchObject({ exists: true, rules, wait_for_merge: false });
    const task = await make("a", { work_type: "feature" });
    const plan = await call<ResolvedWorkflow>("POST", `/tasks/${task.id}/resolve-workflow`);
    expect(plan.body).toMatchObject({
      task_id: task.id,
      work_type: "feature",
      required: ["build"],
      skipped: ["design"],
      current: "build",
      next: "look",
      completed: [],
      pipeline_id: null,
    });
    expect(plan.body.next_statuses).not.toContain("done");
    expect(await move(task, "done")).toMatchObject({ status: 409, body: { code: "stage_required" } });
    const stale = { headers: { "If-Match": '"old"' }, body: { rules: {} } };
    expect((await server.request("PUT", `${base}/workflow-policy`, stale)).status).toBe(412);
    const bad = [
      { feature: [{ stage: "a", disposition: "required", agent_id: "nobody-here" }] },
      { feature: [{ stage: "a", disposition: "required", pipeline_id: "no-such" }] },
      {
        feature: [
          { stage: "a", disposition: "required" },
          { stage: "a", disposition: "skip" },
        ],
      },
      { feature: [{ stage: "a", disposition: "must" }] },
      { painting: [] },
    ];
    for (const wrong of bad) expect((await call("PUT", "/workflow-policy", { rules: wrong })).status).toBe(422);
  });

  test("are carried out: the run has the stages as steps, and the task moves as the run moves until it is done", async () => {
    await board();
    const rules = {
      custom: [
        { stage: "build", disposition: "required", agent_id: "scribe" },
        { stage: "look", disposition: "optional", agent_id: "reviewer" },
      ],
    };
    await call("PUT", "/workflow-policy", { rules });
    const task = await make("a");
    const run = await call<{ id: string; task_id: string }>("POST", `/tasks/${task.id}/execute`, {});
    expect(run.status).toBe(202);
    expect(run.body.task_id).toBe(task.id);
    const again = await call<{ code: string }>("POST", `/tasks/${task.id}/execute`, {});
    expect(again).toMatchObject({ status: 409, body: { code: "task_busy" } });
    await server.request("GET", `/v1/events/stream?run_id=${run.body.id}`);
    const steps = await server.request<{ items: { step_id: string; status: string }[] }>(
      "GET",
      `/v1/steps/${run.body.id}`,
    );
    expect(steps.body.items.map(({ step_id, status }) => [step_id, status])).toEqual([
      ["build", "succeeded"],
      ["look", "succeeded"],
    ]);
    let now = await call("GET", `/tasks/${task.id}`);
    while (now.body.status === "in_progress") now = await call("GET", `/tasks/${task.id}`);
    expect(now.body).toMatchObject({ status: "done", completed_stages: ["build", "look"], run_id: run.body.id });
    expect(await call("POST", `/tasks/${task.id}/execute`, {})).toMatchObject({ status: 409 });
  });

  test("that wait for the merge leave the task in review when its run has succeeded", async () => {
    await board();
    await call("PUT", "/workflow-policy", { wait_for_merge: true });
    const task = await make("a");
    await server.request("PUT", base, { body: { default_pipeline_id: "hello" } });
    const run = await call<{ id: string; pipeline_id: string }>("POST", `/tasks/${task.id}/execute`, {});
    expect(run.body.pipeline_id).toBe("hello");
    await server.request("GET", `/v1/events/stream?run_id=${run.body.id}`);
    let now = await call("GET", `/tasks/${task.id}`);
    while (now.body.status === "in_progress") now = await call("GET", `/tasks/${task.id}`);
    expect(now.body.status).toBe("review");
  });

  test("without a policy, the agent that a task was given to does it alone; one that claimed it is no such agent", async () => {
    await board();
    const given = await make("a", { assigned_agent: "scribe" });
    const plan = await call<ResolvedWorkflow>("POST", `/tasks/${given.id}/resolve-workflow`);
    expect(plan.body).toMatchObject({ agent_id: "scribe", pipeline_id: null, stages: [] });
    const run = await call<{ id: string; pipeline_id: string }>("POST", `/tasks/${given.id}/execute`, {});
    const steps = await server.request<{ items: { agent_id: string }[] }>("GET", `/v1/steps/${run.body.id}`);
    expect([run.body.pipeline_id, steps.body.items.map(({ agent_id }) => agent_id)]).toEqual(["task", ["scribe"]]);
    const claimed = await make("b", { status: "ready" });
    await call("POST", `/tasks/${claimed.id}/claim`, { agent_id: "scribe" });
    const theirs = await call<ResolvedWorkflow>("POST", `/tasks/${claimed.id}/resolve-workflow`);
    expect(theirs.body).toMatchObject({ agent_id: null, pipeline_id: "feature" });
  });

  test("a request may name another pipeline, which completes no stage that it does not do", async () => {
    await board();
    const rules = { custom: [{ stage: "build", disposition: "required", pipeline_id: "feature" }] };
    await call("PUT", "/workflow-policy", { rules });
    const task = await make("a");
    const unknown = await call<{ code: string }>("POST", `/tasks/${task.id}/execute`, { pipeline_id: "no-such" });
    expect(unknown.status).toBe(404);
    expect((await call("GET", `/tasks/${task.id}`)).body).toMatchObject({ run_id: null });
    const run = await call<{ id: string; pipeline_id: string; task_description: string }>(
      "POST",
      `/tasks/${task.id}/execute`,
      { pipeline_id: "hello", task_description: "Only greet me" },
    );
    expect(run.body).toMatchObject({ pipeline_id: "hello", task_description: "Only greet me" });
    await server.request("GET", `/v1/events/stream?run_id=${run.body.id}`);
    let now = await call("GET", `/tasks/${task.id}`);
    while (now.body.status === "in_progress") now = await call("GET", `/tasks/${task.id}`);
    expect(now.body).toMatchObject({ status: "review", completed_stages: [] });
  });

  test("the vision is set, shown on the project, and removed", async () => {
    await board();
    expect((await call("PUT", "/vision", { vision: "# Be small" })).body).toMatchObject({ vision: "# Be small" });
    expect((await call("PUT", "/vision", { vision: null })).body).toMatchObject({ vision: null });
    expect((await call("PUT", "/vision", { vision: 7 })).status).toBe(422);
  });
});
