/**
 * Skep's tools for an external agent, as an MCP server without sessions: each request gets a server object of its own.
 */
import type * as Library from "@modelcontextprotocol/server";
import { isObject } from "../../core/is-object.ts";
import { BUILD } from "../../core/version.ts";
import type { HarnessPort } from "../../engine/harness/port.ts";

/** See `HarnessPort.answerTools`. */
export const answerTools: HarnessPort["answerTools"] = async (tools, request, body) => {
  if (!isObject(body)) return Response.json({ error: "The body is no JSON object." }, { status: 400 });
  const library = await import("@modelcontextprotocol/server");
  const server = new library.Server(
    { name: "skep", title: "Skep", version: BUILD.version },
    { capabilities: { tools: {} } },
  );
  server.setRequestHandler("tools/list", async () => ({
    tools: (await tools.list()).map(({ name, description, parameters }) => ({
      name,
      description,
      inputSchema: { ...parameters, type: "object" as const },
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }): Promise<Library.CallToolResult> => {
    const { ok, output } = await tools.call(params.name, params.arguments ?? {});
    return { content: [{ type: "text", text: output }], ...(ok ? {} : { isError: true }) };
  });
  const transport = new library.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  return transport.handleRequest(request, { parsedBody: body });
};
