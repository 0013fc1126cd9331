/** What a tool is. One file a tool in `engine/tool/`, one line in its registry. */
import type { TObject } from "@sinclair/typebox";
import type { Sandbox } from "./sandbox.ts";

/** Whose turn it is: the execution's row, as far as tools and prompts need it. */
export interface ExecutionInfo {
  id: string;
  kind: ExecutionKind;
  agentId: string;
  runId?: string | undefined;
  /** Name of the step in the pipeline. */
  stepId?: string | undefined;
  projectId?: string | undefined;
  taskId?: string | undefined;
  userId?: string | undefined;
}

export const EXECUTION_KINDS = ["pipeline", "chat", "pulse", "swarm", "spawn", "onboarding", "ingest"] as const;
export type ExecutionKind = (typeof EXECUTION_KINDS)[number];

export interface ToolContext {
  execution: ExecutionInfo;
  sandbox: Sandbox;
  signal: AbortSignal;
  /** Live output, shown as it comes; the result still holds it. */
  onOutput(text: string): void;
}

export interface ToolResult {
  ok: boolean;
  /** What the model reads. Cut to the tool's output limit by the loop. */
  output: string;
  /** Ends the execution after this turn. */
  end?:
    | { status: "succeeded"; outputs: Record<string, unknown>; summary: string }
    | { status: "failed"; reason: string };
}

export type ToolGroup =
  | "files"
  | "shell"
  | "end"
  | "skills"
  | "memory"
  | "history"
  | "graph"
  | "projects"
  | "team"
  | "web"
  | "mcp";

export interface Tool<Input = Record<string, unknown>> {
  name: string;
  group: ToolGroup;
  /** What the model is told; from `<name>.md` beside the tool. */
  description: string;
  /** JSON Schema of the input; the loop validates against it before `run`. */
  parameters: TObject;
  timeoutMs: number;
  /** Throws Problem for expected failures (told to the model); anything else fails the call as an internal error. */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}
