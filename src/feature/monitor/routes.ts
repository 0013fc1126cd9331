/** GET /v1/admin/monitor. */
import { operation, operations } from "../../http/operation.ts";
import { Monitor } from "./model.ts";

export function monitorRoutes(status: () => Monitor) {
  return operations("admin", [
    operation("getMonitor", "GET /v1/admin/monitor", {
      access: "admin",
      answer: Monitor,
      summary: "Get what an outside monitor is told and whether it answers",
      handler: () => status(),
    }),
  ]);
}
