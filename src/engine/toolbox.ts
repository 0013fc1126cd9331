/**
 * Decides which tools an execution has now: those that the sources provide, less those that its kind or its agent does
 * not allow.
 */
import type { Contract } from "./execution.ts";
import { kindOf } from "./kinds.ts";
import { addOutputs } from "./tool/complete.ts";
import type { ExecutionInfo, Tool, ToolSource } from "./tool.ts";

export interface Wanted {
  execution: ExecutionInfo;
  /** Whether the agent has the tool, by a grant or its own list, and by what an administrator switched on or off. */
  allows(tool: string, isGranted: boolean): boolean;
  hasShell: boolean;
  contract: Contract;
}

export type Toolbox = ReturnType<typeof createToolbox>;

/**
 * @param sources returns all current sources.
 * @param onFailure called when a source throws; the execution continues without its tools.
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
    /** Names of all current tools, each once. */
    names: (): string[] => [...new Set(sources().flatMap((source) => source.names()))],
    /**
     * The execution's tools in the order of the sources, so that a provider's prompt cache stays valid. If two tools
     * have the same name, the first counts.
     */
    async for({ execution, allows, hasShell, contract }: Wanted): Promise<Tool[]> {
      const { tools } = kindOf(execution.kind);
      const brought = await Promise.all(sources().map((source) => broughtBy(source, execution)));
      const byName = new Map<string, Tool>();
      for (const tool of brought.flat()) if (!byName.has(tool.name)) byName.set(tool.name, tool);
      const has = (tool: Tool): boolean => {
        if (!tools.includes(tool.group) || (tool.group === "shell" && !hasShell)) return false;
        return tool.group === "end" || allows(tool.name, tool.group === "mcp");
      };
      return [...byName.values()]
        .filter(has)
        .map((tool) => (tool.name === "complete" ? addOutputs(tool, contract) : tool));
    },
  };
}
