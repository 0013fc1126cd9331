/** `/mcp`: this server as a tool server, for editors and other agents. */

import { badRequest, notFound } from "../../core/errors.ts";
import type { Caller } from "../../http/caller.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import type { Endpoint } from "./endpoint.ts";
import { SESSION_HEADER } from "./sessions.ts";

const description =
  "Model Context Protocol over streamable HTTP, revisions 2025-11-25 (with and without sessions) and 2026-07-28. Tools act with the caller's own rights; an API key's scopes apply to each.";

/**
 * Questions to the client during a call travel in that call's own stream, so GET has no stream to open and answers 405.
 */
export const mcpServerRoutes = ({ answer }: Pick<Endpoint, "answer">) =>
  tagOperations("mcp", [
    defineOperation("askMcp", "POST /mcp", {
      access: "user",
      scope: "inner",
      summary: "Send a Model Context Protocol message to this server",
      description,
      documented: { responses: { 200: { description: "A JSON-RPC answer, as JSON or as an event stream." } } },
      handler: ({ request, caller, body }) => answer(request, caller, jsonOf(body)),
    }),
    defineOperation("endMcpSession", "DELETE /mcp", {
      access: "user",
      scope: "inner",
      summary: "End an MCP client's session",
      description: "The header `Mcp-Session-Id` names the session.",
      documented: { responses: { 200: { description: "The session has ended." } } },
      handler: ({ request, caller }) => endSession(answer, request, caller),
    }),
  ]);

/** @throws Problem 400 when the request holds no JSON. The library would answer that in a format of its own. */
function jsonOf(body: unknown): unknown {
  if (body === undefined) throw badRequest("The body is not JSON.", "malformed");
  return body;
}

async function endSession(answer: Endpoint["answer"], request: Request, caller: Caller): Promise<Response> {
  if (!request.headers.has(SESSION_HEADER)) throw badRequest("Name the session in the header Mcp-Session-Id.");
  const response = await answer(request, caller);
  if (response.status === 404) throw notFound("session");
  return response;
}
