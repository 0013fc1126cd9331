import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { orNull } from "../../core/schema.ts";
import { ServerStatus } from "./model.ts";

export const mcpServerChanged = defineEvent(
  "mcp_server_changed",
  t.Object(
    {
      server_id: t.String(),
      status: orNull(ServerStatus, { description: "Status of the server; null if the server was removed." }),
      error: orNull(t.String()),
      tools: t.Integer({ description: "Number of tools that agents may use." }),
      waiting: t.Integer({ description: "Number of tools that wait for approval." }),
    },
    { description: "A tool server was changed or removed, or its status changed." },
  ),
  { stale: ["/v1/mcp"] },
);

export const mcpEvents = [mcpServerChanged] as const;
