/** /v1/admin: the running instance. Users and the waitlist under it belong to accounts. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { listOf, PageQuery, pageOf, pageOfArray, queryInteger } from "../../http/list.ts";
import { logStream } from "../../http/log-frames.ts";
import { stillHolds } from "../../http/standing.ts";
import { readStrict, strictBody } from "../../http/strict-body.ts";
import { Job } from "../jobs/model.ts";
import type { ApiUsageCounts } from "./api-usage.ts";
import type { Containers } from "./containers.ts";
import { ApiUsage, Container, PullImage as PullImageBody, TtsSettings, TtsSettingsUpdate } from "./model.ts";
import type { PullImage } from "./pull-image.ts";
import type { TtsSettingsService } from "./tts-settings.ts";

const tags = ["admin"];
const IdPath = t.Object({ id: t.String({ maxLength: 128 }) });
const Day = t.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "YYYY-MM-DD, UTC." });

export interface AdminRoutesDeps {
  apiUsage: ApiUsageCounts;
  containers: Containers;
  pullImage: PullImage;
  ttsSettings: TtsSettingsService;
}

export function adminRoutes(base: Base, deps: AdminRoutesDeps) {
  const { apiUsage } = deps;
  return new Elysia({ name: "skep/admin" })
    .use(base)
    .use(containerRoutes(base, deps))
    .use(ttsSettingsRoutes(base, deps.ttsSettings))
    .get("/v1/admin/api-usage", ({ query }) => apiUsage.report(query), {
      access: "admin",
      query: t.Object({
        from: t.Optional(Day),
        to: t.Optional(Day),
        route: t.Optional(t.String({ maxLength: 256 })),
        user: t.Optional(t.String({ maxLength: 100 })),
      }),
      response: { 200: ApiUsage },
      detail: { tags, summary: "Requests by route, status, user and day" },
    });
}

function containerRoutes(base: Base, { containers, pullImage }: Pick<AdminRoutesDeps, "containers" | "pullImage">) {
  return new Elysia({ name: "skep/admin-containers" })
    .use(base)
    .get(
      "/v1/admin/containers",
      async ({ query }) => pageOfArray(await containers.list(), pageOf(query), (container) => container.id),
      {
        access: "admin",
        query: t.Object(PageQuery),
        response: { 200: listOf(Container) },
        detail: { tags, summary: "Containers of this instance, with processor and memory use now" },
      },
    )
    .get(
      "/v1/admin/containers/:id/logs",
      async ({ params, query, caller }) => {
        const { lines, stop } = await containers.logs(params.id, {
          tail: query.tail ?? 200,
          follow: query.follow ?? true,
        });
        return logStream(lines, { stop, stillValid: () => stillHolds(caller) });
      },
      {
        access: "admin",
        params: IdPath,
        query: t.Object({
          tail: t.Optional(
            queryInteger({ minimum: 0, maximum: 10_000, description: "Last lines to begin with; 200." }),
          ),
          follow: t.Optional(t.Boolean({ description: "Go on as lines come; true." })),
        }),
        detail: {
          tags,
          summary: "A container's output (Server-Sent Events)",
          description: "Frames `log` carry `{stream, text}`, one line each; `end` is the last.",
          responses: {
            200: { description: "An event stream.", content: { "text/event-stream": { schema: { type: "string" } } } },
          },
        },
      },
    )
    .post(
      "/v1/admin/pull-image",
      async ({ body, caller, answer }) => {
        await pullImage.assertReady();
        return answer.accepted(
          (job) => `/v1/jobs/${job.id}`,
          () => pullImage.start(body.image, caller),
        );
      },
      {
        access: "admin",
        body: PullImageBody,
        response: { 202: Job },
        detail: { tags, summary: "Pull a container image, as a background job" },
      },
    );
}

function ttsSettingsRoutes(base: Base, settings: TtsSettingsService) {
  return new Elysia({ name: "skep/admin-tts-settings" })
    .use(base)
    .get("/v1/admin/tts-settings", ({ answer }) => answer.tagged(settings.get()), {
      access: "admin",
      response: { 200: TtsSettings },
      detail: { tags, summary: "Voice settings of the instance" },
    })
    .put(
      "/v1/admin/tts-settings",
      async ({ request, caller, answer }) => {
        const input = await readStrict(request, TtsSettingsUpdate);
        assertIfMatch(request, settings.get());
        return answer.tagged(settings.update(input, caller));
      },
      {
        access: "admin",
        parse: "none",
        response: { 200: TtsSettings },
        detail: {
          tags,
          summary: "Change the voice settings of the instance",
          requestBody: strictBody(TtsSettingsUpdate),
        },
      },
    );
}
