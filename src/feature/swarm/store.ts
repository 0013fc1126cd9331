/** Rows of swarms and their tasks. */
import type { Caller } from "../../http/caller.ts";
import type { Page } from "../../http/list.ts";
import { allOf, type Condition, seekBelow } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { swarms, swarmTasks } from "../../store/tables/swarms.ts";
import { buildReadCondition, ruledBy, WHOSE } from "../../store/whose.ts";

export type SwarmRow = typeof swarms.$inferSelect;
export type TaskRow = typeof swarmTasks.$inferSelect;
export type SwarmRows = ReturnType<typeof createSwarmRows>;

/** Swarms that run, written as the partial index has it. */
const RUNNING: Condition = ["status = 'running' AND stop IS NULL"];

export function createSwarmRows({ rows, statement }: Store) {
  const all = rows(swarms);
  const tasks = rows(swarmTasks);
  return {
    swarm: (id: string): SwarmRow | undefined => all.find({ id }),
    ofSession: (session_id: string): SwarmRow | undefined => all.find({ session_id }),
    tasks: (swarm_id: string): TaskRow[] => tasks.list([{ swarm_id }], { order: "position" }),
    taskOf: (session_id: string): TaskRow | undefined => tasks.find({ session_id }),
    insert(swarm: SwarmRow, ofSwarm: readonly TaskRow[]): void {
      all.insert(swarm);
      for (const task of ofSwarm) tasks.insert(task);
    },
    update: (id: string, change: Partial<SwarmRow>) => void all.update(change, { id }),
    updateTask: ({ swarm_id, position }: TaskRow, change: Partial<TaskRow>) =>
      void tasks.update(change, { swarm_id, position }),
    /** Swarms that the caller may read, newest first. Holds one more than the page when there is a next page. */
    page(page: Page, caller: Caller): SwarmRow[] {
      const { where, values } = allOf(
        ["sessions.kind = 'swarm'"],
        buildReadCondition(caller, ruledBy(WHOSE.swarms.policy, WHOSE.sessions)),
        seekBelow("sessions.id", page),
      );
      const newest = statement<{ id: string }>(
        `SELECT swarms.id FROM sessions JOIN swarms ON swarms.session_id = sessions.id ${where} ORDER BY sessions.id DESC LIMIT ?`,
      );
      return newest.all(...values, page.limit + 1).map(({ id }) => all.find({ id })!);
    },
    /** The next deadline, ms since the epoch; null when no swarm runs. */
    nextDeadline: (): number | null => all.list([RUNNING], { order: "deadline_at", limit: 1 })[0]?.deadline_at ?? null,
    late: (now: number): SwarmRow[] => all.list([RUNNING, ["deadline_at <= ?", now]]),
  };
}
