/** /v1/admin: the running instance. Users and the waitlist under it belong to accounts. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf, pageOfArray } from "../../http/list.ts";
import { LOG_RESPONSES, LogQuery, logPartOf, logStream } from "../../http/log-frames.ts";
import { stillHolds } from "../../http/standing.ts";
import { Job } from "../jobs/model.ts";
import type { ApiUsageCounts } from "./api-usage.ts";
import type { Containers } from "./containers.ts";
import { ApiUsage, Container, PullImage as PullImageBody } from "./model.ts";
import type { PullImage } from "./pull-image.ts";

const tags = ["admin"];
const IdPath = t.Object({ id: t.String({ maxLength: 128 }) });
const Day = t.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "YYYY-MM-DD, UTC." });

export interface AdminRoutesDeps {
  apiUsage: ApiUsageCounts;
  containers: Containers;
  pullImage: PullImage;
}

export function adminRoutes(base: Base, deps: AdminRoutesDeps) {
  const { apiUsage } = deps;
  return new Elysia({ name: "skep/admin" })
    .use(base)
    .use(containerRoutes(base, deps))
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
        const { lines, stop } = await containers.logs(params.id, logPartOf(query));
        return logStream(lines, { stop, stillValid: () => stillHolds(caller) });
      },
      {
        access: "admin",
        params: IdPath,
        query: t.Object({
          ...LogQuery,
        }),
        detail: {
          tags,
          summary: "A container's output (Server-Sent Events)",
          description: "Frames `log` carry `{stream, text}`, one line each; `end` is the last.",
          responses: LOG_RESPONSES,
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
