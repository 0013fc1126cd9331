/** The data with which features have an agent work. */
import { type Static, Type as t } from "@sinclair/typebox";
import { Time } from "../../core/schema.ts";
import type { CommandLine, Contract } from "../../engine/execution.ts";
import type { SessionKind } from "../../engine/kinds.ts";
import type { InputPart } from "../../engine/parts.ts";

export const ProviderWait = t.Object(
  { reason: t.String(), until: Time },
  { description: "Wait for a provider whose quota is used up until the given time." },
);
export type ProviderWait = Static<typeof ProviderWait>;

export interface SessionDraft {
  kind: SessionKind;
  /** The agent's id; empty for a command that uses no agent's sandbox. */
  agent_id: string;
  /** The owner. A session that another one started has the same owner. */
  user_id?: string | undefined;
  /** The session that starts this one. Run, project and task are taken from it unless they are given. */
  parent_id?: string | undefined;
  /** The tool call in the parent session that starts this one. When that call is interrupted, this session ends. */
  call_id?: string | undefined;
  /**
   * Whether the session works on a branch of its own, which is merged into its parent's when it succeeds. Has no effect
   * if the parent has no branch.
   */
  joins_parent?: boolean | undefined;
  run_id?: string | undefined;
  step_id?: string | undefined;
  project_id?: string | undefined;
  task_id?: string | undefined;
  title?: string | undefined;
  /** `provider/model`; when absent, the agent's model or that of the settings. */
  model?: string | undefined;
  /** Limits the session to these of its agent's tools. */
  tools?: string[] | undefined;
  /** Which outside text the session begins with: a sentence of `core/outside-table.ts`. */
  outside?: string | undefined;
  /** Set for a part of work that has begun: whether its owner's workspaces leave room is not checked again. */
  continues?: true | undefined;
  /**
   * Budget of the session and all sessions that it starts, USD. Below a session with a budget, it is set aside from
   * that budget.
   */
  budget_usd?: number | undefined;
}

/** One turn: the agent's task, or a message to the agent. */
export interface TurnDraft {
  input: string | InputPart[];
  /**
   * What happens while the session is busy. `queue` (default): the turn waits. `steer`: the message goes into the next
   * model request of the running reply; if that reply ends first, it becomes a turn of its own. `interrupt`: the
   * running reply ends and its text is kept; this turn is next.
   */
  mode?: "queue" | "steer" | "interrupt" | undefined;
  /** The command, for a kind of session that works without a model. */
  command?: CommandLine | undefined;
  contract?: Contract | undefined;
  skills?: string[] | undefined;
  /** Takes precedence over the session's model. */
  model?: string | undefined;
  timeout_seconds: number;
  /**
   * Set when the server continues what a person began: whether the owner's workspaces leave room is not checked again.
   */
  continues?: true | undefined;
  /** Id of the row of the step's attempt that this turn does. */
  step_row_id?: string | undefined;
}

/** Kind of the jobs that copy files of a session. Their key is the session that receives the files. */
export const COPY_JOB = "copy_chat_files";
