/** Reads runs: decides who may see which, and how rows are presented. */
import { msBetween, toTimestamp } from "../../core/clock.ts";
import { expectFound, invalidField } from "../../core/errors.ts";
import { isRunEnd, isRunStatus, RUN_STATUSES, type RunStatus } from "../../core/run-states.ts";
import { shownOf } from "../../core/schema.ts";
import { pick } from "../../core/typed-keys.ts";
import { kindOfStep } from "../../engine/pipeline/definition.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page, pageOfArray } from "../../http/list.ts";
import { createRowCache } from "../../store/row-cache.ts";
import type { Store } from "../../store/store.ts";
import { expectReadable, WHOSE } from "../../store/whose.ts";
import { HistoryItem, type Run, type RunDetail, Step, StepOutput } from "./model.ts";
import type { Progress } from "./plan.ts";
import { progressByRun } from "./progress.ts";
import {
  type ListedRun,
  type ProgressRow,
  type RunFilter,
  type RunRow,
  type RunStore,
  type RunVersion,
  SHOWN,
  type StepRow,
  spentOf,
} from "./store.ts";

const ENDED = RUN_STATUSES.filter(isRunEnd);

interface ListQuery {
  pipeline_id?: string;
  status?: string;
  project_id?: string;
  task_id?: string;
  agent_id?: string;
  since?: string;
  q?: string;
}

export type RunViews = ReturnType<typeof createRunViews>;

/** @returns the time as RFC 3339. @throws Problem 422. */
function sinceOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,14}$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isNaN(ms))
    throw invalidField("since", "Must be a time as RFC 3339 writes it, or milliseconds of Unix time");
  return toTimestamp(ms);
}

/** @throws Problem 422 for a word that is not a status. */
function statusesOf(text: string | undefined): RunStatus[] | undefined {
  if (text === undefined || text === "") return undefined;
  if (text === "terminal") return ENDED;
  const words = text.split(",").map((word) => word.trim());
  if (!words.every(isRunStatus)) throw invalidField("status", "Takes states of a run, separated by commas");
  return words;
}

/** The kind of a step. An item of a `for_each` step is an agent's work. */
function kindIn({ definition }: RunRow, { step_id, item_index }: StepRow): Step["kind"] {
  const step = definition.steps.find(({ id }) => id === step_id);
  return step === undefined || item_index !== null ? "agent" : kindOfStep(step);
}

const presentStep = (row: StepRow, kind: Step["kind"], work: ReturnType<RunStore["workOf"]>): Step => ({
  ...shownOf(Step, row),
  kind,
  index: row.item_index,
  ...work,
  // A step's row exists from the start of the run. Time spent on the steps before it does not count as time in the
  // queue.
  queued_at: work.queued_at ?? row.started_at ?? row.created_at,
});

const toHistory = (row: ListedRun, rows: readonly ProgressRow[]): HistoryItem => {
  const { started_at, finished_at } = row;
  const { cost_usd, calls_without_price } = spentOf(row);
  return {
    ...shownOf(HistoryItem, row),
    run_id: row.id,
    steps: rows.map(({ step_id, agent_id, status, attempt }) => ({ step_id, agent_id, status, attempt })),
    cost_usd,
    calls_without_price,
    duration_ms: started_at && finished_at ? msBetween(started_at, finished_at) : null,
  };
};

const idOf = (row: { id: string }): string => row.id;

/** What runs wait for while this server is a copy of another one's data folder (`store/identity.ts`). */
const STANDBY =
  "The server stands by, since its data is a copy of another server's. Stop the original, then: skep activate";

/** Most characters of JSON of ended runs that are cached for lists. */
const KEPT_CHARACTERS = 2_000_000;

/** @param standsBy whether agents do not work because this server is a copy that nobody has activated. */
export function createRunViews(store: RunStore, sqlite: Store["sqlite"], standsBy = () => false) {
  const ended = createRowCache<Run>(sqlite, KEPT_CHARACTERS);
  /** @param waits what the run's work waits for besides its turn. */
  const presentWith = (row: ListedRun, progress: Progress, waits: string | undefined): Run => ({
    ...pick(row, SHOWN),
    ...spentOf(row),
    ...progress,
    waiting_reason: progress.waiting_reason ?? (standsBy() && !isRunEnd(row.status) ? STANDBY : waits) ?? null,
  });
  /** Presents several runs; their details take one query each kind, not one per run. */
  const presentAll = (rows: readonly ListedRun[]): Run[] => {
    const progress = progressByRun(store, rows);
    const waits = store.waitsOf(rows.filter(({ status }) => !isRunEnd(status)).map(idOf));
    return rows.map((row) => presentWith(row, progress.get(row.id)!, waits.get(row.id)));
  };
  const present = (row: RunRow): Run => presentAll([row])[0]!;
  /** The runs by id. Ended runs come from the cache if it holds the version that was read. */
  const runsOf = (found: readonly RunVersion[]): Map<string, Run> => {
    const runs = new Map<string, Run>();
    const unknown: string[] = [];
    for (const { id, version } of found) {
      const known = ended.find(id, version);
      if (known) runs.set(id, known);
      else unknown.push(id);
    }
    if (unknown.length === 0) return runs;
    const rows = store.listByIds(unknown);
    for (const [at, run] of presentAll(rows).entries()) {
      runs.set(run.id, run);
      if (run.finished_at !== null) ended.keep(run.id, rows[at]!.version, run);
    }
    return runs;
  };
  const pageOfRuns = (filter: RunFilter, page: Page): ListAnswer<Run> => {
    const found = store.versions(filter, page.after, page.limit + 1);
    const runs = runsOf(found);
    return listAnswer(found, page, idOf, ({ id }) => runs.get(id)!);
  };
  /**
   * Whose runs a caller sees: users their own, administrators all, an execution those of its own agent for its user.
   */
  const toOwnFilter = (caller: Caller): RunFilter =>
    caller.execution ? { readableBy: caller, agent_id: caller.execution.agentId } : { ownOf: caller };
  const filterOf = (query: ListQuery, caller: Caller): RunFilter => ({
    pipeline_id: query.pipeline_id,
    project_id: query.project_id,
    task_id: query.task_id,
    agent_id: query.agent_id,
    statuses: statusesOf(query.status),
    text: query.q,
    since: sinceOf(query.since),
    ...toOwnFilter(caller),
  });
  const rowFor = (id: string, caller: Caller): RunRow => expectReadable(caller, WHOSE.runs, store.run(id), "run");
  const stepRow = (runId: string, step: string, attempt: number | undefined, caller: Caller): StepRow => {
    const rows = store.stepsOf(rowFor(runId, caller).id);
    const named = rows.filter((row) => row.step_id === step && (attempt === undefined || row.attempt === attempt));
    // The name of a `for_each` step means its aggregate. Its items are read by their ids.
    const found = rows.find((row) => row.id === step) ?? named.findLast((row) => row.item_index === null);
    return expectFound(found, "step in this run");
  };
  return {
    present,
    rowFor,
    list: (query: ListQuery, page: Page, caller: Caller): ListAnswer<Run> => pageOfRuns(filterOf(query, caller), page),
    /** @throws Problem 404 when the run is unknown or another user's. */
    one(id: string, caller: Caller): Omit<RunDetail, "provider_wait"> {
      const row = rowFor(id, caller);
      return { ...present(row), inputs: row.inputs };
    },
    steps: (runId: string, page: Page, caller: Caller): ListAnswer<Step> => {
      const run = rowFor(runId, caller);
      const { items, next_cursor } = pageOfArray(store.stepsOf(run.id), page, idOf);
      return {
        items: items.map((row) => presentStep(row, kindIn(run, row), store.workOf(row.execution_id))),
        next_cursor,
      };
    },
    /** A step by name (its latest attempt, or the given one) or by the id of its row. */
    step(runId: string, step: string, attempt: number | undefined, caller: Caller): Step {
      const row = stepRow(runId, step, attempt, caller);
      return presentStep(row, kindIn(rowFor(runId, caller), row), store.workOf(row.execution_id));
    },
    output(runId: string, step: string, attempt: number | undefined, caller: Caller): StepOutput {
      const row = stepRow(runId, step, attempt, caller);
      return { ...shownOf(StepOutput, row), structured: Object.keys(row.outputs).length > 0 ? row.outputs : null };
    },
    history(query: ListQuery, page: Page, caller: Caller): ListAnswer<HistoryItem> {
      const found = store.page(filterOf(query, caller), page.after, page.limit + 1);
      const rows = store.progressRows(found.map(idOf));
      return listAnswer(found, page, idOf, (row) => toHistory(row, rows.get(row.id)!));
    },
    ofAgent: (agentId: string, page: Page, caller: Caller): ListAnswer<Run> =>
      pageOfRuns({ ...toOwnFilter(caller), agent_id: agentId }, page),
  };
}
