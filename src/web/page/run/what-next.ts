/** What a run leads to, from its state. */
import { api, type Schemas } from "../../api/client.ts";

type Run = Schemas["Run"];

/** Whether its work can be taken into a branch. */
export const isMergeable = (run: Run): boolean =>
  run.status === "succeeded" && run.project_id !== null && run.branch !== null;

/** Files that the result names; the changes themselves have all. */
const FILES = 12;

/** The files that a run has changed, once it has succeeded: how many, and the first of them. */
export const useChangedFiles = (run: Run) =>
  api.useQuery(
    "get",
    "/v1/runs/{id}/diff",
    { params: { path: { id: run.id }, query: { limit: FILES } } },
    { enabled: isMergeable(run) },
  );

/**
 * The view that a run's page opens with: the result once it has succeeded, else its steps. A link to a step shows it.
 * @param tab of the address.
 */
export function viewOf(tab: string, step: string, status: Run["status"]): string {
  if (tab === "timeline") return "steps";
  if (tab) return tab;
  return status === "succeeded" && !step ? "result" : "steps";
}
