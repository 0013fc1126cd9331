/**
 * Maps the names of Skep's own tools for the scripted model. Each program adds its own prefix to the names of MCP
 * tools, but a transcript calls them by their plain names.
 */
import type { WireRequest } from "./wire.ts";

/** `skep_complete`, `mcp__skep__complete`, `mcp__skep.complete`, `skep__complete`. */
const OWN = /^(?:mcp_{1,2})?skep(?:_{1,2}|[.:/-])(?<name>[a-z_]+)$/;

/** How Gemini CLI titles a call: `complete (skep MCP Server)`. */
const TITLED = /^(?<name>[a-z_]+) \(skep MCP Server\)/;

/** Skep's name of a tool that a program names in its own way; undefined when it is not one of Skep's tools. */
export const ownToolName = (name: string): string | undefined =>
  (OWN.exec(name) ?? TITLED.exec(name))?.groups?.["name"];

/**
 * @returns the request with Skep's names for its tools if the model is the scripted one. `nameOf` gives the program's
 *   name of a tool.
 */
export function renameTools(wire: WireRequest, model: string): WireRequest & { nameOf(tool: string): string } {
  if (!model.startsWith("demo/")) return { ...wire, nameOf: (tool) => tool };
  const names = new Map<string, string>();
  const tools = wire.request.tools.map((tool) => {
    const name = ownToolName(tool.name);
    if (name === undefined) return tool;
    names.set(name, tool.name);
    return { ...tool, name };
  });
  return { ...wire, request: { ...wire.request, tools }, nameOf: (tool) => names.get(tool) ?? tool };
}
