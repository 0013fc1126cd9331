/**
 * Applies what follows from a task's change of status, in the same transaction: a finished task unblocks those that
 * depend on it, a failed one blocks them, and parents follow their children.
 */
import { toTimestamp } from "../../core/clock.ts";
import type { HistoryNote, TaskRow, TaskStore } from "./store.ts";

export const FINISHED: ReadonlySet<string> = new Set(["done", "failed"]);
/** Statuses in which somebody works on the task. */
const ACTIVE: ReadonlySet<string> = new Set(["in_progress", "review"]);
/** Statuses from which a task can be claimed. */
export const CLAIMABLE: ReadonlySet<string> = new Set(["backlog", "ready", "in_progress"]);

const RULE = "rule";
/** Limits how far changes spread through parents and dependencies, in case rows were edited into a cycle. */
const DEPTH = 20;

interface StatusChange {
  status: string;
  note: HistoryNote;
  fields?: Partial<TaskRow>;
}

export type TaskRules = ReturnType<typeof createTaskRules>;

export function createTaskRules(rows: TaskStore, nowMs: () => number) {
  function move(row: TaskRow, { status, note, fields = {} }: StatusChange, depth = 0): TaskRow {
    const finished = FINISHED.has(status);
    const left = status === row.status ? {} : { position: rows.lastPosition(row.project_id, status) + 1 };
    const ended = finished || status === "blocked" ? { lease_until: null } : {};
    const moved = rows.update(
      row.id,
      {
        ...left,
        ...ended,
        blocked_from: null,
        finished_at: finished ? (row.finished_at ?? toTimestamp(nowMs())) : null,
        ...fields,
        status,
      },
      { ...note, from: row.status, to: status },
    );
    if (status === row.status || depth > DEPTH) return moved;
    if (status === "done") for (const next of rows.dependents(row.id)) unblock(next, moved, depth);
    if (status === "failed") for (const next of rows.dependents(row.id)) block(next, moved, depth);
    if (row.parent_id !== null) follow(row.parent_id, depth);
    return moved;
  }
  const byRule = (note: string): HistoryNote => ({ actor: RULE, change: "moved", note });

  function unblock(row: TaskRow, done: TaskRow, depth: number): void {
    if (row.status !== "blocked" || row.blocked_from === null || rows.listUnmet(row.id).length > 0) return;
    const note = byRule(`${done.title} is done.`);
    // The claim was lost while the task was blocked.
    const status = ACTIVE.has(row.blocked_from) ? "ready" : row.blocked_from;
    move(row, { status, note, fields: { assigned_agent: null } }, depth + 1);
  }
  function block(row: TaskRow, failed: TaskRow, depth: number): void {
    if (FINISHED.has(row.status) || row.status === "blocked") return;
    const note = byRule(`${failed.title} has failed.`);
    move(row, { status: "blocked", note, fields: { blocked_from: row.status } }, depth + 1);
  }
  /** Updates a parent from its children: it is at work while a child is, and ends when all have ended. */
  function follow(parentId: string, depth: number): void {
    const parent = rows.find(parentId);
    if (!parent) return;
    const children = rows.children(parentId);
    const hasOnly = (test: (status: string) => boolean) => children.every(({ status }) => test(status));
    const status = hasOnly((one) => one === "done")
      ? "done"
      : hasOnly((one) => FINISHED.has(one))
        ? "failed"
        : children.some((child) => ACTIVE.has(child.status)) || FINISHED.has(parent.status)
          ? "in_progress"
          : parent.status;
    if (status === parent.status || (status === "in_progress" && ACTIVE.has(parent.status))) return;
    move(parent, { status, note: byRule("It follows its subtasks.") }, depth + 1);
  }
  return {
    /** Changes the status and applies everything that follows. Call it inside a transaction. */
    move: (row: TaskRow, change: StatusChange): TaskRow => move(row, change),
  };
}
