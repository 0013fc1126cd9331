/** What a run leads to, from its state. */
import type { Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";

type Run = Schemas["Run"];

/** Whether its work can be taken into a branch. */
export const isMergeable = (run: Run): boolean =>
  run.status === "succeeded" && run.project_id !== null && run.branch !== null;

/** Files of one answer; the same as where the changes are read, so that they are asked for once. */
const FILES = 50;

/** The files that a run has changed, once it has succeeded. */
export function useChangedFiles(run: Run) {
  const query = usePages(
    "/v1/runs/{id}/diff",
    { path: { id: run.id }, query: { limit: FILES } },
    { enabled: isMergeable(run) },
  );
  const first = query.data?.pages[0] as Schemas["RunDiff"] | undefined;
  return { query, stats: first?.stats, files: query.rows };
}

/**
 * The view that a run's page opens with: the result once it has succeeded, else its steps. A link to a step shows it.
 * @param tab of the address.
 */
export function viewOf(tab: string, step: string, status: Run["status"]): string {
  if (tab === "timeline") return "steps";
  if (tab) return tab;
  return status === "succeeded" && !step ? "result" : "steps";
}
