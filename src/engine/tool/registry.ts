/** The built-in tools, one line each, and which of all tools an execution has. */
import { Type as t } from "@sinclair/typebox";
import type { Contract } from "../execution.ts";
import type { ExecutionKind, Tool } from "../tool.ts";
import { createBashTool } from "./bash.ts";
import { createCompleteTool } from "./complete.ts";
import { createEditTool } from "./edit.ts";
import { createFailTool } from "./fail.ts";
import { createFetchUrlTool, type FetchUrlPorts } from "./fetch-url.ts";
import { createFindTool } from "./find.ts";
import { createGrepTool } from "./grep.ts";
import { createLsTool } from "./ls.ts";
import { createReadTool } from "./read.ts";
import { createWriteTool } from "./write.ts";

export interface Wanted {
  kind: ExecutionKind;
  /** Whether the agent has the tool: its own list, and what an administrator switched. */
  allows(tool: string): boolean;
  hasShell: boolean;
  contract: Contract;
}

export interface Toolbox {
  for(wanted: Wanted): Tool[];
}

/** Kinds that a person ends, or the next message goes on with. */
const OPEN_ENDED: ReadonlySet<ExecutionKind> = new Set(["chat", "onboarding"]);

/** Tools that need no feature: files, commands, web pages, and the end of an execution. */
export function builtInTools(ports: FetchUrlPorts): Tool[] {
  return [
    createReadTool(),
    createWriteTool(),
    createEditTool(),
    createLsTool(),
    createFindTool(),
    createGrepTool(),
    createBashTool(),
    createFetchUrlTool(ports),
    createCompleteTool(),
    createFailTool(),
  ] as Tool[];
}

/** @param tools all that there are, asked each time. */
export function createToolbox(tools: () => readonly Tool[]): Toolbox {
  return {
    for({ kind, allows, hasShell, contract }) {
      const has = (tool: Tool): boolean => {
        if (tool.group === "end") return !OPEN_ENDED.has(kind);
        if (tool.group === "shell" && !hasShell) return false;
        return allows(tool.name);
      };
      return tools()
        .filter(has)
        .map((tool) => (tool.name === "complete" ? withContract(tool, contract) : tool));
    },
  };
}

/** `complete` as this execution must call it: the outputs it owes stand in the tool's own schema. */
function withContract(tool: Tool, { outputs, schema }: Contract): Tool {
  if (outputs.length === 0 && schema === null) return tool;
  const named = t.Object(
    Object.fromEntries(outputs.map((name) => [name, t.Unknown({ description: "An output of this step." })])),
    {
      additionalProperties: true,
    },
  );
  const owed =
    schema === null
      ? named
      : t.Unsafe<Record<string, unknown>>({ ...schema, required: [...new Set([...required(schema), ...outputs])] });
  return { ...tool, parameters: t.Object({ ...tool.parameters.properties, outputs: owed }) };
}

const required = (schema: Record<string, unknown>): string[] =>
  Array.isArray(schema["required"])
    ? schema["required"].filter((name): name is string => typeof name === "string")
    : [];
