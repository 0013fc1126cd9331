/** The overview of runs: running ones with their last sentence, how days ended, and when attempts asked a model. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemClock, toTimestamp } from "../../core/clock.ts";
import { type Caller, LOCAL_ADMIN } from "../../http/caller.ts";
import { openStore, type Store } from "../../store/store.ts";
import { OPEN_PROJECTS } from "../../testing/open-projects.ts";
import { createOverview, lastSentence, type Overview } from "./overview.ts";
import { createRunStore, type RunStore } from "./store.ts";
import { ATTEMPTS_MAX, joinParts, timelineOf } from "./timeline.ts";
import { createRunViews, type RunViews } from "./views.ts";

const NOW = Date.parse("2026-03-14T12:00:00.000Z");
const DEFINITION = '{"id":"p","steps":[{"id":"one","agent":"ann","name":"First"},{"id":"two","approval":"Well?"}]}';

let store: Store;
let rows: RunStore;
let views: RunViews;
let overview: Overview;
beforeEach(() => {
  store = openStore({ path: ":memory:", clock: systemClock });
  rows = createRunStore(store);
  views = createRunViews(rows, store.sqlite);
  overview = createOverview({ store, rows, now: () => NOW });
  store.sqlite.exec(`INSERT INTO run_definitions VALUES ('d', '${DEFINITION}')`);
});
afterEach(() => store.close());

const put = (sql: string, ...values: (string | number | null)[]) => store.sqlite.prepare(sql).run(...values);
const addRun = (id: string, status: string, created: string, owner: string | null = null) =>
  put(
    `INSERT INTO runs (id, pipeline_id, definition_id, task_description, status, created_by, created_at, started_at)
     VALUES (?, 'p', 'd', 'Look', ?, ?, ?, ?)`,
    id,
    status,
    owner,
    created,
    created,
  );
const addStep = (run: string, at: number, name: string, status: string, more: Record<string, string | number> = {}) => {
  const row = {
    id: `step_${run}_${at}`,
    run_id: run,
    step_id: name,
    position: at,
    attempt: 1,
    max_attempts: 1,
    visit: 1,
    status,
    created_at: "2026-03-14T10:00:00.000Z",
    ...more,
  };
  const names = Object.keys(row);
  put(`INSERT INTO steps (${names.join()}) VALUES (${names.map(() => "?").join()})`, ...Object.values(row));
};
const addSession = (id: string) =>
  put(
    `INSERT INTO sessions (id, root_id, kind, agent_id, status, depth, created_at, last_activity_at)
     VALUES (?, ?, 'pipeline', 'ann', 'active', 0, '2026-03-14', '2026-03-14')`,
    id,
    id,
  );
const say = (session: string, seq: number, text: string) =>
  put(
    `INSERT INTO messages (session_id, seq, id, execution_id, role, content, created_at)
     VALUES (?, ?, ?, 'exe_1', 'assistant', ?, '2026-03-14')`,
    session,
    seq,
    `msg_${session}_${seq}`,
    JSON.stringify(text ? [{ type: "text", text }] : []),
  );
const asUser = (userId: string): Caller => ({ kind: "user", admin: false, projects: OPEN_PROJECTS, userId });

test("a run at work has each of its steps, who is at work, and the last sentence that was said", () => {
  addRun("run_1", "running", "2026-03-14T10:00:00.000Z");
  addSession("sess_1");
  const at = { agent_id: "ann", session_id: "sess_1", started_at: "2026-03-14T10:00:00.000Z" };
  addStep("run_1", 0, "one", "failed", { ...at, superseded: 1 });
  addStep("run_1", 1, "one", "running", at);
  say("sess_1", 0, "I look. It is e.g. here! Then I mend it.");
  say("sess_1", 1, "");
  const runs = views.list({ status: "running,queued" }, { limit: 20, after: null }, LOCAL_ADMIN).items;
  const [found] = overview.atWork(runs);
  expect(found).toMatchObject({ run: { id: "run_1" }, agent_id: "ann", last_words: "Then I mend it." });
  expect(found?.steps.map(({ step_id, name, status }) => [step_id, name, status])).toEqual([
    ["one", "First", "running"],
    ["two", "two", "pending"],
  ]);
});

test("a sentence is the last of its line, and a long one is cut at its begin", () => {
  expect(lastSentence("One. Two\nthree? Four.")).toBe("Four.");
  expect(lastSentence("")).toBe("");
  const long = lastSentence(`Yes. ${"a".repeat(1_000)}`);
  expect([long.length, long[0]]).toEqual([240, "…"]);
});

test("days count how runs ended, the empty ones as well, and of others only for an administrator", () => {
  addRun("run_1", "succeeded", "2026-03-12T23:59:59.999Z", "usr_a");
  addRun("run_2", "failed", "2026-03-13T00:00:00.000Z", "usr_b");
  addRun("run_3", "running", toTimestamp(NOW), "usr_a");
  addRun("run_0", "succeeded", "2026-02-01T00:00:00.000Z", "usr_a");
  const days = (caller: Caller) =>
    overview
      .days(3, caller)
      .map(({ day, succeeded, failed, cancelled, unfinished }) => [day, succeeded, failed, cancelled, unfinished]);
  expect(days(LOCAL_ADMIN)).toEqual([
    ["2026-03-12", 1, 0, 0, 0],
    ["2026-03-13", 0, 1, 0, 0],
    ["2026-03-14", 0, 0, 0, 1],
  ]);
  expect(days(asUser("usr_a")).map(([, ...counts]) => counts)).toEqual([
    [1, 0, 0, 0],
    [0, 0, 0, 0],
    [0, 0, 0, 1],
  ]);
  expect(overview.days(14, asUser("usr_c"))).toHaveLength(14);
});

test("an attempt's time with the model is that of its own calls, within the attempt", () => {
  addRun("run_1", "succeeded", "2026-03-14T10:00:00.000Z");
  const times = { started_at: "2026-03-14T10:00:00.000Z", finished_at: "2026-03-14T10:00:10.000Z" };
  addStep("run_1", 0, "one", "succeeded", { session_id: "sess_1", agent_id: "ann", ...times });
  addStep("run_1", 1, "two", "succeeded", { ...times });
  const call = (id: string, session: string, at: string, ms: number) =>
    put(
      `INSERT INTO llm_calls VALUES (?, 'ann', 'run_1', NULL, ?, NULL, NULL, 'turn', 'demo', 'demo/x', 'none',
       1, 1, 0, 0, 0, 0, 5, 'table', ?, NULL, 1, 'stop', NULL, NULL, ?)`,
      id,
      session,
      ms,
      at,
    );
  call("llm_1", "sess_1", "2026-03-14T10:00:02.000Z", 3_000);
  call("llm_2", "sess_1", "2026-03-14T10:00:06.000Z", 1_000);
  call("llm_3", "sess_2", "2026-03-14T10:00:08.000Z", 1_000);
  call("llm_4", "sess_1", "2026-03-14T10:01:00.000Z", 1_000);
  const { items, left_out } = timelineOf(store, views.rowFor("run_1", LOCAL_ADMIN), NOW);
  expect(items.map(({ step_id, kind, model_time }) => [step_id, kind, model_time])).toEqual([
    [
      "one",
      "agent",
      [
        { from_ms: 0, to_ms: 2_000 },
        { from_ms: 5_000, to_ms: 6_000 },
      ],
    ],
    ["two", "approval", []],
  ]);
  expect(left_out).toBe(0);
});

test("of very many attempts the newest are there, and how many are left out", () => {
  addRun("run_1", "running", "2026-03-14T10:00:00.000Z");
  store.sqlite.transaction(() => {
    for (let at = 0; at < ATTEMPTS_MAX + 7; at++) addStep("run_1", at, "one", "succeeded");
  })();
  const { items, left_out } = timelineOf(store, views.rowFor("run_1", LOCAL_ADMIN), NOW);
  expect([items.length, left_out, items.at(-1)?.id]).toEqual([ATTEMPTS_MAX, 7, `step_run_1_${ATTEMPTS_MAX + 6}`]);
});

test("parts of a time that are closest are joined until there are few enough", () => {
  const parts = [0, 100, 103, 300].map((from_ms) => ({ from_ms, to_ms: from_ms + 1 }));
  expect(joinParts(parts, 10)).toEqual(parts);
  expect(joinParts(parts, 3)).toEqual([
    { from_ms: 0, to_ms: 1 },
    { from_ms: 100, to_ms: 104 },
    { from_ms: 300, to_ms: 301 },
  ]);
  expect(joinParts([...parts, { from_ms: 301, to_ms: 400 }], 2).length).toBe(2);
  const even = Array.from({ length: 200 }, (_, at) => ({ from_ms: at * 10, to_ms: at * 10 + 1 }));
  expect(joinParts(even, 60).length).toBeLessThanOrEqual(60);
});
