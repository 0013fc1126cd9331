/** GET /v1/updates/version and /check. */
import { operation, operations } from "../../http/operation.ts";
import { UpdateCheck, Version } from "./model.ts";
import type { Updates } from "./service.ts";

export function updateRoutes(updates: Updates) {
  return operations("updates", [
    operation("getUpdatesVersion", "GET /v1/updates/version", {
      access: "user",
      answer: Version,
      summary: "What this build is",
      handler: () => updates.version(),
    }),
    operation("getUpdatesCheck", "GET /v1/updates/check", {
      access: "user",
      answer: UpdateCheck,
      summary: "Whether there is a newer version",
      description: "Contacts nothing unless UPDATE_CHECK_URL is set; the answer is signed by the release key.",
      handler: () => updates.check(),
    }),
  ]);
}
