/** What the four code graph tools share: whom they ask, and how they name the project. */
import { Type as t } from "@sinclair/typebox";
import type { ExecutionInfo } from "../tool.ts";

export interface CodeGraphPorts {
  /**
   * The text that answers a tool call, made for a context window.
   * @throws Problem 403 another project than the execution's, 404 unknown project, 409 nothing to index, 422 bad arguments.
   */
  codeGraph(
    execution: ExecutionInfo,
    projectId: string | undefined,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<string>;
}

export interface CodeGraphInput extends Record<string, unknown> {
  projectId?: string;
}

/** The first question after a change waits for the index of what changed. */
export const CODE_GRAPH_TIMEOUT_MS = 120_000;

export const ProjectId = t.Optional(
  t.String({ maxLength: 100, description: "Id of the project; the one you work on when absent." }),
);
