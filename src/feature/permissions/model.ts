/** Requests for permission to call a tool, and remembered answers, as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { TOOL_KINDS } from "../../core/permission-rule.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";

const Lasts = oneOf("once", "work", "agent");

export const PermissionRequest = t.Object(
  {
    kind: t.Literal("permission"),
    id: t.String(),
    state: oneOf("waiting", "allowed", "denied", "expired", "withdrawn"),
    message: t.String({ description: "The question as a sentence." }),
    agent_id: t.String(),
    call_id: t.String({
      description: "Id of the call, as in `tool_call_start`; for an external program, the id of its question.",
    }),
    tool: t.String(),
    tool_kind: oneOf(...TOOL_KINDS),
    subject: t.String({
      description: "The whole command, paths or address. Invisible characters are written as \\u{…}.",
    }),
    rules: t.Array(t.String(), { description: "The agent's rules that require the question." }),
    can_remember: t.Boolean({
      description: "Whether the answer can be remembered. False: an answer applies to this call only.",
    }),
    about: t.String({ description: "Task of the run, or title of the session." }),
    session_id: t.String(),
    session_kind: t.String(),
    run_id: orNull(t.String()),
    step_id: orNull(t.String()),
    project_id: orNull(t.String()),
    lasts: orNull(Lasts),
    comment: orNull(t.String()),
    answered_by: orNull(t.String()),
    requested_at: Time,
    answered_at: orNull(Time),
    deadline: Time,
  },
  { title: "PermissionRequest" },
);
export type PermissionRequest = Static<typeof PermissionRequest>;

export const PermissionAnswer = t.Object({
  allow: t.Boolean(),
  lasts: t.Optional(
    t.Union(Lasts.anyOf, {
      description:
        "How long a permission lasts: `once` (default) for this call, `work` for this run or chat, `agent` for every call of this agent that the same rules ask about. `agent` is for administrators only.",
    }),
  ),
  comment: t.Optional(
    t.String({ maxLength: LIMITS.textCharacters, description: "Reason for the refusal, which the agent reads." }),
  ),
});
export type PermissionAnswer = Static<typeof PermissionAnswer>;

export const RememberedAnswer = t.Object(
  {
    id: t.String(),
    agent_id: t.String(),
    lasts: oneOf("work", "agent"),
    run_id: orNull(t.String()),
    session_id: orNull(t.String({ description: "The chat or other work outside of runs." })),
    rule: t.String({ description: "The rule that asked and that the remembered answer silences." }),
    subject: t.String({ description: "Subject of the call for which the rule first asked." }),
    answered_by: t.String(),
    created_at: Time,
  },
  { title: "RememberedAnswer" },
);
export type RememberedAnswer = Static<typeof RememberedAnswer>;
