/** `/v1/preferences`: what the dashboard remembers for the caller. */
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Preferences } from "./model.ts";
import type { PreferencesService } from "./service.ts";

export function preferenceRoutes(preferences: PreferencesService) {
  return tagOperations("preferences", [
    defineOperation("getPreferences", "GET /v1/preferences", {
      access: "user",
      answer: Preferences,
      summary: "Get your preferences, which the dashboard remembers in every browser",
      handler: ({ caller }) => preferences.get(caller),
    }),
    defineOperation("updatePreferences", "PATCH /v1/preferences", {
      access: "user",
      strict: true,
      body: Preferences,
      answer: Preferences,
      summary: "Change your preferences; null removes one",
      handler: ({ body, caller }) => preferences.update(body, caller),
    }),
  ]);
}
