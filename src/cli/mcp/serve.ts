/**
 * `skep mcp` on standard input and output: connects an editor's assistant to a running server, or to a folder's code
 * graph.
 */

import type * as Library from "@modelcontextprotocol/server";
import { Problem } from "../../core/errors.ts";
import { membersOf } from "../../core/is-object.ts";
import { BUILD } from "../../core/version.ts";
import { toolSchemas } from "../../graph/serve/tools.ts";
import { tokenFor } from "../server/credentials.ts";
import { locate, type ServerFlags } from "../server/locate.ts";
import { answeringInput } from "./answering-input.ts";

/** Serves until the input has ended and every request is answered. */
async function serve(build: (library: typeof Library) => Library.Server): Promise<void> {
  const library = await import("@modelcontextprotocol/server");
  const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  const { input, output, ended } = answeringInput(process.stdin, process.stdout);
  const handle = serveStdio(() => build(library), { transport: new StdioServerTransport(input, output) });
  await ended;
  await handle.close();
}

/** @param tool runs a tool and returns text. If it throws, the call fails, and the model reads the error. */
export const serveGraph = (tool: (name: string, args: Record<string, unknown>) => Promise<string>): Promise<void> =>
  serve((library) => {
    const server = new library.Server({ name: "skep", version: BUILD.version }, { capabilities: { tools: {} } });
    const schemas = toolSchemas(false);
    server.setRequestHandler("tools/list", () => ({
      tools: schemas.map(({ name, description, input }) => ({
        name,
        description,
        inputSchema: { ...membersOf(input), type: "object" },
        annotations: { readOnlyHint: true },
      })),
    }));
    server.setRequestHandler("tools/call", async ({ params: { name, arguments: args = {} } }) => {
      try {
        return { content: [{ type: "text", text: await tool(name, args) }] };
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        return { content: [{ type: "text", text }], isError: true };
      }
    });
    return server;
  });

const PASSED_ON = [
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
  "prompts/get",
] as const;
/** Longer than any tool of a server may take. */
const TIMEOUT_MS = 600_000;

/** Forwards everything to the server that the flags name. @throws Problem when the server refuses the connection. */
export async function serveServer(flags: ServerFlags): Promise<void> {
  const { url } = await locate(flags);
  const token = tokenFor(url);
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new Client({ name: "skep-mcp", version: BUILD.version }, { versionNegotiation: { mode: "auto" } });
  const requestInit: RequestInit = {
    redirect: "error",
    ...(token && { headers: { Authorization: `Bearer ${token}` } }),
  };
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  } catch (error) {
    const { status } = membersOf(error);
    const hint = status === 401 ? " Log in with: skep login, or set SKEP_TOKEN to a key of this server." : "";
    throw new Problem(503, "no_server", `${url} does not answer as an MCP server.${hint}`);
  }
  await serve((library) => {
    const server = new library.Server(
      { name: "skep", version: BUILD.version },
      {
        capabilities: { tools: {}, resources: {}, prompts: {} },
        instructions: client.getInstructions() ?? "",
      },
    );
    for (const method of PASSED_ON)
      server.setRequestHandler(method, async ({ params }, { mcpReq: { signal } }) => {
        const request = { method, params: membersOf(params) };
        return (await client.request(request, AS_IT_COMES, { signal, timeout: TIMEOUT_MS })) as never;
      });
    return server;
  });
  await client.close();
}

const AS_IT_COMES: Library.StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "skep", validate: (value) => ({ value }) },
};
