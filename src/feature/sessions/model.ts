/** What features hand in to have an agent work. */
import { type Static, Type as t } from "@sinclair/typebox";
import { Time } from "../../core/schema.ts";
import type { CommandLine, Contract } from "../../engine/execution.ts";
import type { SessionKind } from "../../engine/kinds.ts";
import type { InputPart } from "../../engine/parts.ts";

export const ProviderWait = t.Object(
  { reason: t.String(), until: Time },
  { description: "It waits for a provider whose quota is used up, until then." },
);
export type ProviderWait = Static<typeof ProviderWait>;

export interface SessionDraft {
  kind: SessionKind;
  /** Empty for a command that borrows no agent's sandbox. */
  agent_id: string;
  /** Owner. A session that another one started has the same owner. */
  user_id?: string | undefined;
  /** The session that starts this one: run, project and task are taken from it where they are not given. */
  parent_id?: string | undefined;
  /** The tool call in that session which asks for it. When that call is interrupted, this session ends. */
  call_id?: string | undefined;
  /** It works on a branch of its own, which is taken into its parent's when it succeeds. Nothing where that has none. */
  joins_parent?: boolean | undefined;
  run_id?: string | undefined;
  step_id?: string | undefined;
  project_id?: string | undefined;
  task_id?: string | undefined;
  title?: string | undefined;
  /** `provider/model`; the agent's or the settings' when absent. */
  model?: string | undefined;
  /** Limits it to these of its agent's tools. */
  tools?: string[] | undefined;
  /** What outside text it begins with, a sentence of `core/outside-table.ts`. */
  outside?: string | undefined;
  /** It is a part of work that has begun: whether its owner has room for more is not asked again. */
  continues?: true | undefined;
  /** What it may cost with all that it starts. Below a session with a budget it is set aside from that budget. */
  budget_usd?: number | undefined;
}

/** One turn: what the agent is given to do, or a message to it. */
export interface TurnDraft {
  input: string | InputPart[];
  /**
   * What happens while the session is busy. `queue` (default): it waits for its turn. `steer`: it is in the next model
   * request of the running reply; if that reply ends without one, it is a turn of its own. `interrupt`: the running
   * reply ends, what it said so far is kept, and this turn is the next one.
   */
  mode?: "queue" | "steer" | "interrupt" | undefined;
  /** Of a kind that works without a model. */
  command?: CommandLine | undefined;
  contract?: Contract | undefined;
  skills?: string[] | undefined;
  /** Takes precedence over the session's. */
  model?: string | undefined;
  timeout_seconds: number;
  /** The server goes on with what a person began: whether its owner has room for more is not asked again. */
  continues?: true | undefined;
  /** Row id of the step's attempt that this is. */
  step_row_id?: string | undefined;
}

/** Kind of the jobs that copy the files of a session; their key is the session that gets the files. */
export const COPY_JOB = "copy_chat_files";
