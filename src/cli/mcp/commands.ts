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
    .description("tool servers that agents use; without a verb: serve this server, or a folder's code graph, as one")
    .argument("[path]", "serve the code graph of this folder, which needs no server")
    .option("--store <dir>", "where the graph of the folder is kept")
    .action((path: string | undefined, flags: ServerFlags & { store?: string }) =>
      path === undefined ? serveServer(flags) : serveFolder(path, flags),
    );
  for (const verb of toolServers.verbs) verbCommand(command, toolServers, verb, exit);
}
