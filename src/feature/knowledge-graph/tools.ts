/**
 * The code graph tools for agents. The graph describes the tools; the answers are about the project of the agent's
 * work.
 */
import { type ExecutionInfo, type Tool, type ToolSource, toolsOf } from "../../engine/tool.ts";
import type { ToolSchema } from "../../graph/serve/tools.ts";
import type { KnowledgeGraph } from "./service.ts";

/** Long enough for a run's first question, which waits until its files are indexed. */
const TIMEOUT_MS = 120_000;

type Ask = (execution: ExecutionInfo, ...asked: Asked) => Promise<string>;
type Asked = Parameters<KnowledgeGraph["toolText"]> extends [unknown, ...infer Rest] ? Rest : never;

/** @param schemas name and describe the tools; each takes an optional `projectId`. */
export const codeGraphTools = (schemas: readonly ToolSchema[], ask: Ask): ToolSource =>
  toolsOf(
    "code-graph",
    schemas.map(
      ({ name, description, input }): Tool<{ projectId?: string }> => ({
        name,
        group: "graph",
        description,
        parameters: input,
        timeoutMs: TIMEOUT_MS,
        async run({ projectId, ...args }, { execution }) {
          return { ok: true, output: await ask(execution, projectId, name, args) };
        },
      }),
    ),
  );
