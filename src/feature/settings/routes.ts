/** GET and PUT /v1/settings. */

import { assertIfMatch } from "../../http/etag.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Settings, SettingsUpdate } from "./model.ts";
import type { SettingsService } from "./service.ts";

export function settingsRoutes(settings: SettingsService) {
  return tagOperations("settings", [
    defineOperation("getSettings", "GET /v1/settings", {
      access: "admin",
      answer: Settings,
      summary: "Get all settings",
      handler: ({ answer }) => answer.tag(settings.get()),
    }),
    defineOperation("updateSettings", "PUT /v1/settings", {
      access: "admin",
      strict: true,
      body: SettingsUpdate,
      answer: Settings,
      summary: "Change settings",
      description:
        "Fields that are left out stay unchanged. Null resets a field to its default. Unknown fields are refused.",
      handler: ({ request, body: input, caller, answer }) => {
        assertIfMatch(request, settings.get());
        return answer.tag(settings.update(input, caller));
      },
    }),
  ]);
}
