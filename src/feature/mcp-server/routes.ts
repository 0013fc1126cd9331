/** /mcp: this server as a tool server, for editors and other agents. */
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import type { Endpoint } from "./endpoint.ts";

const description =
  "Model Context Protocol over streamable HTTP, revisions 2025-11-25 and 2026-07-28, without sessions. What tools do is done with the caller's own rights; an API key's scopes hold for each.";

/** Without sessions there is nothing to GET and nothing to DELETE: both are answered 405. */
export const mcpServerRoutes = (base: Base, { answer }: Pick<Endpoint, "answer">) =>
  new Elysia({ name: "skep/mcp-server" }).use(base).post("/mcp", ({ request, caller }) => answer(request, caller), {
    access: "user",
    parse: "none",
    detail: {
      ...{ tags: ["mcp"], operationId: "askMcp", summary: "Ask this server as an MCP client", description },
      responses: { 200: { description: "JSON-RPC, as JSON or as an event stream." } },
    },
  });
