import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { orNull } from "../../core/schema.ts";
import { ServerStatus } from "./model.ts";

export const mcpServerChanged = defineEvent(
  "mcp_server_changed",
  t.Object(
    {
      server_id: t.String(),
      status: orNull(ServerStatus, { description: "Null: it was removed." }),
      error: orNull(t.String()),
      tools: t.Integer({ description: "Tools that agents may be given." }),
      waiting: t.Integer({ description: "Tools that wait for approval." }),
    },
    { description: "A tool server was changed, or its status did." },
  ),
  { stale: ["/v1/mcp"] },
);

export const mcpEvents = [mcpServerChanged] as const;
