/** `code_graph_changes`: asks the code graph of the project that the execution works on. */
import { Type as t } from "@sinclair/typebox";
import type { Tool } from "../tool.ts";
import description from "./code-graph-changes.md" with { type: "text" };
import { CODE_GRAPH_TIMEOUT_MS, type CodeGraphInput, type CodeGraphPorts, ProjectId } from "./code-graph-port.ts";

export function createCodeGraphChangesTool({ codeGraph }: CodeGraphPorts): Tool<CodeGraphInput> {
  return {
    name: "code_graph_changes",
    group: "graph",
    description,
    parameters: t.Object({
      projectId: ProjectId,
    }),
    timeoutMs: CODE_GRAPH_TIMEOUT_MS,
    async run({ projectId, ...args }, { execution, signal }) {
      return { ok: true, output: await codeGraph(execution, projectId, "code_graph_changes", args, signal) };
    },
  };
}
