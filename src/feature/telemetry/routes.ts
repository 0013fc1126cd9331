/** GET /v1/admin/telemetry. */
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Telemetry } from "./model.ts";

export function telemetryRoutes(status: () => Telemetry) {
  return tagOperations("admin", [
    defineOperation("getTelemetry", "GET /v1/admin/telemetry", {
      access: "admin",
      answer: Telemetry,
      summary: "Get whether traces are sent and accepted",
      handler: () => status(),
    }),
  ]);
}
