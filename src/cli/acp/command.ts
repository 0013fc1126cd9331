/** `skep acp`: an editor starts it and speaks the Agent Client Protocol with it, over standard input and output. */
import type { Command } from "commander";
import { type ServerFlags, withServer } from "../server/locate.ts";
import { serveEditor } from "./agent.ts";
import { createEditorStream } from "./editor-stream.ts";
import { createLink } from "./link.ts";

interface AcpFlags extends ServerFlags {
  agent?: string;
  project?: string;
}

export function acpCommand(program: Command, exit: (code: number) => void): void {
  withServer(program.command("acp"))
    .description("serve chats with an agent to an editor that speaks the Agent Client Protocol")
    .option("--agent <agent>", "agent that answers (default: lead)")
    .option("--project <project>", "project to work on; the agent sees its files and its code graph")
    .addHelpText(
      "after",
      "\nAn editor starts this command. Settings for Zed, JetBrains and Emacs: docs/editors.md.\nExit code: 0 the editor closed the connection, 1 the editor wrote something that is not in the protocol.",
    )
    .action(async (flags: AcpFlags) => exit(await serve(flags)));
}

/** Serves the editor until standard input ends. @returns the exit code. */
async function serve(flags: AcpFlags): Promise<number> {
  const library = await import("@agentclientprotocol/sdk");
  const { stream, ended } = createEditorStream(process.stdin, process.stdout);
  const agent = serveEditor({ library, stream, link: createLink(flags), chosen: flags });
  const why = await ended;
  if (why !== undefined) console.error(`skep: ${why}`);
  await Promise.race([agent.close(), Bun.sleep(CLOSING_MS)]);
  return why === undefined ? 0 : 1;
}

/** How long closing may take: a server that does not answer must not keep this process alive. */
const CLOSING_MS = 2_000;
