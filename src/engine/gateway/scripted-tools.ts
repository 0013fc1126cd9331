/**
 * Names of Skep's own tools, for the scripted model: each program puts its own words before the names of tools from
 * other servers, and a transcript calls them as everywhere.
 */
import type { WireRequest } from "./wire.ts";

/** `skep_complete`, `mcp__skep__complete`, `mcp__skep.complete`, `skep__complete`. */
const OWN = /^(?:mcp_{1,2})?skep(?:_{1,2}|[.:/-])(?<name>[a-z_]+)$/;

/** As Gemini CLI titles a call: `complete (skep MCP Server)`. */
const TITLED = /^(?<name>[a-z_]+) \(skep MCP Server\)/;

/** What Skep calls a tool that a program names in its own way; undefined: it is none of Skep's. */
export const ownToolName = (name: string): string | undefined =>
  (OWN.exec(name) ?? TITLED.exec(name))?.groups?.["name"];

/** @returns the request as the model is to read it. `nameOf`: what the program calls a tool. */
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
