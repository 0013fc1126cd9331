/** Rows of swarms and their tasks. */
import { and, asc, desc, eq, isNull, lt, lte, sql } from "drizzle-orm";
import type { Caller } from "../../http/caller.ts";
import type { Page } from "../../http/list.ts";
import { changeRow } from "../../store/change-row.ts";
import type { Store } from "../../store/store.ts";
import { sessions } from "../../store/tables/sessions.ts";
import { swarms, swarmTasks } from "../../store/tables/swarms.ts";
import { asSql, readable, ruledBy, WHOSE } from "../../store/whose.ts";

export type SwarmRow = typeof swarms.$inferSelect;
export type TaskRow = typeof swarmTasks.$inferSelect;
export type SwarmRows = ReturnType<typeof createSwarmRows>;

/** As the partial index has it. */
const RUNNING = sql`${swarms.status} = 'running'`;

export function createSwarmRows({ db }: Store) {
  return {
    swarm: (id: string): SwarmRow | undefined => db.select().from(swarms).where(eq(swarms.id, id)).get(),
    ofSession: (sessionId: string): SwarmRow | undefined =>
      db.select().from(swarms).where(eq(swarms.session_id, sessionId)).get(),
    tasks: (id: string): TaskRow[] =>
      db.select().from(swarmTasks).where(eq(swarmTasks.swarm_id, id)).orderBy(asc(swarmTasks.position)).all(),
    taskOf: (sessionId: string): TaskRow | undefined =>
      db.select().from(swarmTasks).where(eq(swarmTasks.session_id, sessionId)).get(),
    insert(swarm: SwarmRow, tasks: readonly TaskRow[]): void {
      db.insert(swarms).values(swarm).run();
      for (const task of tasks) db.insert(swarmTasks).values(task).run();
    },
    update: (id: string, change: Partial<SwarmRow>) => changeRow(db, swarms, change, eq(swarms.id, id)),
    updateTask: ({ swarm_id, position }: TaskRow, change: Partial<TaskRow>) =>
      changeRow(db, swarmTasks, change, and(eq(swarmTasks.swarm_id, swarm_id), eq(swarmTasks.position, position))),
    /** Those that the caller may read, newest first, one more than the page holds. */
    page: (page: Page, caller: Caller): SwarmRow[] =>
      db
        .select({ swarm: swarms })
        .from(swarms)
        .innerJoin(sessions, eq(sessions.id, swarms.session_id))
        .where(
          and(
            eq(sessions.kind, "swarm"),
            asSql(readable(caller, ruledBy(WHOSE.swarms.policy, WHOSE.sessions))),
            page.after === null ? undefined : lt(sessions.id, page.after),
          ),
        )
        .orderBy(desc(sessions.id))
        .limit(page.limit + 1)
        .all()
        .map(({ swarm }) => swarm),
    /** Ms since the epoch; null when no swarm runs. */
    nextDeadline: (): number | null =>
      db
        .select({ at: sql<number | null>`min(${swarms.deadline_at})` })
        .from(swarms)
        .where(and(RUNNING, isNull(swarms.stop)))
        .get()?.at ?? null,
    late: (now: number): SwarmRow[] =>
      db
        .select()
        .from(swarms)
        .where(and(RUNNING, isNull(swarms.stop), lte(swarms.deadline_at, now)))
        .all(),
  };
}
