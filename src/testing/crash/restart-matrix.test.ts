/**
 * A server that is stopped or killed with everything possible unfinished: it starts again, answers, and continues each
 * piece once. `restart-cases.ts` lists what can be unfinished.
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import Database from "better-sqlite3";
import { newId } from "../../core/ids.ts";
import { openTestApp } from "../app.ts";
import { readUntil, waitFor } from "../attacks/waiting.ts";
import { startServer, type TestServer } from "../server.ts";
import { createHeldModel, type HeldModel } from "./held-model.ts";
import { JOB_PAYLOADS, JOBS_NOT_TAKEN_UP, NO_STATES, type Places, STATES } from "./restart-cases.ts";

setDefaultTimeout(600_000);

const clean: (() => unknown)[] = [];
afterAll(async () => {
  for (const one of clean.splice(0).reverse()) await one();
});

/** Work during which the model is held: runs, chat, swarm, task, onboarding, routine, eval. */
const HELD = ["RUN", "CHAT", "SWARM-A", "TASK", "ONBOARD", "TICK", "EVAL"];
/** One more execution waits for a command in its sandbox. */
const AT_ONCE = HELD.length + 1;
const WAITS = ["LATER", "TICK2", "EVAL2"];

const step = (id: string, input: string) => ({ id, agent: "holder", input });
const stage = (pipeline_id: string) => [{ stage: "work", disposition: "required", pipeline_id }];
const PIPELINES = [
  { id: "two", name: "Two", steps: [step("one", "MARK-RUN"), { ...step("then", "MARK-THEN"), needs: ["one"] }] },
  { id: "bash", name: "Bash", steps: [step("one", "MARK-BASH")] },
  { id: "later", name: "Later", steps: [step("one", "MARK-LATER")] },
  { id: "task", name: "Task", steps: [step("one", "MARK-TASK")] },
  { id: "gate", name: "Gate", steps: [{ id: "ask", approval: { message: "Ship it?" } }] },
  { id: "quick", name: "Quick", steps: [{ id: "quick", run: "true" }] },
];

const sql = <T>(data: string, act: (db: Database.Database) => T): T => {
  const db = new Database(join(data, "skep.db"), { timeout: 60_000 });
  try {
    return act(db);
  } finally {
    db.close();
  }
};

interface Left {
  at: Places;
  /** Runs that wait for an answer (`gates`), and those that end by themselves (`runs`). */
  gates: string[];
  runs: string[];
  /** A run of which nothing has begun. */
  later: string;
  chat: string;
  swarm: string;
  /** An eval with two attempts, one after the other. */
  tried: string;
  /** A task that waits until its work is merged. */
  reviewed: string;
}

type Send = (method: string, path: string, body: unknown) => Promise<Record<string, string>>;

/** @returns a function for calls that must succeed. */
const sender =
  (server: TestServer): Send =>
  async (method, path, body) => {
    const answer = await server.request<Record<string, string>>(method, path, { body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

/** Creates a model, an agent, pipelines, and a project with tasks for them. @returns the project's id. */
async function furnish(send: Send, model: HeldModel): Promise<string> {
  await send("PUT", "/v1/settings/providers/custom-held", {
    kind: "openai-compatible",
    base_url: `${model.origin}/v1`,
    name: "Held",
    api_key: "sk-held-1234567890",
    enabled: true,
    models: [{ id: "m" }],
  });
  await send("PUT", "/v1/settings", { limits: { executions_per_agent: 20 } });
  await send("POST", "/v1/agents", { id: "holder", prompt: "You hold.", model: "custom-held/m" });
  for (const pipeline of PIPELINES) await send("POST", "/v1/pipelines", pipeline);
  const { id = "" } = await send("POST", "/v1/projects", { name: "held" });
  await send("PUT", `/v1/projects/${id}/workflow-policy`, {
    wait_for_merge: true,
    rules: { test: stage("quick"), docs: stage("gate"), feature: stage("task") },
  });
  return id;
}

/** Creates one of everything, and waits until each is as far as its case says. */
async function leaveUnfinished(server: TestServer, model: HeldModel): Promise<Left> {
  const send = sender(server);
  const project = await furnish(send, model);
  const post = async (path: string, body: unknown) => (await send("POST", path, body))["id"] ?? "";
  const run = (pipeline_id: string) => post("/v1/runs", { pipeline_id, task_description: "go" });
  const task = async (title: string, work_type: string) => {
    const id = await post(`/v1/projects/${project}/tasks`, { title });
    return { id, run: await post(`/v1/projects/${project}/tasks/${id}/execute`, { work_type }) };
  };
  const reviewed = await task("Reviewed", "test");
  const statusOf = async (id: string) =>
    (await server.request("GET", `/v1/projects/${project}/tasks/${id}`)).body["status"];
  await waitFor(async () => (await statusOf(reviewed.id)) === "review", "the task to be merged");

  const first = await run("two");
  const bash = await run("bash");
  const chat = await post("/v1/chat/sessions", { agent_id: "holder" });
  await post("/v1/chat/sessions", { agent_id: "holder" });
  await post(`/v1/chat/sessions/${chat}/message`, { message: "MARK-CHAT" });
  const one = (key: string, ...depends_on: string[]) => ({ key, prompt: `MARK-SWARM-${key}`, depends_on });
  const swarm = await post("/v1/swarm/execute", {
    agent_id: "holder",
    max_concurrent: 1,
    tasks: [one("A"), one("B"), one("C", "B")],
  });
  const tasked = await task("Tasked", "feature");
  await post("/v1/onboarding/sessions", { message: "MARK-ONBOARD", model: "custom-held/m" });
  const evalTask = (name: string, instruction: string) => ({
    name,
    instruction,
    tests: [{ path: "test.sh", content: btoa("exit 0") }],
  });
  const tried = await post("/v1/evals", {
    name: "Held",
    agents: ["holder"],
    parallel: 1,
    tasks: [evalTask("one", "MARK-EVAL"), evalTask("two", "MARK-EVAL2")],
  });
  const routine = { schedule: "0 6 * * *", timeout_seconds: 86_000 };
  const routines = [];
  for (const name of ["TICK", "TICK2"])
    routines.push(await post("/v1/pulse-routines/holder", { ...routine, name, instructions: `MARK-${name}` }));
  await send("POST", `/v1/pulse-routines/holder/${routines[0]}/trigger`, undefined);
  await waitFor(() => HELD.every((mark) => model.open(mark) === 1), `the model to be asked for ${HELD.join(", ")}`);
  await waitFor(() => model.count("BASH") === 1, "the agent with a command");
  const running = () =>
    sql(server.data, (db) => db.prepare("SELECT count(*) FROM tool_calls WHERE status = 'running'").pluck().get());
  await waitFor(() => running() === 1, "its command");

  // All places are taken now.
  const later = await run("later");
  await send("POST", `/v1/pulse-routines/holder/${routines[1]}/trigger`, undefined);
  await post(`/v1/chat/sessions/${chat}/message`, { message: "MARK-CHAT2" });
  const gates = [await run("gate"), (await task("Gated", "docs")).run];
  const channel = await post("/v1/notification-channels", {
    name: "ops",
    kind: "webhook",
    url: `${model.origin}/nothing`,
  });
  const at = {
    project,
    run: reviewed.run,
    session: chat,
    channel,
    attachment: newId("attachment"),
    document: newId("document"),
    delivery: newId("delivery"),
    notice: "ntf_1",
  };
  return { at, gates, runs: [first, bash, later, tasked.run], later, chat, swarm, tried, reviewed: reviewed.id };
}

/**
 * Inserts rows for what needs other machines or ends too soon, and for every kind of job, once waiting and once
 * running.
 */
function leaveRows(
  data: string,
  { project, run, attachment, document, delivery, notice, channel, ...rest }: Places,
): void {
  const now = new Date().toISOString();
  sql(data, (db) => {
    const insert = (table: string, row: Record<string, unknown>) =>
      db
        .prepare(`INSERT INTO ${table} (${Object.keys(row)}) VALUES (${Object.keys(row).map(() => "?")})`)
        .run(...Object.values(row));
    insert("attachments", {
      id: attachment,
      filename: "a.txt",
      media_type: "text/plain",
      size_bytes: 1,
      sha256: "0".repeat(64),
      text_available: 0,
      created_at: now,
      status: "processing",
    });
    const columns = db
      .prepare<unknown[], { name: string; notnull: number; dflt_value: unknown; type: string }>(
        "PRAGMA table_info(documents)",
      )
      .all();
    const blank = columns.filter(({ notnull, dflt_value }) => notnull && dflt_value === null);
    const filled = blank.map(({ name, type }) => [name, type === "INTEGER" ? 0 : name.endsWith("_at") ? now : "x"]);
    insert("documents", { ...Object.fromEntries(filled), id: document, status: "processing", sha256: "0".repeat(64) });
    insert("permission_requests", {
      id: "perm_left",
      session_id: db.prepare("SELECT id FROM sessions LIMIT 1").pluck().get(),
      execution_id: "exe_none",
      call_id: "call_none",
      agent_id: "scribe",
      tool: "bash",
      tool_kind: "execute",
      subject: "x",
      rules: "[]",
      can_remember: 0,
      state: "waiting",
      created_at: now,
      deadline: Date.now() + 1e9,
    });
    insert("codehost_deliveries", {
      id: delivery,
      delivery_id: "1",
      body_hash: "0",
      event: "issues",
      state: "queued",
      received_at: now,
    });
    insert("codehost_runs", {
      run_id: run,
      repository: "o/r",
      read_only: 0,
      wants_pull: 0,
      pull_state: "open",
      again: 0,
      attempts: 0,
      state: "pending",
      created_at: now,
      updated_at: now,
    });
    insert("notification_deliveries", {
      id: notice,
      channel_id: channel,
      event: "test",
      message: '{"title":"t","text":"t"}',
      state: "queued",
      attempts: 0,
      created_at: now,
    });
    const cloning = {
      ...db.prepare<unknown[], Record<string, unknown>>("SELECT * FROM projects WHERE id = ?").get(project),
    };
    const cloned = newId("project");
    insert("projects", {
      ...cloning,
      id: cloned,
      name: "cloning",
      workspace_state: "cloning",
      repository: "https://nowhere.invalid/r.git",
    });
    const at = { project: cloned, run, attachment, document, delivery, notice, channel, ...rest };
    for (const [kind, payload] of Object.entries(JOB_PAYLOADS))
      for (const state of ["running", "queued"])
        insert("jobs", {
          id: newId("job"),
          kind,
          state,
          payload: JSON.stringify(payload(at)),
          priority: 0,
          run_at: 0,
          failures: 0,
          interruptions: 0,
          cancel_requested: 0,
          subject: "matrix",
          created_at: now,
          updated_at: now,
        });
  });
}

test("every word of every state, and every kind of job, has a case", async () => {
  const app = await openTestApp();
  const kinds = app.contributions.jobs.map(({ kind }) => kind);
  const columns = sql(app.config.data, (db) =>
    db
      .prepare<unknown[], string>(
        `SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_info(m.name) c
         WHERE m.type = 'table' AND (c.name IN ('status', 'state') OR c.name LIKE '%\\_status' ESCAPE '\\' OR c.name LIKE '%\\_state' ESCAPE '\\')`,
      )
      .pluck()
      .all(),
  );
  await app.remove();
  expect(Object.keys(JOB_PAYLOADS).sort()).toEqual(kinds.sort());
  expect([...Object.keys(STATES), ...NO_STATES].sort()).toEqual(columns.sort());
});

/** The cases, as `table.column=word`, for which there is no row. */
const missing = (data: string): string[] =>
  sql(data, (db) =>
    Object.entries(STATES).flatMap(([place, words]) => {
      const [table, column] = place.split(".");
      const there = new Set(db.prepare(`SELECT DISTINCT ${column} FROM ${table}`).pluck().all());
      return Object.entries(words).flatMap(([word, kind]) =>
        kind === "open" && !there.has(word) ? `${place}=${word}` : [],
      );
    }),
  );

test.each(["SIGTERM", "SIGKILL"] as const)(
  "with everything unfinished, after %s it starts, and continues each piece once",
  async (signal) => {
    const model = await createHeldModel();
    clean.push(model.stop);
    const env = {
      ALLOW_HOST_SHELL: "true",
      MAX_EXECUTIONS: String(AT_ONCE),
      FETCH_ALLOW: "127.0.0.1",
      NOTIFY_ALLOW: "127.0.0.1",
      LOG_LEVEL: "error",
    };
    const before = await startServer({ env });
    const { data } = before;
    clean.push(before.remove);
    const left = await leaveUnfinished(before, model);
    const rows = sql(data, (db) => db.prepare("SELECT count(*) FROM executions").pluck().get());
    await before.stop(signal);
    leaveRows(data, left.at);
    // Imitates a crash between the row of a run and its first step.
    sql(data, (db) => db.prepare("UPDATE runs SET status = 'queued' WHERE id = ?").run(left.later));
    // An orderly stop gives back what was running, so nothing has that state.
    if (signal === "SIGKILL") expect(missing(data)).toEqual([]);
    else expect(missing(data).filter((one) => !one.endsWith("=running"))).toEqual([]);
    await waitFor(() => HELD.every((mark) => model.open(mark) === 0), "the end of the calls");
    model.forget();

    const server = await startServer({ data, env });
    clean.push(() => server.stop());
    expect((await server.request("GET", "/healthz")).status).toBe(200);
    const { body: status } = await server.request("GET", "/v1/status");
    expect(status).toMatchObject({ start_failures: [], standby: null });
    await waitFor(() => HELD.every((mark) => mark === "CHAT" || model.open(mark) === 1), "what was at work");
    expect(sql(data, (db) => db.prepare("SELECT count(*) FROM executions").pluck().get())).toBe(rows);
    // Every job is continued once: it has ended, or it has failed and will be tried again later.
    const open = () =>
      sql(data, (db) =>
        db
          .prepare("SELECT kind, state FROM jobs WHERE subject = 'matrix' AND finished_at IS NULL AND failures = 0")
          .all(),
      );
    expect(
      await readUntil(
        async () => open(),
        (now) => now.length === 0,
      ),
    ).toEqual([]);
    const interrupted = sql(data, (db) =>
      db
        .prepare(
          `SELECT kind, count(*) c FROM jobs WHERE subject = 'matrix' AND (interruptions = 1 OR error_code = 'interrupted')
           GROUP BY kind HAVING c = 1`,
        )
        .all(),
    );
    expect(interrupted).toHaveLength(Object.keys(JOB_PAYLOADS).length);
    const notAgain = () =>
      sql(data, (db) =>
        db.prepare("SELECT kind FROM jobs WHERE subject = 'matrix' AND error_code = 'interrupted'").pluck().all(),
      );
    expect(notAgain()).toEqual([...JOBS_NOT_TAKEN_UP]);

    model.release();
    for (const id of left.gates)
      await server.request("POST", `/v1/runs/${id}/approve`, { body: { step_id: "ask", approved: true } });
    const statusOf = async (path: string) => (await server.request("GET", path)).body["status"];
    const readStatuses = async () => Promise.all([...left.runs, ...left.gates].map((id) => statusOf(`/v1/runs/${id}`)));
    expect(await readUntil(readStatuses, (now) => now.every((one) => one === "succeeded"))).toEqual(
      [...left.runs, ...left.gates].map(() => "succeeded"),
    );
    expect(
      await readUntil(
        () => statusOf(`/v1/swarm/${left.swarm}`),
        (now) => now === "succeeded",
      ),
    ).toBe("succeeded");
    await waitFor(
      () => WAITS.every((mark) => model.count(mark) === 1) && model.count("CHAT2") === 1,
      "what was queued",
    );
    expect(
      await readUntil(
        () => statusOf(`/v1/evals/${left.tried}`),
        (now) => now === "done",
      ),
    ).toBe("done");
    const twice = model.marks().filter((mark) => model.count(mark) !== 1);
    expect(twice).toEqual([]);
    expect(await statusOf(`/v1/projects/${left.at.project}/tasks/${left.reviewed}`)).toBe("review");
    const again = sql(data, (db) =>
      db.prepare("SELECT run_id, step_id, count(*) c FROM steps GROUP BY run_id, step_id, attempt HAVING c > 1").all(),
    );
    expect(again).toEqual([]);
    expect(server.output()).not.toContain("could not");
  },
);
