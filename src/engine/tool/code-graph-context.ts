/** `code_graph_context`: asks the code graph of the project that the execution works on. */
import { Type as t } from "@sinclair/typebox";
import type { Tool } from "../tool.ts";
import description from "./code-graph-context.md" with { type: "text" };
import { CODE_GRAPH_TIMEOUT_MS, type CodeGraphInput, type CodeGraphPorts, ProjectId } from "./code-graph-port.ts";

export function createCodeGraphContextTool({ codeGraph }: CodeGraphPorts): Tool<CodeGraphInput> {
  return {
    name: "code_graph_context",
    group: "graph",
    description,
    parameters: t.Object({
      projectId: ProjectId,
      symbol_name: t.String({ minLength: 1, maxLength: 1_000, description: "Name, Class.method or id." }),
      file_path: t.Optional(t.String({ maxLength: 1_000, description: "Which one, if several have the name." })),
    }),
    timeoutMs: CODE_GRAPH_TIMEOUT_MS,
    async run({ projectId, ...args }, { execution, signal }) {
      return { ok: true, output: await codeGraph(execution, projectId, "code_graph_context", args, signal) };
    },
  };
}
