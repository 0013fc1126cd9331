/** Rows of runs and steps. */
import { getTableColumns } from "drizzle-orm";
import { toUsd } from "../../core/money.ts";
import type { Asker } from "../../core/ownership.ts";
import { isRunEnd, RUN_STATUSES, type RunStatus } from "../../core/run-states.ts";
import { keysOf } from "../../core/typed-keys.ts";
import type { PipelineDefinition } from "../../engine/pipeline/definition.ts";
import { idsSince } from "../../store/id-range.ts";
import { allOf, type Condition, createReader, matchIn, matchInJson, type Reader } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { runs, runTraces, steps } from "../../store/tables/runs.ts";
import { executions } from "../../store/tables/sessions.ts";
import { hold, namedBy, wordsOf } from "../../store/text-query.ts";
import { buildReadCondition, ownUnlessAdmin, WHOSE, WHOSE_TEXTS } from "../../store/whose.ts";
import { createDefinitions } from "./definitions.ts";
import { Run } from "./model.ts";

type StoredRun = typeof runs.$inferSelect;
export type RunRow = StoredRun & { definition: PipelineDefinition };
export type NewRun = Omit<typeof runs.$inferInsert, "definition_id"> & { definition: PipelineDefinition };
export type StepRow = typeof steps.$inferSelect;

interface Spent {
  cost_usd: number;
  /** Number of model calls whose cost is unknown. */
  calls_without_price: number;
  tokens: number;
}

type Shown = keyof Run & keyof StoredRun;
const COLUMNS = getTableColumns(runs);
/** Columns of a run that the API shows under their own names. */
export const SHOWN = keysOf(Run.properties).filter((name): name is Shown => name in COLUMNS);
const LISTED = [...SHOWN, "definition_id", "cost_nano", "version"] as const;
export type ListedRun = Pick<StoredRun, (typeof LISTED)[number]>;
export type RunVersion = Pick<StoredRun, "id" | "version">;

/** The columns of a step's attempt that lists of runs need. */
const PROGRESS = ["run_id", "step_id", "agent_id", "item_index", "superseded", "status", "attempt", "inputs"] as const;
export type ProgressRow = Pick<StepRow, (typeof PROGRESS)[number]>;

type Costs = Pick<RunRow, "cost_nano" | "calls_without_price" | "tokens">;
const NO_COSTS: Costs = { cost_nano: 0, calls_without_price: 0, tokens: 0 };
export const spentOf = ({ cost_nano, calls_without_price, tokens }: Costs): Spent => ({
  cost_usd: toUsd(cost_nano),
  calls_without_price,
  tokens,
});

export interface RunFilter {
  pipeline_id?: string | undefined;
  statuses?: readonly RunStatus[] | undefined;
  project_id?: string | undefined;
  task_id?: string | undefined;
  /** Only runs in which this agent took a step. */
  agent_id?: string | undefined;
  /** Only this caller's own runs; all for an administrator. */
  ownOf?: Asker | undefined;
  /** Only runs that this caller may read. */
  readableBy?: Asker | undefined;
  /** Only runs created since then, RFC 3339. */
  since?: string | undefined;
  /** Only runs with these words in the task, the pipeline or the project. */
  text?: string | undefined;
}

/** Columns in which words are searched. */
const TEXTS = ["task_description", "pipeline_id", "project_name", "id"].map((column) => `runs.${column}`);

const equals = (column: string, value: string | undefined): Condition =>
  value === undefined ? undefined : [`${column} = ?`, value];

const seekBelow = (column: string, after: string | null): Condition =>
  after === null ? undefined : [`${column} < ?`, after];

function conditionsOf({ statuses, ownOf, readableBy, since, ...filter }: RunFilter): Condition[] {
  return [
    equals("runs.pipeline_id", filter.pipeline_id),
    // Most runs have succeeded, so skipping the others in the order of ids is cheaper than sorting what the index on
    // status finds. `+` keeps SQLite from using that index.
    statuses &&
      matchIn(statuses.length > 1 && statuses.includes("succeeded") ? "+runs.status" : "runs.status", statuses),
    equals("runs.project_id", filter.project_id),
    equals("runs.task_id", filter.task_id),
    ownOf && ownUnlessAdmin(ownOf, WHOSE.runs),
    readableBy && buildReadCondition(readableBy, WHOSE.runs),
    since === undefined ? undefined : [`runs.created_at >= ? AND ${idsSince("runs", "created_at")}`, since, since],
  ];
}

/** Steps that wait for a person until a deadline, written as the partial index has it. */
const WAITING = "deadline IS NOT NULL AND status = 'waiting'";

const LIVE_RUN = RUN_STATUSES.filter((status) => !isRunEnd(status));

export type RunStore = ReturnType<typeof createRunStore>;

export function createRunStore({ rows, statement }: Pick<Store, "rows" | "statement">) {
  const [runRows, stepRows, executionRows] = [rows(runs), rows(steps), rows(executions)];
  const definitions = createDefinitions({ rows });
  const toRunRow = (row: StoredRun): RunRow => ({ ...row, definition: definitions.read(row.definition_id) });
  const listed = createReader(statement, runs, LISTED);
  const versions = createReader(statement, runs, ["id", "version"]);
  const progress = createReader(statement, steps, PROGRESS);
  const isLive = matchIn("status", LIVE_RUN);
  /** Runs that the index of texts finds, until the page is full. */
  function withWords<Row>(
    reader: Reader<Row>,
    words: readonly string[],
    filter: RunFilter,
    after: string | null,
    limit: number,
  ): Row[] {
    const named = namedBy(
      "run",
      words,
      filter.ownOf && ownUnlessAdmin(filter.ownOf, WHOSE_TEXTS.runs, "texts"),
      after === null ? undefined : ["texts.id < (SELECT id FROM run_texts WHERE run_id = ?)", after],
    );
    const took = "EXISTS (SELECT 1 FROM run_agents WHERE run_id = runs.id AND agent_id = ?)";
    const { where, values } = allOf(
      ...conditionsOf(filter),
      ...hold(words, TEXTS),
      filter.agent_id === undefined ? undefined : [took, filter.agent_id],
    );
    const rest = `ON runs.id = named.id ${where} ORDER BY place DESC LIMIT ?`;
    return reader.join(named.table, rest, ...named.values, ...values, limit);
  }
  function pageOf<Row>(reader: Reader<Row>, filter: RunFilter, after: string | null, limit: number): Row[] {
    const words = wordsOf(filter.text ?? "");
    if (words.length > 0) return withWords(reader, words, filter, after, limit);
    const conditions = conditionsOf(filter);
    if (filter.agent_id === undefined) {
      const { where, values } = allOf(seekBelow("runs.id", after), ...conditions);
      return reader.all(`${where} ORDER BY runs.id DESC LIMIT ?`, ...values, limit);
    }
    // This reads from the agent's runs, newest first, so that a page costs only the rows that it shows.
    const { where, values } = allOf(
      equals("run_agents.agent_id", filter.agent_id),
      seekBelow("run_agents.run_id", after),
      ...conditions,
    );
    const joined = "JOIN run_agents ON run_agents.run_id = runs.id";
    return reader.all(`${joined} ${where} ORDER BY run_agents.run_id DESC LIMIT ?`, ...values, limit);
  }
  return {
    insertRun: ({ definition, ...row }: NewRun): RunRow =>
      toRunRow(runRows.add({ ...row, definition_id: definitions.keep(definition) })),
    insertTrace: (run_id: string, traceparent: string) => rows(runTraces).insert({ run_id, traceparent }),
    insertStep: stepRows.add,
    updateRun: (id: string, change: Partial<StoredRun>) => void runRows.update(change, { id }),
    updateStep: (id: string, change: Partial<StepRow>) => void stepRows.update(change, { id }),
    run(id: string): RunRow | undefined {
      const row = runRows.find({ id });
      return row && toRunRow(row);
    },
    step: (id: string): StepRow | undefined => stepRows.find({ id }),
    /** Every attempt of the run's steps, oldest first. */
    stepsOf: (runId: string): StepRow[] => stepRows.list([{ run_id: runId }], { order: "position" }),
    /** What the queued work of these runs waits for besides its turn, by run id. */
    waitsOf(runIds: readonly string[]): Map<string, string> {
      if (runIds.length === 0) return new Map();
      const found = statement<[run: string, what: string]>(
        `SELECT run_id, waits_for FROM executions
         WHERE run_id IN (SELECT value FROM json_each(?)) AND waits_for IS NOT NULL AND finished_at IS NULL`,
      )
        .raw()
        .all(JSON.stringify(runIds));
      return new Map(found);
    },
    listUnfinished: (): RunRow[] => runRows.list([isLive]).map(toRunRow),
    /** Runs with an approval whose deadline is over. @param at ms since the epoch. */
    withDeadlineBefore: (at: number): { id: string }[] =>
      statement<{ id: string }>(`SELECT DISTINCT run_id AS id FROM steps WHERE ${WAITING} AND deadline <= ?`).all(at),
    /** The next deadline of an approval, ms since the epoch. */
    nextDeadline: (): number | null =>
      statement<number | null>(`SELECT min(deadline) FROM steps WHERE ${WAITING}`).pluck().get() ?? null,
    /** The run's cost so far. */
    spentByRun(runId: string): Spent {
      const text = "SELECT cost_nano, calls_without_price, tokens FROM runs WHERE id = ?";
      return spentOf(statement<Costs>(text).get(runId) ?? NO_COSTS);
    },
    /** @throws Error when there is no definition with that id. */
    definition: definitions.read,
    /** The rows that show the progress of several runs, by run id, oldest first. */
    progressRows(runIds: readonly string[]): Map<string, ProgressRow[]> {
      const { where, values } = allOf(matchInJson("steps.run_id", runIds));
      const found = progress.all(`${where} ORDER BY steps.run_id, steps.position`, ...values);
      const byRun = new Map<string, ProgressRow[]>(runIds.map((id) => [id, []]));
      for (const row of found) byRun.get(row.run_id)!.push(row);
      return byRun;
    },
    /** Cost and end of the agent's work on an attempt; zeros for steps without an agent. */
    workOf(id: string | null): Spent & { ended_by: "complete" | "text" | null; queued_at: string | null } {
      const row = id === null ? undefined : executionRows.find({ id });
      return {
        ...spentOf(row ?? NO_COSTS),
        ended_by: row?.ended_by ?? null,
        queued_at: row?.created_at ?? null,
      };
    },
    /** Runs, newest first, below the cursor's id. */
    page: (filter: RunFilter, after: string | null, limit: number): ListedRun[] => pageOf(listed, filter, after, limit),
    /** As `page`, with only the id and version of each run. */
    versions: (filter: RunFilter, after: string | null, limit: number): RunVersion[] =>
      pageOf(versions, filter, after, limit),
    listByIds(ids: readonly string[]): ListedRun[] {
      const { where, values } = allOf(matchInJson("runs.id", ids));
      return listed.all(where, ...values);
    },
    countLive: (): number => runRows.count(isLive),
    countLiveOf: (userId: string): number => runRows.count(isLive, { created_by: userId }),
    /** Steps that a person must answer or has answered, with their runs; newest first, below the cursor's step id. */
    approvals({ waiting, readableBy }: { waiting: boolean; readableBy: Asker }, after: string | null, limit: number) {
      const { where, values } = allOf(
        ["json_extract(steps.inputs, '$.message') IS NOT NULL AND steps.agent_id IS NULL"],
        [waiting ? "steps.status = 'waiting'" : "steps.status IN ('succeeded', 'failed')"],
        buildReadCondition(readableBy, WHOSE.runs),
        seekBelow("steps.id", after),
      );
      const text = `SELECT steps.id FROM steps JOIN runs ON runs.id = steps.run_id ${where} ORDER BY steps.id DESC LIMIT ?`;
      const ids = statement<string>(text)
        .pluck()
        .all(...values, limit);
      return ids.map((id) => {
        const step = stepRows.find({ id })!;
        return { run: toRunRow(runRows.find({ id: step.run_id })!), step };
      });
    },
    countSince: (at: string): number => runRows.count(["created_at >= ?", at]),
  };
}
