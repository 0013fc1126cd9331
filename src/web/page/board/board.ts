/** The tasks of projects as a board shows them. A move is shown at once and undone if the server refuses it. */
import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { client, must, problemOf, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";

export type Task = Schemas["ProjectTask"];
export type Project = Schemas["Project"];
export type Column = Project["columns"][number];

export const PRIORITY = { p0: "Urgent", p1: "High", p2: "Normal", p3: "Low" } as const;
export const WORK_TYPES = [
  ...(["feature", "bugfix", "test", "refactor", "docs", "infrastructure", "design", "custom"] as const),
];
export const wordOf = (status: string): string => status.charAt(0).toUpperCase() + status.slice(1).replaceAll("_", " ");

export const refreshTasks = () => refresh("/v1/projects/{id}/tasks", "/v1/projects");

/** How many tasks of one project a board loads at most. Others can be found by search. */
const TASKS_MAX = 1_000;
const PAGE = 200;

export interface Move {
  id: string;
  status: string;
  /** The task before or after which it is placed; without either, the server chooses the place. */
  before?: string;
  after?: string;
}

/** Error codes of rules that a person may override. */
export const OVERRULED = new Set(["wip_limit", "dependencies_unmet", "stage_required"]);

const PATH = "/v1/projects/{id}/tasks";

/** Query for the tasks of one project that the board loads, page after page. */
function tasksQuery(project: string, q: string) {
  const params = { path: { id: project }, query: { limit: PAGE, ...(q ? { q } : {}) } };
  return {
    queryKey: ["get", PATH, { params, board: true }],
    async queryFn({ signal }: { signal: AbortSignal }) {
      const items: Task[] = [];
      for (let cursor: string | undefined; ; ) {
        const query = { ...params.query, ...(cursor === undefined ? {} : { cursor }) };
        const page = await must(client.GET(PATH, { params: { ...params, query }, signal }));
        items.push(...page.items);
        if (page.next_cursor === null) return { items, more: false };
        if (items.length >= TASKS_MAX) return { items, more: true };
        cursor = page.next_cursor;
      }
    },
  };
}

/** Merges the columns of several boards by id, in the order in which they first occur. */
function joinedColumns(projects: readonly Project[]): Column[] {
  const [first] = projects;
  if (first && projects.length === 1) return first.columns;
  const joined = new Map<string, Column>();
  for (const { columns } of projects)
    for (const { id, name, statuses } of columns) {
      const known = joined.get(id);
      const all = [...new Set([...(known?.statuses ?? []), ...statuses])];
      // Limits apply to one project, not to the merged column.
      joined.set(id, { id, name: known?.name ?? name, statuses: all, wip_limit: null });
    }
  return [...joined.values()];
}

export function useBoard(projects: readonly Project[], q: string) {
  const asked = useQueries({ queries: projects.map(({ id }) => tasksQuery(id, q)) });
  const isPending = asked.some((one) => one.isPending && !one.error);
  const rows = asked.flatMap(({ data }) => data?.items ?? []);
  const query = {
    isPending,
    error: asked.find(({ error }) => error)?.error,
    data: isPending && rows.length === 0 ? undefined : rows,
    refetch: () => Promise.all(asked.map((one) => one.refetch())),
  };
  const [ahead, setAhead] = useState<Move | null>(null);
  const [refused, setRefused] = useState<{ move: Move; error: unknown } | null>(null);
  const toParams = (tid: string) => {
    const id = rows.find((one) => one.id === tid)?.project_id ?? projects[0]?.id ?? "";
    return { params: { path: { id, tid } } };
  };
  const carry = async (move: Move, force: boolean) => {
    const { id, ...body } = move;
    setAhead(move);
    setRefused(null);
    try {
      if (force)
        await must(
          client.POST("/v1/projects/{id}/tasks/{tid}/transition", {
            ...toParams(id),
            body: { status: move.status, force },
          }),
        );
      else await must(client.POST("/v1/projects/{id}/tasks/{tid}/move", { ...toParams(id), body }));
      await refreshTasks();
    } catch (error) {
      setRefused({ move, error });
    } finally {
      setAhead(null);
    }
  };
  return {
    query,
    rows,
    more: asked.some(({ data }) => data?.more),
    refused: refused && { ...refused, overruled: OVERRULED.has(problemOf(refused.error).code) },
    dismiss: () => setRefused(null),
    columns: joinedColumns(projects).map((column) => ({ ...column, tasks: tasksIn(column, rows, ahead) })),
    move: (move: Move) => carry(move, false),
    force: (move: Move) => carry(move, true),
  };
}

/** The column's tasks in the board's order, with a pending move applied. */
function tasksIn({ statuses }: Column, rows: Task[], ahead: Move | null): Task[] {
  const own = rows.filter(({ id, status }) => statuses.includes(status) && id !== ahead?.id);
  const moved = ahead && statuses.includes(ahead.status) && rows.find(({ id }) => id === ahead.id);
  if (!moved) return own;
  const task = { ...moved, status: ahead.status };
  const at = own.findIndex(({ id }) => id === (ahead.before ?? ahead.after));
  if (at < 0) return [...own, task];
  return own.toSpliced(at + (ahead.after === undefined ? 0 : 1), 0, task);
}
