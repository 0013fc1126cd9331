/** /mcp: this server as a tool server, for editors and other agents. */
import { Elysia } from "elysia";
import { badRequest, notFound } from "../../core/errors.ts";
import type { Base } from "../../http/base.ts";
import type { Caller } from "../../http/caller.ts";
import type { Endpoint } from "./endpoint.ts";
import { SESSION_HEADER } from "./sessions.ts";

const description =
  "Model Context Protocol over streamable HTTP, revisions 2025-11-25 (with and without sessions) and 2026-07-28. Tools act with the caller's own rights; an API key's scopes apply to each.";
const tags = ["mcp"];

/** Questions during a call come in that call's own stream, so there is no stream to GET: it answers 405. */
export const mcpServerRoutes = (base: Base, { answer }: Pick<Endpoint, "answer">) =>
  new Elysia({ name: "skep/mcp-server" })
    .use(base)
    .post("/mcp", ({ request, caller, body }) => answer(request, caller, jsonOf(body)), {
      access: "user",
      detail: {
        ...{ tags, operationId: "askMcp", summary: "Ask this server as an MCP client", description },
        responses: { 200: { description: "JSON-RPC, as JSON or as an event stream." } },
      },
    })
    .delete("/mcp", ({ request, caller }) => endSession(answer, request, caller), {
      access: "user",
      detail: {
        ...{ tags, operationId: "endMcpSession", summary: "End an MCP client's session" },
        description: "The session is named in the header `Mcp-Session-Id`.",
        responses: { 200: { description: "It is over." } },
      },
    });

/** @throws Problem 400 when the request holds no JSON, which the library would answer in a form of its own. */
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
