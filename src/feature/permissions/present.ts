/** Requests for permission and remembered answers, as people read them. */
import { toTimestamp } from "../../core/clock.ts";
import { shownOf } from "../../core/schema.ts";
import { PermissionRequest, type RememberedAnswer } from "./model.ts";
import type { AnswerRow, RequestRow, WorkOfRequest } from "./store.ts";

export const messageOf = ({ agent_id, tool, subject }: Pick<RequestRow, "agent_id" | "tool" | "subject">): string =>
  `May ${agent_id} use ${tool}${subject.includes("\n") || subject.length > 200 || subject === "" ? "" : `: ${subject}`}?`;

export function presentRequest(row: RequestRow, work: WorkOfRequest | undefined): PermissionRequest {
  return {
    ...shownOf(PermissionRequest, row),
    kind: "permission",
    message: messageOf(row),
    about: work?.task_description ?? work?.title ?? "",
    session_kind: work?.kind ?? "",
    run_id: work?.run_id ?? null,
    step_id: work?.step_id ?? null,
    project_id: work?.project_id ?? null,
    requested_at: row.created_at,
    deadline: toTimestamp(row.deadline),
  };
}

export const presentAnswer = ({ user_id: _, ...row }: AnswerRow): RememberedAnswer => ({
  ...row,
  lasts: row.run_id === null && row.session_id === null ? "agent" : "work",
});
