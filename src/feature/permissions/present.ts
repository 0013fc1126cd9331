/** Requests for permission and remembered answers, as people read them. */
import { timestamp } from "../../core/clock.ts";
import type { PermissionRequest, RememberedAnswer } from "./model.ts";
import type { AnswerRow, RequestRow, WorkOfRequest } from "./store.ts";

export const messageOf = ({ agent_id, tool, subject }: Pick<RequestRow, "agent_id" | "tool" | "subject">): string =>
  `May ${agent_id} use ${tool}${subject.includes("\n") || subject.length > 200 || subject === "" ? "" : `: ${subject}`}?`;

export function presentRequest(row: RequestRow, work: WorkOfRequest | undefined): PermissionRequest {
  return {
    kind: "permission",
    id: row.id,
    state: row.state,
    message: messageOf(row),
    agent_id: row.agent_id,
    call_id: row.call_id,
    tool: row.tool,
    tool_kind: row.tool_kind,
    subject: row.subject,
    rules: row.rules,
    can_remember: row.can_remember,
    about: work?.task_description ?? work?.title ?? "",
    session_id: row.session_id,
    session_kind: work?.kind ?? "",
    run_id: work?.run_id ?? null,
    step_id: work?.step_id ?? null,
    project_id: work?.project_id ?? null,
    lasts: row.lasts,
    comment: row.comment,
    answered_by: row.answered_by,
    requested_at: row.created_at,
    answered_at: row.answered_at,
    deadline: timestamp(row.deadline),
  };
}

export const presentAnswer = ({ user_id: _, ...row }: AnswerRow): RememberedAnswer => ({
  ...row,
  lasts: row.run_id === null && row.session_id === null ? "agent" : "work",
});
