/** /v1/mcp: tool servers. Administrators configure them; an engine may report what it found. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { LOG_RESPONSES, LogQuery, logPartOf, logStream } from "../../http/log-frames.ts";
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
import type { Mcp } from "./service.ts";

const tags = ["mcp"];
const IdPath = t.Object({ id: t.String({ maxLength: 64 }) });
const locationOf = ({ id }: McpServer) => `/v1/mcp/${id}`;

export function mcpRoutes(base: Base, mcp: Mcp, logs: McpLogs) {
  return new Elysia({ name: "skep/mcp" })
    .use(base)
    .use(wideRoutes(base, mcp, logs))
    .use(engineRoutes(base, mcp))
    .get("/v1/mcp", ({ query }) => mcp.list(pageOf(query)), {
      access: "admin",
      query: t.Object(PageQuery),
      response: { 200: listOf(McpServer) },
      detail: { tags, summary: "Tool servers" },
    })
    .post("/v1/mcp", ({ body, caller, answer }) => answer.created(locationOf, () => mcp.create(body, caller)), {
      access: "admin",
      body: McpCreate,
      response: { 201: McpServer },
      detail: { tags, summary: "Register a tool server" },
    })
    .get("/v1/mcp/:id", ({ params }) => mcp.get(params.id), {
      access: "admin",
      params: IdPath,
      response: { 200: McpServer },
      detail: { tags, summary: "One tool server, with its tools" },
    })
    .put("/v1/mcp/:id", ({ params, body, caller }) => mcp.update(params.id, body, caller), {
      access: "admin",
      params: IdPath,
      body: McpUpdate,
      response: { 200: McpServer },
      detail: {
        tags,
        summary: "Change a tool server",
        description: "Changes the fields that are sent. A new address drops the headers and tokens of the former one.",
      },
    })
    .delete(
      "/v1/mcp/:id",
      ({ params, caller, set }) => {
        mcp.remove(params.id, caller);
        set.status = 204;
      },
      {
        access: "admin",
        params: IdPath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Remove a tool server, with what it kept" },
      },
    )
    .post("/v1/mcp/:id/approve", ({ params, body, caller }) => mcp.approve(params.id, body, caller), {
      access: "admin",
      params: IdPath,
      body: Approval,
      response: { 200: McpServer },
      detail: { tags, summary: "Approve tools that are new or changed" },
    });
}

/** What is about all servers. */
function wideRoutes(base: Base, mcp: Mcp, logs: McpLogs) {
  return new Elysia({ name: "skep/mcp-all" })
    .use(base)
    .get("/v1/mcp/config.json", ({ caller }) => mcp.mergedConfig(caller), {
      access: "engine",
      response: { 200: MergedConfig },
      detail: {
        tags,
        summary: "The servers that are switched on, as `mcpServers`",
        description: "Values are masked; the engine's token gets them in plain text, which is audited.",
      },
    })
    .post("/v1/mcp/import", ({ body, caller }) => mcp.import(body, caller), {
      access: "admin",
      body: ImportBody,
      response: { 200: Imported },
      detail: { tags, summary: "Take tool servers from a file; they are switched off until you switch them on" },
    })
    .get(
      "/v1/mcp/logs",
      ({ query, caller }) => {
        if (query.server_id !== undefined) mcp.get(query.server_id);
        const { lines, stop } = logs.read({ server: query.server_id, ...logPartOf(query) });
        return logStream(lines, { stop, stillValid: () => stillHolds(caller) });
      },
      {
        access: "admin",
        query: t.Object({
          server_id: t.Optional(t.String({ maxLength: 64 })),
          ...LogQuery,
        }),
        detail: {
          tags,
          summary: "What tool servers print, with remarks of this server (Server-Sent Events)",
          description: "Frames `log` carry `{at, server_id, stream, text}`, one line each; `end` is the last.",
          responses: LOG_RESPONSES,
        },
      },
    );
}

function engineRoutes(base: Base, mcp: Mcp) {
  return new Elysia({ name: "skep/mcp-engine" })
    .use(base)
    .patch("/v1/mcp/:id/status", ({ params, body, caller }) => mcp.setStatus(params.id, body, caller), {
      access: "engine",
      params: IdPath,
      body: StatusUpdate,
      response: { 200: McpServer },
      detail: {
        tags,
        summary: "Set a tool server's status",
        description:
          "`running` and `configuring` start it again; `stopped` and `error` keep it off until another status is set.",
      },
    })
    .patch("/v1/mcp/:id/tools", ({ params, body, caller }) => mcp.setTools(params.id, body, caller), {
      access: "engine",
      params: IdPath,
      body: ToolsUpdate,
      response: { 200: McpServer },
      detail: { tags, summary: "Set which tools a server has, or ask the server" },
    });
}
