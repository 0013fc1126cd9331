/** Totals that the database keeps, and pages whose cost depends on what they show, not on the number of runs. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { HOUR_MS, systemClock } from "../../core/clock.ts";
import { openStore, type Store } from "../../store/store.ts";
import { OPEN_PROJECTS } from "../../testing/open-projects.ts";
import { createAgentActivity } from "../agents/activity.ts";
import { createUsageLog } from "../usage/service.ts";
import { createRunStore, type RunStore } from "./store.ts";

let store: Store;
let rows: RunStore;
let texts: string[];
beforeEach(() => {
  store = openStore({ path: ":memory:", clock: systemClock });
  rows = createRunStore(store);
  texts = [];
  const prepare = store.sqlite.prepare.bind(store.sqlite);
  store.sqlite.prepare = ((text: string) => {
    texts.push(text);
    return prepare(text);
  }) as typeof store.sqlite.prepare;
});
afterEach(() => store.close());

const at = "2026-01-01T00:00:00.000Z";
function insert(table: string, fields: Record<string, unknown>): void {
  const names = Object.keys(fields);
  const marks = names.map((name) => `@${name}`);
  store.sqlite.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${marks.join()})`).run(fields);
}
function run(id: string, ...agents: string[]): void {
  const empty = { definition_id: "", inputs: "{}", outputs: "{}", task_description: "", created_at: at };
  insert("runs", { ...empty, id, pipeline_id: "p", status: "running" });
  const step = { attempt: 1, max_attempts: 1, visit: 1, status: "queued", created_at: at };
  for (const [position, agent_id] of agents.entries())
    insert("steps", { ...step, id: `${id}_${position}`, run_id: id, step_id: "s", position, agent_id });
}

test("an agent's runs are counted once each, and no more when a run is removed", () => {
  run("run_1", "ann", "bob", "ann");
  run("run_2", "ann");
  const { runs } = createAgentActivity(store);
  expect([runs("ann"), runs("bob"), runs("eve")]).toEqual([2, 1, 0]);
  expect(rows.page({ agent_id: "ann" }, null, 10).map(({ id }) => id)).toEqual(["run_2", "run_1"]);
  expect(rows.page({ agent_id: "ann" }, "run_2", 10).map(({ id }) => id)).toEqual(["run_1"]);
  store.sqlite.prepare("DELETE FROM runs WHERE id = 'run_1'").run();
  expect([runs("ann"), runs("bob")]).toEqual([1, 0]);
});

test("a run's cost, tokens and calls without a price are what its executions add up to", () => {
  run("run_1", "ann");
  const session = { kind: "pipeline", agent_id: "ann", status: "running", root_id: "sess_1", created_at: at };
  insert("sessions", { ...session, id: "sess_1", last_activity_at: at });
  const own = { session_id: "sess_1", agent_id: "ann", run_id: "run_1", status: "running", timeout_seconds: 1 };
  const more = { message_id: "m", input: "[]", contract: "{}", skills: "[]", created_at: at };
  for (const id of ["exe_1", "exe_2"]) insert("executions", { ...own, ...more, id });
  const spend = store.sqlite.prepare(
    "UPDATE executions SET cost_nano = ?, tokens = ?, calls_without_price = ? WHERE id = ?",
  );
  spend.run(1_000_000_000, 10, 1, "exe_1");
  spend.run(500_000_000, 5, 1, "exe_2");
  spend.run(2_000_000_000, 30, 2, "exe_1");
  expect(rows.spentByRun("run_1")).toEqual({ cost_usd: 2.5, calls_without_price: 3, tokens: 35 });
});

test("no list and no count reads the whole of a table that grows with history", () => {
  texts = [];
  const page = { limit: 50, after: "z" };
  rows.page({}, "z", 50);
  rows.page({ ownOf: { admin: false, projects: OPEN_PROJECTS, userId: "usr_1" } }, "z", 50);
  rows.page({ agent_id: "ann" }, "z", 50);
  rows.page({ pipeline_id: "p" }, "z", 50);
  rows.progressRows(["run_1", "run_2"]);
  rows.countLive();
  rows.countSince(at);
  const activity = createAgentActivity(store);
  activity.runs("ann");
  activity.isWorking("ann");
  const usage = createUsageLog({ store, clock: systemClock, onRecorded: [] });
  usage.list(page, {});
  usage.summary({ since: Date.parse("2026-01-01T05:00:00Z"), userId: "usr_1" });
  usage.history("hour", { from: Date.parse(at), to: Date.parse(at) + HOUR_MS });
  const scans = texts.flatMap((text) => {
    const values = Array(text.split("?").length - 1).fill(null);
    const plan = store.sqlite.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
    return plan
      .filter(({ detail }) =>
        /^SCAN (runs|steps|executions|llm_calls|sessions|messages|events)\b(?!.* USING )/.test(detail),
      )
      .map(({ detail }) => `${detail}: ${text}`);
  });
  expect(texts.length).toBeGreaterThan(15);
  expect(scans).toEqual([]);
});
