/** What can be done next with a run, depending on its state. */
import { api, type Schemas } from "../../api/client.ts";
import type { Work } from "../changes/review.ts";

type Run = Schemas["Run"];

/** Whether the run's work can be merged into a branch. */
export const isMergeable = (run: Run): boolean =>
  run.status === "succeeded" && run.project_id !== null && run.branch !== null;

const ENDED = new Set(["succeeded", "failed", "cancelled"]);
/** A run as the work that a review needs. */
export const workOfRun = ({ id, project_id, branch, task_description, status }: Run): Work => ({
  work_id: id,
  kind: "run",
  project_id: project_id ?? "",
  branch: branch ?? "",
  title: task_description,
  at_work: !ENDED.has(status),
});

/** How many files the result lists; the changes page has all. */
const FILES = 12;

/** The files that a run has changed, once it has succeeded: their number and the first of them. */
export const useChangedFiles = (run: Run) =>
  api.useQuery(
    "get",
    "/v1/runs/{id}/diff",
    { params: { path: { id: run.id }, query: { limit: FILES } } },
    { enabled: isMergeable(run) },
  );

/**
 * The view that a run's page opens with: the result if the run has succeeded, else its steps. A link to a step opens
 * the steps.
 * @param tab the view named in the address.
 */
export function viewOf(tab: string, step: string, status: Run["status"]): string {
  if (tab === "timeline") return "steps";
  if (tab) return tab;
  return status === "succeeded" && !step ? "result" : "steps";
}
