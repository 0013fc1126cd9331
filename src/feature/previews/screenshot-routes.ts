/** /v1/runs/{id}/screenshots: pictures of the apps of a run's steps. */
import { describeFile } from "../../http/file-answer.ts";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Screenshot } from "./model.ts";
import type { Screenshots } from "./screenshots.ts";

export const screenshotRoutes = (screenshots: Screenshots) =>
  tagOperations("previews", [
    defineOperation("listScreenshots", "GET /v1/runs/:id/screenshots", {
      access: "user",
      ...pagesOf(Screenshot),
      summary: "List screenshots of the apps of a run's steps, newest first",
      handler: ({ params, query, caller }) => screenshots.list(params.id, pageOf(query), caller),
    }),
    defineOperation("getScreenshot", "GET /v1/runs/:id/screenshots/:screenshot_id", {
      access: "user",
      summary: "Get a screenshot as PNG",
      documented: { responses: { 200: describeFile("image/png", "The screenshot.") } },
      handler: ({ params, caller }) =>
        new Response(Buffer.from(screenshots.bytes(params.id, params.screenshot_id, caller)), {
          headers: {
            "Content-Type": "image/png",
            "Content-Disposition": "inline",
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "Cache-Control": "private, max-age=3600",
          },
        }),
    }),
  ]);
