/**
 * The kinds of sessions in one table: who starts them, what ends them, which tools they have. Code that asks "is it a
 * chat?" asks this table what it really wants to know.
 */
import type { ToolGroup } from "./tool.ts";

export interface Kind {
  /** Who starts such a session. */
  startedBy: "run" | "person" | "schedule" | "agent" | "upload";
  /** What ends an execution: the agent calls `complete` or `fail`, its reply is whole, or its command exits. */
  executionEnds: "complete" | "reply" | "exit";
  /** What ends the session: its work, or a person (or the feature that opened it). Until then it takes turns. */
  sessionEnds: "work" | "person";
  /** What of the session the model reads: everything, or the execution's own messages (an attempt starts empty). */
  reads: "session" | "execution";
  tools: readonly ToolGroup[];
  /** The setting that names the model where nothing else does; null: it works without a model. */
  purpose: "pipeline" | "chat" | "pulse" | "swarm" | "onboarding" | "transcript" | null;
  /** When it is among the live sessions that people see: while it works, or as long as it is open. */
  listed: "working" | "open";
  /**
   * With a project, and started by a person or the clock, it works on a branch of its own whose name begins so. Null: a
   * run's branch, or none.
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
/** One stretch of work from a prompt to `complete`. */
const WORKS = { executionEnds: "complete", sessionEnds: "work", reads: "execution", listed: "working" } as const;
/** Turns of a person and replies, for as long as the person likes. */
const TURN_BY_TURN = { executionEnds: "reply", sessionEnds: "person", reads: "session", listed: "open" } as const;

const KINDS = {
  /** A step of a pipeline; each attempt is an execution. */
  pipeline: { ...WORKS, startedBy: "run", tools: WORK_TOOLS, purpose: "pipeline", branch: null },
  /** A command of a pipeline: no model, no tools, and no agent but the one whose sandbox it borrows. */
  command: { ...WORKS, executionEnds: "exit", startedBy: "run", tools: [], purpose: null, branch: null },
  chat: { ...TURN_BY_TURN, startedBy: "person", tools: CHAT_TOOLS, purpose: "chat", branch: "chat" },
  /** A routine whose time has come. */
  pulse: { ...WORKS, startedBy: "schedule", tools: WORK_TOOLS, purpose: "pulse", branch: "routine" },
  /** A task of a swarm. */
  swarm: { ...WORKS, startedBy: "agent", tools: WORK_TOOLS, purpose: "swarm", branch: "swarm" },
  /** One piece of work handed to an agent. */
  spawn: { ...WORKS, startedBy: "agent", tools: WORK_TOOLS, purpose: "swarm", branch: "spawn" },
  /** Interviewers ask what to build and make a project of it. */
  onboarding: {
    ...TURN_BY_TURN,
    startedBy: "person",
    tools: ["skills", "memory", "documents", "projects", "web"],
    purpose: "onboarding",
    branch: null,
  },
  /** A transcript that is processed. It is outside text: nothing leads out of the server from it. */
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
