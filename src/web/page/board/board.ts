/** Tasks of a project as its board shows them, and moving one: shown at once, taken back when the server refuses. */
import { useEffect, useState } from "react";
import { client, must, problemOf, type Schemas } from "../../api/client.ts";
import { refresh, usePages } from "../../api/queries.ts";

export type Task = Schemas["ProjectTask"];
export type Project = Schemas["Project"];
export type Column = Project["columns"][number];

export const PRIORITY = { p0: "Urgent", p1: "High", p2: "Normal", p3: "Low" } as const;
export const WORK_TYPES = [
  ...(["feature", "bugfix", "test", "refactor", "docs", "infrastructure", "design", "custom"] as const),
];
export const wordOf = (status: string): string => status.charAt(0).toUpperCase() + status.slice(1).replaceAll("_", " ");

export const refreshTasks = () => refresh("/v1/projects/{id}/tasks", "/v1/projects");

/** Most tasks that a board loads; the rest is found by search. */
const TASKS_MAX = 1_000;
const PAGE = 200;

export interface Move {
  id: string;
  status: string;
  /** Neighbour that it is put before or after; without one it goes where the server puts it. */
  before?: string;
  after?: string;
}

/** Rules that a person may overrule. */
export const OVERRULED = new Set(["wip_limit", "dependencies_unmet", "stage_required"]);

export function useBoard(project: Project, q: string) {
  const query = usePages("/v1/projects/{id}/tasks", {
    path: { id: project.id },
    query: { limit: PAGE, ...(q ? { q } : {}) },
  });
  const { rows, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && rows.length < TASKS_MAX) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, rows.length]);
  const [ahead, setAhead] = useState<Move | null>(null);
  const [refused, setRefused] = useState<{ move: Move; error: unknown } | null>(null);
  const path = (tid: string) => ({ params: { path: { id: project.id, tid } } });
  const carry = async (move: Move, force: boolean) => {
    const { id, ...body } = move;
    setAhead(move);
    setRefused(null);
    try {
      if (force)
        await must(
          client.POST("/v1/projects/{id}/tasks/{tid}/transition", {
            ...path(id),
            body: { status: move.status, force },
          }),
        );
      else await must(client.POST("/v1/projects/{id}/tasks/{tid}/move", { ...path(id), body }));
      await refreshTasks();
    } catch (error) {
      setRefused({ move, error });
    } finally {
      setAhead(null);
    }
  };
  return {
    query,
    refused: refused && { ...refused, overruled: OVERRULED.has(problemOf(refused.error).code) },
    dismiss: () => setRefused(null),
    columns: project.columns.map((column) => ({ ...column, tasks: tasksIn(column, rows, ahead) })),
    move: (move: Move) => carry(move, false),
    force: (move: Move) => carry(move, true),
  };
}

/** The column's tasks in the board's order, with a move that is under way as if it were done. */
function tasksIn({ statuses }: Column, rows: Task[], ahead: Move | null): Task[] {
  const own = rows.filter(({ id, status }) => statuses.includes(status) && id !== ahead?.id);
  const moved = ahead && statuses.includes(ahead.status) && rows.find(({ id }) => id === ahead.id);
  if (!moved) return own;
  const task = { ...moved, status: ahead.status };
  const at = own.findIndex(({ id }) => id === (ahead.before ?? ahead.after));
  if (at < 0) return [...own, task];
  return own.toSpliced(at + (ahead.after === undefined ? 0 : 1), 0, task);
}
