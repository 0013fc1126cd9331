/**
 * What a tool is and who provides it. The engine's own tools are files in `engine/tool/`. Features provide theirs as a
 * `ToolSource`, which is asked before every turn for the execution's tools.
 */
import type { TSchema } from "@sinclair/typebox";
import type { Masker } from "../core/masking.ts";
import type { SessionKind } from "./kinds.ts";
import type { Sandbox } from "./sandbox.ts";

/** The execution and its session, as far as tools and prompts need them. */
export interface ExecutionInfo {
  id: string;
  sessionId: string;
  kind: SessionKind;
  agentId: string;
  /** The user it works for; a tool may read and do what that user may. Absent on a server without accounts. */
  userId?: string | undefined;
  /** The session that started this one. */
  parentId?: string | undefined;
  /** 0 for a session that no other session started. */
  depth: number;
  runId?: string | undefined;
  /**
   * The run or session whose working copy of a project holds its files. Absent: the files belong to its own session.
   */
  workId?: string | undefined;
  /** Id of the step in the pipeline. */
  stepId?: string | undefined;
  projectId?: string | undefined;
  taskId?: string | undefined;
}

export interface ToolContext {
  execution: ExecutionInfo;
  /**
   * Id of this call, unique in its session. When a call is made again after a crash, this id finds what it had started.
   */
  callId: string;
  sandbox: Sandbox;
  signal: AbortSignal;
  /**
   * Waits for other executions. Meanwhile this execution gives up its place, because they may need it to make progress.
   */
  aside<T>(wait: Promise<T>): Promise<T>;
  /** A sentence that says why the tool's output may repeat outside text. Undefined: this work has read none. */
  outside(): string | undefined;
  /** For tools that cut text to a length: text must be masked before it is cut. */
  masker: Masker;
  /** Live output, shown as it comes. The result must still contain it. */
  onOutput(text: string): void;
}

export interface ToolResult {
  ok: boolean;
  /** What the model reads. Cut to the tool's output limit by the loop. */
  output: string;
  /**
   * Set by a tool that shows what other work left: a sentence, when that came from outside text. It marks this work
   * too.
   */
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
  /** Schema that the input is validated against when it is less strict than `parameters`, which the model is shown. */
  accepts?: object;
  timeoutMs: number;
  /** True when a call can be repeated after a crash: it finds what it had started and starts nothing twice. */
  resumes?: boolean;
  /**
   * Throws Problem for expected failures, which the model reads. Any other error fails the call as an internal error.
   */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

/** A tool without the fields that its maker adds. `parameters` is a schema whose static type is the input. */
type ToolWords<Input, Added extends keyof Tool = never> = Omit<Tool<Input>, "parameters" | Added> & {
  parameters: TSchema & { static: Input };
};

/** Defines a tool whose input type comes from its parameters. */
export const defineTool = <Input>(tool: ToolWords<Input>): Tool<Input> => tool;

/** Provides tools: the engine's own, a feature's, or those of a tool server. */
export interface ToolSource {
  /** Name for the log when the source fails. */
  readonly name: string;
  /** Names of all tools that it may provide to anybody now; agents can be allowed or denied these. */
  names(): readonly string[];
  /**
   * For sources whose tools are granted: names of the tools granted to an agent. It has them regardless of its file's
   * list.
   */
  grantedTo?(agentId: string): readonly string[];
  /**
   * The tools for this execution. Asked before every turn, so it must be quick. A source that throws provides nothing
   * in that turn. The toolbox removes tools that the agent is not allowed.
   */
  for(execution: ExecutionInfo): readonly Tool[] | Promise<readonly Tool[]>;
}

/** A source that provides the same tools to every execution for which `has` returns true. */
export const toolsOf = (
  name: string,
  tools: readonly Tool[],
  has: (execution: ExecutionInfo) => boolean = () => true,
): ToolSource => ({
  name,
  names: () => tools.map((tool) => tool.name),
  for: (execution) => (has(execution) ? tools : []),
});

/** Returns a function that defines tools with the same group and time limit. */
export const toolMaker =
  (common: Pick<Tool, "group" | "timeoutMs">) =>
  <Input>(tool: ToolWords<Input, keyof typeof common>): Tool<Input> => ({ ...tool, ...common });
