/** `/v1/mcp`: tool servers. Administrators configure them; an external engine may report their tools. */

import { Type as t } from "@sinclair/typebox";
import { pageOf, pagesOf } from "../../http/list.ts";
import { LOG_RESPONSES, LogQuery, logPartOf, logStream } from "../../http/log-frames.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { stillHolds } from "../../http/standing.ts";
import type { McpLogs } from "./logs.ts";
import {
  Approval,
  ImportBody,
  Imported,
  McpCreate,
  McpServer,
  McpUpdate,
  MergedConfig,
  StatusUpdate,
  ToolsUpdate,
} from "./model.ts";
import { type Proposals, ProposedServers, TakeProposed } from "./proposals.ts";
import type { Mcp } from "./service.ts";

const IdPath = t.Object({ id: t.String({ maxLength: 64 }) });

export function mcpRoutes(mcp: Mcp, logs: McpLogs, proposals: Proposals) {
  return tagOperations("mcp", [
    ...wideRoutes(mcp, logs),
    ...proposalRoutes(proposals),
    ...engineRoutes(mcp),
    defineOperation("listMcp", "GET /v1/mcp", {
      access: "admin",
      credential: true,
      ...pagesOf(McpServer),
      summary: "List tool servers",
      handler: ({ query }) => mcp.list(pageOf(query)),
    }),
    defineOperation("createMcp", "POST /v1/mcp", {
      access: "admin",
      body: McpCreate,
      answer: { 201: McpServer },
      summary: "Register a tool server",
      handler: ({ body, caller, answer }) => answer.created("/v1/mcp/:id", () => mcp.create(body, caller)),
    }),
    defineOperation("getMcp", "GET /v1/mcp/:id", {
      access: "admin",
      credential: true,
      params: IdPath,
      answer: McpServer,
      summary: "Get a tool server with its tools",
      handler: ({ params }) => mcp.get(params.id),
    }),
    defineOperation("updateMcp", "PUT /v1/mcp/:id", {
      access: "admin",
      params: IdPath,
      body: McpUpdate,
      answer: McpServer,
      summary: "Change a tool server",
      description: "Changes the fields that are sent. A new address drops the headers and tokens of the old one.",
      handler: ({ params, body, caller }) => mcp.update(params.id, body, caller),
    }),
    defineOperation("deleteMcp", "DELETE /v1/mcp/:id", {
      access: "admin",
      params: IdPath,
      answer: 204,
      summary: "Remove a tool server and the data stored for it",
      handler: ({ params, caller }) => mcp.remove(params.id, caller),
    }),
    defineOperation("approveMcp", "POST /v1/mcp/:id/approve", {
      access: "admin",
      params: IdPath,
      body: Approval,
      answer: McpServer,
      summary: "Approve new or changed tools",
      handler: ({ params, body, caller }) => mcp.approve(params.id, body, caller),
    }),
  ]);
}

/** Operations about all servers. */
function proposalRoutes(proposals: Proposals) {
  return [
    defineOperation("listProposedToolServers", "GET /v1/projects/:id/tool-servers", {
      access: "admin",
      params: IdPath,
      answer: ProposedServers,
      summary: "List the tool servers that the repository names in .mcp.json, without starting any",
      handler: ({ params }) => proposals.list(params.id),
    }),
    defineOperation("takeProposedToolServers", "POST /v1/projects/:id/tool-servers", {
      access: "admin",
      params: IdPath,
      body: TakeProposed,
      answer: Imported,
      summary: "Register tool servers from the repository's .mcp.json, switched off",
      handler: ({ params, body, caller }) => proposals.take(params.id, body, caller),
    }),
  ] as const;
}

function wideRoutes(mcp: Mcp, logs: McpLogs) {
  return tagOperations("mcp", [
    defineOperation("getMcpConfigJson", "GET /v1/mcp/config.json", {
      access: "engine",
      credential: true,
      answer: MergedConfig,
      summary: "Get the tool servers that are switched on, as `mcpServers`",
      description: "Values are masked. Only the engine's token gets them in plain text, and that is audited.",
      handler: ({ caller }) => mcp.mergedConfig(caller),
    }),
    defineOperation("importMcp", "POST /v1/mcp/import", {
      access: "admin",
      body: ImportBody,
      answer: Imported,
      summary: "Import tool servers from a file, switched off",
      handler: ({ body, caller }) => mcp.import(body, caller),
    }),
    defineOperation("getMcpLogs", "GET /v1/mcp/logs", {
      access: "admin",
      credential: true,
      query: t.Object({
        server_id: t.Optional(t.String({ maxLength: 64 })),
        ...LogQuery,
      }),
      summary: "Stream what tool servers print and what Skep notes about them (Server-Sent Events)",
      description: "Each frame `log` carries one line as `{at, server_id, stream, text}`. The last frame is `end`.",
      documented: { responses: LOG_RESPONSES },
      handler: ({ query, caller }) => {
        if (query.server_id !== undefined) mcp.get(query.server_id);
        const { lines, stop } = logs.read({ server: query.server_id, ...logPartOf(query) });
        return logStream(lines, { stop, stillValid: () => stillHolds(caller), userId: caller.userId });
      },
    }),
  ]);
}

function engineRoutes(mcp: Mcp) {
  return tagOperations("mcp", [
    defineOperation("updateMcpStatus", "PATCH /v1/mcp/:id/status", {
      access: "engine",
      params: IdPath,
      body: StatusUpdate,
      answer: McpServer,
      summary: "Set a tool server's status",
      description:
        "`running` and `configuring` restart the server. `stopped` and `error` keep it off until another status is set.",
      handler: ({ params, body, caller }) => mcp.setStatus(params.id, body, caller),
    }),
    defineOperation("updateMcpTools", "PATCH /v1/mcp/:id/tools", {
      access: "engine",
      params: IdPath,
      body: ToolsUpdate,
      answer: McpServer,
      summary: "Set the tools of a server, or have Skep ask the server for them",
      handler: ({ params, body, caller }) => mcp.setTools(params.id, body, caller),
    }),
  ]);
}
