/** GET /v1/updates/version and /check. */
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { UpdateCheck, Version } from "./model.ts";
import type { Updates } from "./service.ts";

export function updateRoutes(updates: Updates) {
  return tagOperations("updates", [
    defineOperation("getUpdatesVersion", "GET /v1/updates/version", {
      access: "user",
      answer: Version,
      summary: "Get the version of this build",
      handler: () => updates.version(),
    }),
    defineOperation("getUpdatesCheck", "GET /v1/updates/check", {
      access: "user",
      answer: UpdateCheck,
      summary: "Check for a newer version",
      description:
        "Contacts nothing unless UPDATE_CHECK_URL is set. The information about releases must be signed with the release key.",
      handler: () => updates.check(),
    }),
  ]);
}
