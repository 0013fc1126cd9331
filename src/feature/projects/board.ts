/** The board of a project: columns, and the statuses that tasks in each may have. */
import { invalidField } from "../../core/errors.ts";
import type { BoardColumn } from "./model.ts";

/** Statuses that have a meaning to the rules; every board has them. */
const BASIC_STATUSES = ["backlog", "ready", "in_progress", "review", "blocked", "done", "failed"] as const;

const createColumn = (id: string, name: string, ...statuses: string[]): BoardColumn => ({
  id,
  name,
  statuses,
  wip_limit: null,
});

export const DEFAULT_COLUMNS: readonly BoardColumn[] = [
  createColumn("backlog", "Backlog", "backlog"),
  createColumn("ready", "Ready", "ready", "blocked"),
  createColumn("in_progress", "In progress", "in_progress"),
  createColumn("review", "Review", "review"),
  createColumn("done", "Done", "done", "failed"),
];

type Given = Omit<BoardColumn, "wip_limit"> & { wip_limit?: number | null | undefined };

/** @throws Problem 422 when a column or status occurs twice, or a basic status is missing. */
export function boardOf(columns: readonly Given[]): BoardColumn[] {
  const [ids, statuses] = [new Set<string>(), new Set<string>()];
  for (const [index, { id, statuses: own }] of columns.entries()) {
    if (ids.has(id)) throw invalidField(`/columns/${index}/id`, "Another column has this id");
    ids.add(id);
    for (const [place, status] of own.entries()) {
      if (statuses.has(status)) throw invalidField(`/columns/${index}/statuses/${place}`, "A status is in one column");
      statuses.add(status);
    }
  }
  const missing = BASIC_STATUSES.filter((status) => !statuses.has(status));
  if (missing.length > 0) throw invalidField("/columns", `The board also needs the statuses ${missing.join(", ")}`);
  return columns.map(({ wip_limit = null, ...rest }) => ({ ...rest, wip_limit }));
}
