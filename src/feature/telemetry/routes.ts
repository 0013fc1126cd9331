/** GET /v1/admin/telemetry. */
import { operation, operations } from "../../http/operation.ts";
import { Telemetry } from "./model.ts";

export function telemetryRoutes(status: () => Telemetry) {
  return operations("admin", [
    operation("getTelemetry", "GET /v1/admin/telemetry", {
      access: "admin",
      answer: Telemetry,
      summary: "Get whether traces are sent and accepted",
      handler: () => status(),
    }),
  ]);
}
