/** Claims of tasks by agents. A claim is a lease for a limited time, which the agent renews while it works. */
import { toTimestamp } from "../../core/clock.ts";
import { conflict } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ExecutionHolder } from "../../engine/tokens.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import type { Core } from "../feature.ts";
import type { TaskChecks } from "./checks.ts";
import type { Task, TaskClaim } from "./model.ts";
import { CLAIMABLE, type TaskRules } from "./rules.ts";
import type { TaskRow, TaskStore } from "./store.ts";

export interface ClaimsDeps extends Pick<Core, "store" | "clock"> {
  rows: TaskStore;
  rules: TaskRules;
  checks: Pick<TaskChecks, "assertAgent" | "findObstacle">;
  /** Called when a lease was given: its end may be the next thing due. */
  leaseChanged(): void;
  works: {
    /** The run of a session, or else the root of its tree of sessions. */
    of(sessionId: string): string;
    /** Whether a run or a session has not ended. */
    isOpen(id: string): boolean;
  };
  /** @throws Problem 404, also for a task of another project. */
  rowOf(projectId: string, id: string): TaskRow;
  present(row: TaskRow): Task;
}

export function createClaims({ store, clock, rows, rules, checks, leaseChanged, works, rowOf, present }: ClaimsDeps) {
  const claimantOf = ({ execution }: Caller): string | null => (execution ? works.of(execution.sessionId) : null);

  function release(row: TaskRow, actor: string, note?: string): TaskRow {
    const fields = { assigned_agent: null, lease_until: null, claimed_by: null };
    const said = { actor, change: "released" as const, note };
    return row.status === "in_progress"
      ? rules.move(row, { status: "ready", note: said, fields })
      : rows.update(row.id, fields, said);
  }

  return {
    /**
     * Claims the task for an agent, or gives it back. A repeated claim by the same agent renews the lease.
     * @throws Problem 409 naming the holder, what is not done, or the status.
     */
    claim(
      projectId: string,
      id: string,
      { agent_id, release: givesBack }: TaskClaim,
      caller: Caller,
    ): { task: Task; branch: string | null } {
      return store.write(({ after }) => {
        const row = rowOf(projectId, id);
        checks.assertAgent(agent_id, "/agent_id");
        const holder = row.lease_until !== null && row.lease_until > clock.now() ? row.assigned_agent : null;
        if (holder !== null && holder !== agent_id)
          throw conflict(`${holder} holds the task until ${toTimestamp(row.lease_until!)}.`, "task_claimed", {
            holder,
          });
        const mine = claimantOf(caller);
        if (holder !== null && mine !== null && row.claimed_by !== null && row.claimed_by !== mine)
          if (works.isOpen(row.claimed_by))
            throw conflict(`Other work of ${holder} holds the task: ${row.claimed_by}.`, "task_claimed", { holder });
        const answer = (claimed: TaskRow) => ({ task: present(claimed), branch: claimed.branch });
        if (givesBack) return answer(holder === null ? row : release(row, actorOf(caller)));
        if (!CLAIMABLE.has(row.status))
          throw conflict(`A task that is ${row.status} cannot be claimed.`, "not_claimable");
        const problem = checks.findObstacle(row, "in_progress");
        if (problem) throw problem;
        after(leaseChanged);
        return answer(
          rules.move(row, {
            status: "in_progress",
            note: { actor: actorOf(caller), change: "claimed", note: agent_id },
            fields: {
              assigned_agent: agent_id,
              lease_until: clock.now() + LIMITS.taskLeaseMs,
              claimed_by: mine,
              branch: row.branch ?? `task/${id}`,
            },
          }),
        );
      });
    },
    /** Whether the caller's run or tree of sessions was given the task or has claimed it. */
    isHeldBy(projectId: string, id: string, { sessionId, runId }: ExecutionHolder): boolean {
      const row = rowOf(projectId, id);
      const mine = works.of(sessionId);
      return row.claimed_by === mine || (runId !== undefined && row.run_id === runId);
    },
    /** Releases tasks whose lease has run out. */
    endLeases(): void {
      store.write(() => {
        for (const row of rows.listExpired(clock.now())) {
          const minutes = LIMITS.taskLeaseMs / 60_000;
          if (row.run_id !== null && row.status === "in_progress")
            rows.update(
              row.id,
              { lease_until: clock.now() + LIMITS.taskLeaseMs },
              { actor: "rule", change: "updated", note: "Its run is at work." },
            );
          else release(row, "rule", `${row.assigned_agent} gave no sign of life for ${minutes} minutes.`);
        }
      });
    },
  };
}
