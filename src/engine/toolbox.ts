/** Which tools an execution has at this moment: what the sources bring, less what its kind and its agent do not allow. */
import type { Contract } from "./execution.ts";
import { kindOf } from "./kinds.ts";
import { owing } from "./tool/complete.ts";
import type { ExecutionInfo, Tool, ToolSource } from "./tool.ts";

export interface Wanted {
  execution: ExecutionInfo;
  /** Whether the agent has the tool: a grant or its own list, and what an administrator switched. */
  allows(tool: string, isGranted: boolean): boolean;
  hasShell: boolean;
  contract: Contract;
}

export type Toolbox = ReturnType<typeof createToolbox>;

/**
 * @param sources every one there is at this moment.
 * @param onFailure called with a source that threw; the execution continues without its tools.
 */
export function createToolbox(
  sources: () => readonly ToolSource[],
  onFailure: (source: string, error: unknown) => void = () => {},
) {
  const broughtBy = async (source: ToolSource, execution: ExecutionInfo): Promise<readonly Tool[]> => {
    try {
      return await source.for(execution);
    } catch (error) {
      onFailure(source.name, error);
      return [];
    }
  };
  return {
    /** Names of all tools there are at this moment, each once. */
    names: (): string[] => [...new Set(sources().flatMap((source) => source.names()))],
    /** In the order of the sources, so that a provider's prompt cache holds. Of two tools of one name the first counts. */
    async for({ execution, allows, hasShell, contract }: Wanted): Promise<Tool[]> {
      const { tools } = kindOf(execution.kind);
      const brought = await Promise.all(sources().map((source) => broughtBy(source, execution)));
      const byName = new Map<string, Tool>();
      for (const tool of brought.flat()) if (!byName.has(tool.name)) byName.set(tool.name, tool);
      const has = (tool: Tool): boolean => {
        if (!tools.includes(tool.group) || (tool.group === "shell" && !hasShell)) return false;
        return tool.group === "end" || allows(tool.name, tool.group === "mcp");
      };
      return [...byName.values()].filter(has).map((tool) => (tool.name === "complete" ? owing(tool, contract) : tool));
    },
  };
}
