/** Rows of routines and their ticks. */
import { and, asc, count, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, lte, ne, or, type SQL } from "drizzle-orm";
import type { Caller } from "../../http/caller.ts";
import type { Page } from "../../http/list.ts";
import { changeRow } from "../../store/change-row.ts";
import type { Store } from "../../store/store.ts";
import { users } from "../../store/tables/accounts.ts";
import { pulseRoutines as routines, pulseTicks as ticks } from "../../store/tables/pulses.ts";
import { executions } from "../../store/tables/sessions.ts";
import { asSql, readable, WHOSE } from "../../store/whose.ts";

export type RoutineRow = typeof routines.$inferSelect;
export type TickRow = typeof ticks.$inferSelect;
export type PulseStore = ReturnType<typeof createPulseStore>;

const visible = (caller: Caller): SQL | undefined => asSql(readable(caller, WHOSE.pulse_routines));

const ownedBy = (userId: string | null): SQL =>
  userId === null ? isNull(routines.user_id) : eq(routines.user_id, userId);

export function createPulseStore({ db, statement }: Store) {
  return {
    routine: (id: string): RoutineRow | undefined => db.select().from(routines).where(eq(routines.id, id)).get(),
    /** In the order of creation. One more than the page holds when there is a next one. */
    page: (agentId: string | undefined, page: Page, caller: Caller): RoutineRow[] =>
      db
        .select()
        .from(routines)
        .where(
          and(
            visible(caller),
            agentId === undefined ? undefined : eq(routines.agent_id, agentId),
            page.after === null ? undefined : gt(routines.id, page.after),
          ),
        )
        .orderBy(asc(routines.id))
        .limit(page.limit + 1)
        .all(),
    ofAgent: (agentId: string, caller: Caller): RoutineRow[] =>
      db
        .select()
        .from(routines)
        .where(and(visible(caller), eq(routines.agent_id, agentId)))
        .all(),
    ofUser: (userId: string): RoutineRow[] =>
      db.select().from(routines).where(eq(routines.user_id, userId)).orderBy(asc(routines.id)).all(),
    countOf: (agentId: string, userId: string | null): number =>
      db
        .select({ rows: count() })
        .from(routines)
        .where(and(eq(routines.agent_id, agentId), ownedBy(userId)))
        .get()!.rows,
    /** Whether another routine of the same owner and agent has that name. */
    isTaken: (agentId: string, userId: string | null, name: string, except = ""): boolean =>
      db
        .select({ id: routines.id })
        .from(routines)
        .where(and(eq(routines.agent_id, agentId), ownedBy(userId), eq(routines.name, name), ne(routines.id, except)))
        .get() !== undefined,
    insert: (row: RoutineRow): void => void db.insert(routines).values(row).run(),
    update: (id: string, change: Partial<RoutineRow>): void => changeRow(db, routines, change, eq(routines.id, id)),
    remove: (id: string): void => void db.delete(routines).where(eq(routines.id, id)).run(),
    /** When the next routine is due, ms since the epoch. */
    nextDue: (): number | null =>
      statement<number | null>("SELECT min(planned_at) FROM pulse_routines WHERE planned_at IS NOT NULL")
        .pluck()
        .get() ?? null,
    due: (now: number, most: number): RoutineRow[] =>
      db
        .select()
        .from(routines)
        .where(lte(routines.planned_at, now))
        .orderBy(asc(routines.planned_at))
        .limit(most)
        .all(),
    planned: (): RoutineRow[] => db.select().from(routines).where(isNotNull(routines.planned_at)).all(),
    /** Whether it was due at that time already. */
    hasTick: (routineId: string, due: number): boolean =>
      statement("SELECT 1 FROM pulse_ticks WHERE routine_id = ? AND due_at = ? AND cause = 'schedule'").get([
        routineId,
        due,
      ]) !== undefined,
    count: (): number => db.select({ rows: count() }).from(routines).get()!.rows,

    tick: (id: string): TickRow | undefined => db.select().from(ticks).where(eq(ticks.id, id)).get(),
    tickOfSession: (id: string): TickRow | undefined => db.select().from(ticks).where(eq(ticks.session_id, id)).get(),
    /** Newest first. */
    ticks: (routineId: string, before: { due: number; id: string } | undefined, most: number): TickRow[] =>
      db
        .select()
        .from(ticks)
        .where(
          and(
            eq(ticks.routine_id, routineId),
            before && or(lt(ticks.due_at, before.due), and(eq(ticks.due_at, before.due), lt(ticks.id, before.id))),
          ),
        )
        .orderBy(desc(ticks.due_at), desc(ticks.id))
        .limit(most)
        .all(),
    /** Of several routines between two times, oldest first. */
    past(
      routineIds: readonly string[],
      { from, to, after }: { from: number; to: number; after: { due: number; id: string } | undefined },
      most: number,
    ): TickRow[] {
      return db
        .select()
        .from(ticks)
        .where(
          and(
            inArray(ticks.routine_id, [...routineIds]),
            gte(ticks.due_at, from),
            lte(ticks.due_at, to),
            after && or(gt(ticks.due_at, after.due), and(eq(ticks.due_at, after.due), gt(ticks.id, after.id))),
          ),
        )
        .orderBy(asc(ticks.due_at), asc(ticks.id))
        .limit(most)
        .all();
    },
    live: (routineId: string): TickRow[] =>
      db
        .select()
        .from(ticks)
        .where(and(eq(ticks.routine_id, routineId), isNull(ticks.finished_at)))
        .all(),
    insertTick: (row: TickRow): void => void db.insert(ticks).values(row).run(),
    updateTick: (id: string, change: Partial<TickRow>): void => changeRow(db, ticks, change, eq(ticks.id, id)),
    /** The result of the session's work. */
    resultOf: (sessionId: string) =>
      db
        .select({ text: executions.text, error: executions.error })
        .from(executions)
        .where(eq(executions.session_id, sessionId))
        .orderBy(desc(executions.id))
        .limit(1)
        .get(),
    /** Undefined for a user that does not exist. */
    isActive: (userId: string): boolean | undefined =>
      db.select({ active: users.active }).from(users).where(eq(users.id, userId)).get()?.active,
    /** The agent's open tasks in all projects, the most urgent first. */
    openTasks: (agentId: string, most: number): OpenTask[] =>
      statement<OpenTask>(
        `SELECT tasks.id AS task_id, tasks.title, tasks.status, 'p' || tasks.priority AS priority, projects.name AS project,
           projects.id AS project_id, tasks.outside
         FROM tasks JOIN projects ON projects.id = tasks.project_id
         WHERE tasks.assigned_agent = ? AND tasks.finished_at IS NULL
         ORDER BY tasks.priority, tasks.position LIMIT ?`,
      ).all([agentId, most]),
  };
}

export interface OpenTask {
  task_id: string;
  title: string;
  status: string;
  priority: string;
  project: string;
  project_id: string;
  /** Why its words may be outside text; null: they are not. */
  outside: string | null;
}
