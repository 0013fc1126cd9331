/** How far runs are. It does not change for ended runs until they are restarted, so it is cached for them. */
import { isRunEnd } from "../../core/run-states.ts";
import { type Progress, progressOf } from "./plan.ts";
import type { ListedRun, RunStore } from "./store.ts";

/** Runs whose progress is kept; a few hundred bytes each. */
const MOST = 2_000;

type Shown = Pick<ListedRun, "id" | "status" | "finished_at" | "definition_id">;

/** @returns by run. */
export function createProgress(store: Pick<RunStore, "definition" | "progressRows">) {
  const kept = new Map<string, { ended: string; progress: Progress }>();
  const keep = ({ id, status, finished_at }: Shown, progress: Progress): void => {
    if (!isRunEnd(status) || finished_at === null) return;
    if (kept.size >= MOST) kept.clear();
    kept.set(id, { ended: `${status} ${finished_at}`, progress });
  };
  return (runs: readonly Shown[]): Map<string, Progress> => {
    const found = new Map<string, Progress>();
    const unknown = runs.filter((run) => {
      const known = kept.get(run.id);
      if (known?.ended !== `${run.status} ${run.finished_at}`) return true;
      found.set(run.id, known.progress);
      return false;
    });
    if (unknown.length === 0) return found;
    const rows = store.progressRows(unknown.map(({ id }) => id));
    for (const run of unknown) {
      const definition = store.definition(run.definition_id);
      const progress = progressOf({ status: run.status, definition }, rows.get(run.id)!);
      found.set(run.id, progress);
      keep(run, progress);
    }
    return found;
  };
}
