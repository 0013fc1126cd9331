/** /v1/admin: the running instance. Users and the waitlist under it belong to accounts. */

import { Type as t } from "@sinclair/typebox";
import { pageOf, pageOfArray, pagesOf } from "../../http/list.ts";
import { LOG_RESPONSES, LogQuery, logPartOf, logStream } from "../../http/log-frames.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { stillHolds } from "../../http/standing.ts";
import { Job } from "../jobs/model.ts";
import type { ApiUsageCounts } from "./api-usage.ts";
import type { Containers } from "./containers.ts";
import { ApiUsage, Container, PullImage as PullImageBody } from "./model.ts";
import type { PullImage } from "./pull-image.ts";

const IdPath = t.Object({ id: t.String({ maxLength: 128 }) });
const Day = t.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "Day as YYYY-MM-DD, in UTC." });

interface AdminRoutesDeps {
  apiUsage: ApiUsageCounts;
  containers: Containers;
  pullImage: PullImage;
}

export function adminRoutes({ apiUsage, containers, pullImage }: AdminRoutesDeps) {
  return tagOperations("admin", [
    defineOperation("listContainers", "GET /v1/admin/containers", {
      access: "admin",
      ...pagesOf(Container),
      summary: "List this instance's containers or Pods, with the current processor and memory use of containers",
      handler: async ({ query }) => pageOfArray(await containers.list(), pageOf(query), (container) => container.id),
    }),
    defineOperation("getContainerLogs", "GET /v1/admin/containers/:id/logs", {
      access: "admin",
      params: IdPath,
      query: t.Object({
        ...LogQuery,
      }),
      summary: "Stream a container's output (Server-Sent Events)",
      description: "Each `log` frame carries one line as `{stream, text}`. The last frame is `end`.",
      documented: { responses: LOG_RESPONSES },
      handler: async ({ params, query, caller }) => {
        const { lines, stop } = await containers.logs(params.id, logPartOf(query));
        return logStream(lines, { stop, stillValid: () => stillHolds(caller), userId: caller.userId });
      },
    }),
    defineOperation("pullImage", "POST /v1/admin/pull-image", {
      access: "admin",
      body: PullImageBody,
      answer: { 202: Job },
      summary: "Pull a container image, as a background job",
      handler: async ({ body, caller, answer }) => {
        await pullImage.assertReady();
        return answer.accepted("/v1/jobs/:id", () => pullImage.start(body.image, caller));
      },
    }),
    defineOperation("getApiUsage", "GET /v1/admin/api-usage", {
      access: "admin",
      query: t.Object({
        from: t.Optional(Day),
        to: t.Optional(Day),
        route: t.Optional(t.String({ maxLength: 256 })),
        user: t.Optional(t.String({ maxLength: 100 })),
      }),
      answer: ApiUsage,
      summary: "Count API requests by route, status, user and day",
      handler: ({ query }) => apiUsage.report(query),
    }),
  ]);
}
