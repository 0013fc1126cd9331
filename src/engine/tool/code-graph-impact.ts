/** `code_graph_impact`: asks the code graph of the project that the execution works on. */
import { Type as t } from "@sinclair/typebox";
import type { Tool } from "../tool.ts";
import description from "./code-graph-impact.md" with { type: "text" };
import { CODE_GRAPH_TIMEOUT_MS, type CodeGraphInput, type CodeGraphPorts, ProjectId } from "./code-graph-port.ts";

export function createCodeGraphImpactTool({ codeGraph }: CodeGraphPorts): Tool<CodeGraphInput> {
  return {
    name: "code_graph_impact",
    group: "graph",
    description,
    parameters: t.Object({
      projectId: ProjectId,
      target: t.String({ minLength: 1, maxLength: 1_000, description: "Name, Class.method or id." }),
      direction: t.Optional(
        t.Union([t.Literal("upstream"), t.Literal("downstream")], {
          description: "upstream (default): what depends on the target; downstream: what it depends on.",
        }),
      ),
      max_depth: t.Optional(t.Integer({ minimum: 1, maximum: 10, description: "Default 3." })),
    }),
    timeoutMs: CODE_GRAPH_TIMEOUT_MS,
    async run({ projectId, ...args }, { execution, signal }) {
      return { ok: true, output: await codeGraph(execution, projectId, "code_graph_impact", args, signal) };
    },
  };
}
