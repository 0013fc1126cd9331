/**
 * `skep mcp` serves this server as a tool server on standard input and output. `skep mcp VERB …` manages the tool
 * servers that the server uses.
 */
import type { Command } from "commander";
import { serveFolder } from "../graph.ts";
import { verbCommand } from "../resource/command.ts";
import { type ServerFlags, withServer } from "../server/locate.ts";
import { serveServer } from "./serve.ts";
import { toolServers } from "./tool-servers.ts";

export function mcpCommands(program: Command, exit: (code: number) => void): void {
  const command = withServer(program.command("mcp"))
    .description("serve this server's tools, or a folder's code graph, over MCP; manage tool servers that agents use")
    .argument("[path]", "folder whose code graph to serve instead; needs no running server")
    .option("--store <dir>", "folder of the graph (default: in the user's cache folder)")
    .action((path: string | undefined, flags: ServerFlags & { store?: string }) =>
      path === undefined ? serveServer(flags) : serveFolder(path, flags),
    );
  for (const verb of toolServers.verbs) verbCommand(command, toolServers, verb, exit);
}
