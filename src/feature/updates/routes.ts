/** GET /v1/updates/version and /check. */
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { UpdateCheck, Version } from "./model.ts";
import type { Updates } from "./service.ts";

const tags = ["updates"];

export function updateRoutes(base: Base, updates: Updates) {
  return new Elysia({ name: "skep/updates" })
    .use(base)
    .get("/v1/updates/version", () => updates.version(), {
      access: "user",
      response: { 200: Version },
      detail: { tags, summary: "What this build is" },
    })
    .get("/v1/updates/check", () => updates.check(), {
      access: "user",
      response: { 200: UpdateCheck },
      detail: {
        tags,
        summary: "Whether there is a newer version",
        description: "Contacts nothing unless UPDATE_CHECK_URL is set; the answer is signed by the release key.",
      },
    });
}
