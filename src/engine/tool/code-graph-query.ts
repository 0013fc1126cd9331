/** `code_graph_query`: asks the code graph of the project that the execution works on. */
import { Type as t } from "@sinclair/typebox";
import type { Tool } from "../tool.ts";
import { CODE_GRAPH_TIMEOUT_MS, type CodeGraphInput, type CodeGraphPorts, ProjectId } from "./code-graph-port.ts";
import description from "./code-graph-query.md" with { type: "text" };

export function createCodeGraphQueryTool({ codeGraph }: CodeGraphPorts): Tool<CodeGraphInput> {
  return {
    name: "code_graph_query",
    group: "graph",
    description,
    parameters: t.Object({
      projectId: ProjectId,
      query: t.String({ minLength: 1, maxLength: 1_000, description: "Words or a name." }),
      limit: t.Optional(t.Integer({ minimum: 1, maximum: 50, description: "Default 10." })),
    }),
    timeoutMs: CODE_GRAPH_TIMEOUT_MS,
    async run({ projectId, ...args }, { execution, signal }) {
      return { ok: true, output: await codeGraph(execution, projectId, "code_graph_query", args, signal) };
    },
  };
}
