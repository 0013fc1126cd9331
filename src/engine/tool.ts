/**
 * What a tool is and who brings it. The engine's own tools are files in `engine/tool/`; features bring theirs as a
 * `ToolSource`, which is asked before every turn what the execution gets.
 */
import type { TSchema } from "@sinclair/typebox";
import type { Masker } from "../core/masking.ts";
import type { SessionKind } from "./kinds.ts";
import type { Sandbox } from "./sandbox.ts";

/** Whose turn it is: the execution and its session, as far as tools and prompts need them. */
export interface ExecutionInfo {
  id: string;
  sessionId: string;
  kind: SessionKind;
  agentId: string;
  /** The user it works for: a tool may read and do what that user may. Absent on a server without accounts. */
  userId?: string | undefined;
  /** The session that started this one. */
  parentId?: string | undefined;
  /** 0 for a session that no other started. */
  depth: number;
  runId?: string | undefined;
  /** The run or session whose working copy of a project holds its files. Absent: they are its session's alone. */
  workId?: string | undefined;
  /** Name of the step in the pipeline. */
  stepId?: string | undefined;
  projectId?: string | undefined;
  taskId?: string | undefined;
}

export interface ToolContext {
  execution: ExecutionInfo;
  /** Id of this call, once in its session: what a call has started is found by it when the call is made again. */
  callId: string;
  sandbox: Sandbox;
  signal: AbortSignal;
  /** Waits for other executions. Meanwhile this one leaves its place to them: they may need it to make progress. */
  aside<T>(wait: Promise<T>): Promise<T>;
  /** Why what the tool leaves may repeat outside text: a sentence. Undefined: this work has read none. */
  outside(): string | undefined;
  /** For a tool that cuts text to a length: what is cut first cannot be masked any more. */
  masker: Masker;
  /** Live output, shown as it comes; the result still holds it. */
  onOutput(text: string): void;
}

export interface ToolResult {
  ok: boolean;
  /** What the model reads. Cut to the tool's output limit by the loop. */
  output: string;
  /** Of a tool that shows what other work left: a sentence where that came from outside text. It marks this work, too. */
  outside?: string | undefined;
  /** Ends the execution after this turn. */
  end?:
    | { status: "succeeded"; outputs: Record<string, unknown>; summary: string }
    | { status: "failed"; reason: string; code?: string; outputs?: Record<string, unknown> };
}

export type ToolGroup =
  | "files"
  | "shell"
  | "end"
  | "skills"
  | "memory"
  | "history"
  | "graph"
  | "documents"
  | "projects"
  | "team"
  | "web"
  | "mcp";

/** @typeParam Input what `parameters` describes; `Tool` alone is a tool of any input. */
export interface Tool<Input = never> {
  name: string;
  group: ToolGroup;
  /** What the model reads; from `<name>.md` beside the tool. */
  description: string;
  /** JSON Schema of the input, an object; the loop validates against it before `run`. */
  parameters: Record<string, unknown>;
  /** What the input is checked against before `run`, where that is less than what the model is shown. */
  accepts?: object;
  timeoutMs: number;
  /** After a crash a call that was under way is made again: it finds what it had started, and starts nothing twice. */
  resumes?: boolean;
  /** Throws Problem for expected failures (the model reads them); anything else fails the call as an internal error. */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

/** A tool without what its maker adds; `parameters` are a schema whose static type is the input. */
type ToolWords<Input, Added extends keyof Tool = never> = Omit<Tool<Input>, "parameters" | Added> & {
  parameters: TSchema & { static: Input };
};

/** A tool whose input is what its parameters describe. */
export const defineTool = <Input>(tool: ToolWords<Input>): Tool<Input> => tool;

/** Brings tools: the engine's own, a feature's, or those of a tool server. */
export interface ToolSource {
  /** Named in the log when it fails. */
  readonly name: string;
  /** Names of every tool that it may bring to anybody at this moment: what agents can be allowed or denied. */
  names(): readonly string[];
  /** Where tools are granted: the names of those that an agent was granted. It has them whatever its file lists. */
  grantedTo?(agentId: string): readonly string[];
  /**
   * What this execution gets; asked before every turn, so it must be quick. A source that throws brings nothing for
   * that turn. What the agent is not allowed is left out by the toolbox.
   */
  for(execution: ExecutionInfo): readonly Tool[] | Promise<readonly Tool[]>;
}

/** A source that brings the same tools to every execution, or to those that are named. */
export const toolsOf = (
  name: string,
  tools: readonly Tool[],
  has: (execution: ExecutionInfo) => boolean = () => true,
): ToolSource => ({
  name,
  names: () => tools.map((tool) => tool.name),
  for: (execution) => (has(execution) ? tools : []),
});

/** Makes tools of one group and time limit. */
export const toolMaker =
  (common: Pick<Tool, "group" | "timeoutMs">) =>
  <Input>(tool: ToolWords<Input, keyof typeof common>): Tool<Input> => ({ ...tool, ...common });
