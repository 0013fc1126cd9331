import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemClock } from "../../core/clock.ts";
import { type Caller, LOCAL_ADMIN } from "../../http/caller.ts";
import { openStore, type Store } from "../../store/store.ts";
import { OPEN_PROJECTS } from "../../testing/open-projects.ts";
import { createRunSums, type RunSums, SUMMED_MAX } from "./sums.ts";

const NOW = Date.parse("2026-03-14T12:00:00.000Z");
let store: Store;
let sums: RunSums;
beforeEach(() => {
  store = openStore({ path: ":memory:", clock: systemClock });
  sums = createRunSums(store, () => NOW);
});
afterEach(() => store.close());

interface Given {
  pipeline?: string;
  project?: string | null;
  owner?: string | null;
  status?: string;
  usd?: number;
  unpriced?: number;
}
let made = 0;
const addRun = (created: string, { pipeline = "p", project = null, owner = null, ...given }: Given = {}) => {
  const { status = "succeeded", usd = 0, unpriced = 0 } = given;
  store.sqlite
    .prepare(
      `INSERT INTO runs (id, pipeline_id, project_id, definition_id, task_description, status, created_by, created_at,
         cost_nano, calls_without_price) VALUES (?, ?, ?, 'd', 'Look', ?, ?, ?, ?, ?)`,
    )
    .run(`run_${String(made++).padStart(6, "0")}`, pipeline, project, status, owner, created, usd * 1e9, unpriced);
};
const asUser = (userId: string): Caller => ({ kind: "user", admin: false, projects: OPEN_PROJECTS, userId });

test("of each pipeline: how its runs of thirty days ended, what one that succeeded usually costs, when the last began", () => {
  addRun("2026-02-01T00:00:00.000Z", { usd: 100 });
  addRun("2026-03-10T10:00:00.000Z", { usd: 1 });
  addRun("2026-03-11T10:00:00.000Z", { usd: 9, status: "failed" });
  addRun("2026-03-12T10:00:00.000Z", { usd: 5 });
  addRun("2026-03-13T23:59:59.999Z", { pipeline: "q", usd: 2, unpriced: 1 });
  addRun("2026-03-14T00:00:00.000Z", { usd: 2 });
  expect(sums.read("pipeline", LOCAL_ADMIN)).toEqual([
    {
      key: "p",
      runs: 4,
      runs_today: 1,
      succeeded: 3,
      failed: 1,
      cost_usd: 17,
      calls_without_price: 0,
      usual_cost_usd: 2,
      last_run_at: "2026-03-14T00:00:00.000Z",
    },
    {
      key: "q",
      runs: 1,
      runs_today: 0,
      succeeded: 1,
      failed: 0,
      cost_usd: 2,
      calls_without_price: 1,
      usual_cost_usd: null,
      last_run_at: "2026-03-13T23:59:59.999Z",
    },
  ]);
});

test("runs of no project are in no project's sum, and others' runs count for an administrator alone", () => {
  addRun("2026-03-14T10:00:00.000Z", { project: "proj_1", owner: "usr_a", status: "running" });
  addRun("2026-03-14T11:00:00.000Z", { project: "proj_1", owner: "usr_b", usd: 4 });
  addRun("2026-03-14T11:00:00.000Z", { owner: "usr_a" });
  const of = (caller: Caller) => sums.read("project", caller).map(({ key, runs, cost_usd }) => [key, runs, cost_usd]);
  expect(of(LOCAL_ADMIN)).toEqual([["proj_1", 2, 4]]);
  expect(of(asUser("usr_a"))).toEqual([["proj_1", 1, 0]]);
  expect(of(asUser("usr_c"))).toEqual([]);
});

test("the newest two thousand are read, however many there are", () => {
  store.write(() => {
    for (let at = 0; at < SUMMED_MAX + 5; at++) addRun("2026-03-14T10:00:00.000Z", { pipeline: at < 5 ? "old" : "p" });
  });
  expect(sums.read("pipeline", LOCAL_ADMIN).map(({ key, runs }) => [key, runs])).toEqual([["p", SUMMED_MAX]]);
});
