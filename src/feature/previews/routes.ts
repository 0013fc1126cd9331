/** `/v1/runs/{id}/previews`: running apps of a run's steps that people can look at. */
import { toTimestamp } from "../../core/clock.ts";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Preview, PreviewTicket } from "./model.ts";
import type { Previews } from "./service.ts";
import type { Visits } from "./visits.ts";

/** @param visits opens the listener of previews when it is first needed. @throws Problem 503 `previews_off`. */
export function previewRoutes(previews: Previews, visits: () => Promise<Visits>) {
  return tagOperations("previews", [
    defineOperation("listPreviews", "GET /v1/runs/:id/previews", {
      access: "user",
      ...pagesOf(Preview),
      summary: "List the apps of a run's steps that can be opened now, newest first",
      handler: ({ params, query, caller }) => previews.list(params.id, pageOf(query), caller),
    }),
    defineOperation("openPreview", "POST /v1/runs/:id/previews/:preview_id/tickets", {
      access: "user",
      project: "viewer",
      scope: "runs",
      credential: true,
      answer: { 201: PreviewTicket },
      summary: "Create an address that opens a preview in a browser, once, within a minute",
      description:
        "The preview has its own origin, which never receives the caller's credential. The address sets a cookie for this preview only. The cookie ends with the preview, or when the caller may no longer read the run.",
      handler: async ({ params, caller, answer }) => {
        const preview = previews.find(params.id, params.preview_id, caller);
        const { url, expiresAt } = (await visits()).ticket(preview, caller);
        // The answer is not stored for an Idempotency-Key, because the ticket in it is used once.
        return answer.as(201, { url, expires_at: toTimestamp(expiresAt) });
      },
    }),
    defineOperation("closePreview", "DELETE /v1/runs/:id/previews/:preview_id", {
      access: "user",
      scope: "runs",
      answer: 204,
      summary: "Stop an app that was kept after its step",
      description: "Answers 409 while the step runs; cancel the run to stop the app.",
      handler: ({ params, caller }) => previews.end(params.id, params.preview_id, caller),
    }),
  ]);
}
