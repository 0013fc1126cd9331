/**
 * The kinds of sessions in one table: who starts them, what ends them, which tools they have. Code should ask this
 * table for the property it needs instead of comparing kinds.
 */
import type { ToolGroup } from "./tool.ts";

export interface Kind {
  /** Who starts such a session. */
  startedBy: "run" | "person" | "schedule" | "agent" | "upload";
  /** What ends an execution: the agent calls `complete` or `fail`, its reply is whole, or its command exits. */
  executionEnds: "complete" | "reply" | "exit";
  /** What ends the session: its work, or a person (or the feature that opened it). Until then it takes turns. */
  sessionEnds: "work" | "person";
  /**
   * What the model reads: the whole session, or only the execution's own messages, so that each attempt starts empty.
   */
  reads: "session" | "execution";
  tools: readonly ToolGroup[];
  /** The setting that names the model when nothing else does; null for kinds that work without a model. */
  purpose: "pipeline" | "chat" | "pulse" | "swarm" | "onboarding" | "transcript" | null;
  /** When the session is in the list of live sessions: while it works, or as long as it is open. */
  listed: "working" | "open";
  /**
   * Prefix of the branch that the session gets when it has a project and was started by a person or the clock. Null: it
   * works on its run's branch, or on none.
   */
  branch: "chat" | "routine" | "swarm" | "spawn" | null;
}

const CHAT_TOOLS = [
  "files",
  "shell",
  "skills",
  "memory",
  "history",
  "graph",
  "documents",
  "projects",
  "team",
  "web",
  "mcp",
] as const;
const WORK_TOOLS = [...CHAT_TOOLS, "end"] as const;
/** One piece of work, from a prompt to `complete`. */
const WORKS = { executionEnds: "complete", sessionEnds: "work", reads: "execution", listed: "working" } as const;
/** A conversation: a person's turns and the replies, for as long as the person likes. */
const TURN_BY_TURN = { executionEnds: "reply", sessionEnds: "person", reads: "session", listed: "open" } as const;

const KINDS = {
  /** A step of a pipeline; each attempt is an execution. */
  pipeline: { ...WORKS, startedBy: "run", tools: WORK_TOOLS, purpose: "pipeline", branch: null },
  /** A command of a pipeline: no model, no tools, and only the agent whose sandbox it borrows, if any. */
  command: { ...WORKS, executionEnds: "exit", startedBy: "run", tools: [], purpose: null, branch: null },
  chat: { ...TURN_BY_TURN, startedBy: "person", tools: CHAT_TOOLS, purpose: "chat", branch: "chat" },
  /** A routine whose time has come. */
  pulse: { ...WORKS, startedBy: "schedule", tools: WORK_TOOLS, purpose: "pulse", branch: "routine" },
  /** A task of a swarm. */
  swarm: { ...WORKS, startedBy: "agent", tools: WORK_TOOLS, purpose: "swarm", branch: "swarm" },
  /** One piece of work handed to an agent. */
  spawn: { ...WORKS, startedBy: "agent", tools: WORK_TOOLS, purpose: "swarm", branch: "spawn" },
  /** Agents that interview a person about what to build, and create the project. */
  onboarding: {
    ...TURN_BY_TURN,
    startedBy: "person",
    tools: ["skills", "memory", "documents", "projects", "web"],
    purpose: "onboarding",
    branch: null,
  },
  /**
   * Processes an uploaded transcript. A transcript is outside text, so this kind has no tools that reach out of the
   * server.
   */
  ingest: {
    ...WORKS,
    startedBy: "upload",
    tools: ["skills", "memory", "history", "documents", "projects", "end"],
    purpose: "transcript",
    branch: null,
  },
} as const satisfies Record<string, Kind>;

export type SessionKind = keyof typeof KINDS;
export const kindOf = (kind: SessionKind): Kind => KINDS[kind];
