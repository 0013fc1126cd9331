/** GET /v1/admin/monitor. */
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Monitor } from "./model.ts";

export function monitorRoutes(status: () => Monitor) {
  return tagOperations("admin", [
    defineOperation("getMonitor", "GET /v1/admin/monitor", {
      access: "admin",
      answer: Monitor,
      summary: "Get what an outside monitor is told and whether it answers",
      handler: () => status(),
    }),
  ]);
}
