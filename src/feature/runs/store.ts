/** Rows of runs and steps. */
import {
  and,
  asc,
  count,
  desc,
  eq,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  min,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { isRunEnd, RUN_STATUSES, type RunStatus } from "../../core/run-states.ts";
import { containsText } from "../../store/contains-text.ts";
import type { Store } from "../../store/store.ts";
import { runAgents, runs, steps } from "../../store/tables/runs.ts";
import { executions } from "../../store/tables/sessions.ts";

export type RunRow = typeof runs.$inferSelect;
export type StepRow = typeof steps.$inferSelect;

export interface Spent {
  cost_usd: number;
  tokens: number;
}

/** Of a step's attempt, what lists of runs show. */
export type ProgressRow = Pick<
  StepRow,
  "run_id" | "step_id" | "agent_id" | "item_index" | "superseded" | "status" | "attempt" | "inputs"
>;

export const spentOf = ({ cost_nano, tokens }: Pick<RunRow, "cost_nano" | "tokens">): Spent => ({
  cost_usd: cost_nano / 1e9,
  tokens,
});

export interface RunFilter {
  pipeline_id?: string | undefined;
  statuses?: readonly RunStatus[] | undefined;
  project_id?: string | undefined;
  task_id?: string | undefined;
  /** Runs in which this agent took a step. */
  agent_id?: string | undefined;
  created_by?: string | undefined;
  /** Runs of that user and of nobody; null: of nobody alone. */
  open_to?: string | null | undefined;
  /** RFC 3339. */
  since?: string | undefined;
  /** Words of the task, the pipeline or the project. */
  text?: string | undefined;
}

/** Every word occurs in the task, the pipeline's id, the project's name or the run's id. */
function holds(text: string): SQL | undefined {
  const within = (word: string) =>
    or(
      ...[runs.task_description, runs.pipeline_id, runs.project_name, runs.id].map((column) =>
        containsText(column, word),
      ),
    );
  return and(...text.split(/\s+/).filter(Boolean).map(within));
}

const LIVE_RUN = RUN_STATUSES.filter((status) => !isRunEnd(status));

export type RunStore = ReturnType<typeof createRunStore>;

export function createRunStore({ db }: Store) {
  const counted = (table: typeof runs | typeof steps, where: SQL): number =>
    db.select({ rows: count() }).from(table).where(where).get()!.rows;
  /** As the partial index has it. */
  const waitingForPerson = sql`${steps.deadline} IS NOT NULL AND ${steps.status} = 'waiting'`;
  return {
    insertRun: (row: RunRow) => void db.insert(runs).values(row).run(),
    insertStep: (row: StepRow) => void db.insert(steps).values(row).run(),
    updateRun: (id: string, change: Partial<RunRow>) => void db.update(runs).set(change).where(eq(runs.id, id)).run(),
    updateStep: (id: string, change: Partial<StepRow>) =>
      void db.update(steps).set(change).where(eq(steps.id, id)).run(),
    run: (id: string): RunRow | undefined => db.select().from(runs).where(eq(runs.id, id)).get(),
    step: (id: string): StepRow | undefined => db.select().from(steps).where(eq(steps.id, id)).get(),
    /** Every attempt, oldest first. */
    stepsOf: (runId: string): StepRow[] =>
      db.select().from(steps).where(eq(steps.run_id, runId)).orderBy(asc(steps.position)).all(),
    /** What queued work of these runs waits for besides its turn, by run. */
    waitsOf(runIds: readonly string[]): Map<string, string> {
      if (runIds.length === 0) return new Map();
      const found = db
        .select({ run: executions.run_id, what: executions.waits_for })
        .from(executions)
        .where(
          and(inArray(executions.run_id, [...runIds]), isNotNull(executions.waits_for), isNull(executions.finished_at)),
        )
        .all();
      return new Map(found.map(({ run, what }) => [run!, what!]));
    },
    unfinished: (): RunRow[] => db.select().from(runs).where(inArray(runs.status, LIVE_RUN)).all(),
    /** Runs with an approval whose time is up. @param at ms since the epoch. */
    withDeadlineBefore: (at: number): { id: string }[] =>
      db
        .selectDistinct({ id: steps.run_id })
        .from(steps)
        .where(and(waitingForPerson, lte(steps.deadline, at)))
        .all(),
    /** When the next of them is over, ms since the epoch. */
    nextDeadline: (): number | null =>
      db
        .select({ at: min(steps.deadline) })
        .from(steps)
        .where(waitingForPerson)
        .get()!.at,
    /** As it is now. */
    spentByRun(runId: string): Spent {
      const { cost_nano, tokens } = runs;
      const row = db.select({ cost_nano, tokens }).from(runs).where(eq(runs.id, runId)).get();
      return spentOf(row ?? { cost_nano: 0, tokens: 0 });
    },
    /** Of several runs, by run, oldest first: what says how far each is. */
    progressRows(runIds: readonly string[]): Map<string, ProgressRow[]> {
      const { run_id, step_id, agent_id, item_index, superseded, status, attempt, inputs } = steps;
      const found = db
        .select({ run_id, step_id, agent_id, item_index, superseded, status, attempt, inputs })
        .from(steps)
        .where(inArray(run_id, [...runIds]))
        .orderBy(asc(run_id), asc(steps.position))
        .all();
      const byRun = new Map<string, ProgressRow[]>(runIds.map((id) => [id, []]));
      for (const row of found) byRun.get(row.run_id)!.push(row);
      return byRun;
    },
    /** The agent's work on an attempt; nothing for steps without an agent. */
    workOf(id: string | null): Spent & { ended_by: "complete" | "text" | null } {
      const { cost_nano, tokens, ended_by } = executions;
      const columns = { cost_nano, tokens, ended_by };
      const row = id === null ? undefined : db.select(columns).from(executions).where(eq(executions.id, id)).get();
      return { cost_usd: (row?.cost_nano ?? 0) / 1e9, tokens: row?.tokens ?? 0, ended_by: row?.ended_by ?? null };
    },
    /** Newest first, from below the cursor's id. */
    page(filter: RunFilter, after: string | null, limit: number): RunRow[] {
      const { pipeline_id, statuses, project_id, task_id, agent_id, created_by, open_to, since, text } = filter;
      const where = and(
        after === null ? undefined : lt(runs.id, after),
        pipeline_id === undefined ? undefined : eq(runs.pipeline_id, pipeline_id),
        statuses === undefined ? undefined : inArray(runs.status, [...statuses]),
        project_id === undefined ? undefined : eq(runs.project_id, project_id),
        task_id === undefined ? undefined : eq(runs.task_id, task_id),
        created_by === undefined ? undefined : eq(runs.created_by, created_by),
        open_to === undefined ? undefined : or(isNull(runs.created_by), eq(runs.created_by, open_to ?? "")),
        since === undefined ? undefined : gte(runs.created_at, since),
        text === undefined ? undefined : holds(text),
      );
      if (agent_id === undefined) return db.select().from(runs).where(where).orderBy(desc(runs.id)).limit(limit).all();
      // Walked by the agent's runs, newest first, so that a page costs what it shows.
      const own = db.select({ run: runs }).from(runAgents).innerJoin(runs, eq(runs.id, runAgents.run_id));
      const below = after === null ? undefined : lt(runAgents.run_id, after);
      return own
        .where(and(eq(runAgents.agent_id, agent_id), below, where))
        .orderBy(desc(runAgents.run_id))
        .limit(limit)
        .all()
        .map(({ run }) => run);
    },
    countLive: (): number => counted(runs, inArray(runs.status, LIVE_RUN)),
    /** Steps that a person answers or answered, with their runs; newest first, from below the cursor's step id. */
    approvals(
      { waiting, created_by }: { waiting: boolean; created_by?: string | undefined },
      after: string | null,
      limit: number,
    ) {
      const where = and(
        sql`json_extract(${steps.inputs}, '$.message') IS NOT NULL`,
        isNull(steps.agent_id),
        waiting ? eq(steps.status, "waiting") : inArray(steps.status, ["succeeded", "failed"]),
        created_by === undefined ? undefined : or(eq(runs.created_by, created_by), isNull(runs.created_by)),
        after === null ? undefined : lt(steps.id, after),
      );
      const found = db.select({ run: runs, step: steps }).from(steps).innerJoin(runs, eq(runs.id, steps.run_id));
      return found.where(where).orderBy(desc(steps.id)).limit(limit).all();
    },
    countSince: (at: string): number => counted(runs, gte(runs.created_at, at)),
    countByAgent: (agentId: string): number => counted(steps, eq(steps.agent_id, agentId)),
  };
}
