/** The four tools over the code graph. */
import type { Tool } from "../tool.ts";
import { createCodeGraphChangesTool } from "./code-graph-changes.ts";
import { createCodeGraphContextTool } from "./code-graph-context.ts";
import { createCodeGraphImpactTool } from "./code-graph-impact.ts";
import type { CodeGraphPorts } from "./code-graph-port.ts";
import { createCodeGraphQueryTool } from "./code-graph-query.ts";

export const codeGraphTools = (ports: CodeGraphPorts): Tool[] => [
  createCodeGraphQueryTool(ports),
  createCodeGraphContextTool(ports),
  createCodeGraphImpactTool(ports),
  createCodeGraphChangesTool(ports),
];
