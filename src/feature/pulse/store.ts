/** Rows of routines and their ticks. */
import type { Caller } from "../../http/caller.ts";
import type { Page } from "../../http/list.ts";
import { type Condition, matchInJson, seekAbove } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { users } from "../../store/tables/accounts.ts";
import { pulseRoutines as routines, pulseTicks as ticks } from "../../store/tables/pulses.ts";
import { executions } from "../../store/tables/sessions.ts";
import { buildReadCondition, WHOSE } from "../../store/whose.ts";

export type RoutineRow = typeof routines.$inferSelect;
export type TickRow = typeof ticks.$inferSelect;
export type PulseStore = ReturnType<typeof createPulseStore>;

const restrictTo = (caller: Caller): Condition => buildReadCondition(caller, WHOSE.pulse_routines);

/** Position in a list of ticks from which it continues. */
interface Place {
  due: number;
  id: string;
}

export function createPulseStore({ rows: rowsOf, statement }: Pick<Store, "rows" | "statement">) {
  const [rows, tickRows] = [rowsOf(routines), rowsOf(ticks)];
  const [people, done] = [rowsOf(users), rowsOf(executions)];
  return {
    routine: (id: string): RoutineRow | undefined => rows.find({ id }),
    /** Routines in the order of their creation. Holds one more than the page when there is a next page. */
    page: (agentId: string | undefined, page: Page, caller: Caller): RoutineRow[] =>
      rows.list([restrictTo(caller), { agent_id: agentId }, seekAbove("id", page)], {
        order: "id",
        limit: page.limit + 1,
      }),
    ofAgent: (agentId: string, caller: Caller): RoutineRow[] => rows.list([restrictTo(caller), { agent_id: agentId }]),
    ofUser: (userId: string): RoutineRow[] => rows.list([{ user_id: userId }], { order: "id" }),
    countOf: (agentId: string, userId: string | null): number => rows.count({ agent_id: agentId, user_id: userId }),
    /** Whether another routine of the same owner and agent has that name. */
    isTaken: (agentId: string, userId: string | null, name: string, except = ""): boolean =>
      rows.find({ agent_id: agentId, user_id: userId, name }, ["id <> ?", except]) !== undefined,
    insert: rows.insert,
    update: (id: string, change: Partial<RoutineRow>): void => void rows.update(change, { id }),
    remove: (id: string): void => void rows.remove({ id }),
    /** When the next routine is due, ms since the epoch. */
    nextDue: (): number | null =>
      statement<number | null>("SELECT min(planned_at) FROM pulse_routines WHERE planned_at IS NOT NULL")
        .pluck()
        .get() ?? null,
    due: (now: number, most: number): RoutineRow[] =>
      rows.list([["planned_at <= ?", now]], { order: "planned_at", limit: most }),
    listPlanned: (): RoutineRow[] => rows.list([["planned_at IS NOT NULL"]]),
    /** Whether the routine already has a scheduled tick of that time. */
    hasTick: (routineId: string, due: number): boolean =>
      statement("SELECT 1 FROM pulse_ticks WHERE routine_id = ? AND due_at = ? AND cause = 'schedule'").get([
        routineId,
        due,
      ]) !== undefined,
    count: (): number => rows.count(),

    tick: (id: string): TickRow | undefined => tickRows.find({ id }),
    tickOfSession: (id: string): TickRow | undefined => tickRows.find({ session_id: id }),
    /** Newest first. */
    ticks(routineId: string, before: Place | undefined, most: number): TickRow[] {
      const earlier: Condition = before && ["(due_at, id) < (?, ?)", before.due, before.id];
      return tickRows.list([{ routine_id: routineId }, earlier], { order: "due_at DESC, id DESC", limit: most });
    },
    /** Ticks of several routines between two times, oldest first. */
    past(
      routineIds: readonly string[],
      { from, to, after }: { from: number; to: number; after: Place | undefined },
      most: number,
    ): TickRow[] {
      const later: Condition = after && ["(due_at, id) > (?, ?)", after.due, after.id];
      const where = [matchInJson("routine_id", routineIds), ["due_at BETWEEN ? AND ?", from, to] as const, later];
      return tickRows.list(where, { order: "due_at, id", limit: most });
    },
    live: (routineId: string): TickRow[] => tickRows.list([{ routine_id: routineId, finished_at: null }]),
    insertTick: tickRows.add,
    updateTick: (id: string, change: Partial<TickRow>): void => void tickRows.update(change, { id }),
    /** The newest result of the session's work. */
    resultOf: (sessionId: string) => done.list([{ session_id: sessionId }], { order: "id DESC", limit: 1 })[0],
    /** Whether the account is active; undefined for a user that does not exist. */
    isActive: (userId: string): boolean | undefined => people.find({ id: userId })?.active,
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
  /** Why the task's text may be outside text; null when it is not. */
  outside: string | null;
}
