/** The progress of all runs of a page, in one query. */
import { type Progress, progressOf } from "./plan.ts";
import type { ListedRun, RunStore } from "./store.ts";

type Shown = Pick<ListedRun, "id" | "status" | "definition_id">;

/** @returns the progress by run id. */
export function progressByRun(
  store: Pick<RunStore, "definition" | "progressRows">,
  runs: readonly Shown[],
): Map<string, Progress> {
  const rows = store.progressRows(runs.map(({ id }) => id));
  return new Map(
    runs.map(({ id, status, definition_id }) => [
      id,
      progressOf({ status, definition: store.definition(definition_id) }, rows.get(id)!),
    ]),
  );
}
