/** /v1/preferences: what the caller's pages remember. */
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { Preferences } from "./model.ts";
import type { PreferencesService } from "./service.ts";

const tags = ["preferences"];

export function preferenceRoutes(base: Base, preferences: PreferencesService) {
  return new Elysia({ name: "skep/preferences" })
    .use(base)
    .get("/v1/preferences", ({ caller }) => preferences.get(caller), {
      access: "user",
      response: { 200: Preferences },
      detail: { tags, operationId: "getPreferences", summary: "What your pages remember, in every browser" },
    })
    .patch("/v1/preferences", ({ body, caller }) => preferences.update(body, caller), {
      access: "user",
      body: Preferences,
      response: { 200: Preferences },
      detail: { tags, operationId: "updatePreferences", summary: "Set some of them; null removes one" },
    });
}
