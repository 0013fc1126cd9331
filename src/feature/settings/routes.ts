/** GET and PUT /v1/settings. */
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { readStrict, strictBody } from "../../http/strict-body.ts";
import { Settings, SettingsUpdate } from "./model.ts";
import type { SettingsService } from "./service.ts";

const tags = ["settings"];

export function settingsRoutes(base: Base, settings: SettingsService) {
  return new Elysia({ name: "skep/settings" })
    .use(base)
    .get("/v1/settings", ({ answer }) => answer.tagged(settings.get()), {
      access: "admin",
      response: { 200: Settings },
      detail: { tags, summary: "All settings" },
    })
    .put(
      "/v1/settings",
      async ({ request, caller, answer }) => {
        const input = await readStrict(request, SettingsUpdate);
        assertIfMatch(request, settings.get());
        return answer.tagged(settings.update(input, caller));
      },
      {
        access: "admin",
        parse: "none",
        response: { 200: Settings },
        detail: {
          tags,
          summary: "Change settings",
          description: "Fields that are left out stay, null puts one back to its default, unknown ones are refused.",
          requestBody: strictBody(SettingsUpdate),
        },
      },
    );
}
