/** /v1/codehost: webhooks, repositories, the connection and its state. */
import { Type as t } from "@sinclair/typebox";
import { Elysia, status } from "elysia";
import type { Base } from "../../http/base.ts";
import { cursorAfter, listOf, PageQuery, pageOf } from "../../http/list.ts";
import { readStrict, strictBody } from "../../http/strict-body.ts";
import type { CodeHostConnection } from "./connection.ts";
import type { Deliveries } from "./deliveries.ts";
import {
  AppStatus,
  Connection,
  ConnectionUpdate,
  Delivery,
  DeliveryState,
  HostRepository,
  WebhookAnswer,
} from "./model.ts";

export interface CodeHostRoutesDeps {
  connection: CodeHostConnection;
  deliveries: Deliveries;
  /** The project that has this repository. */
  projectOf(repository: string): { id: string } | undefined;
}

const tags = ["codehost"];
/** What every host sends, whatever the event; the rest is the event's own and is checked where it is read. */
const DELIVERY = t.Object({
  action: t.Optional(t.String({ description: "What happened to the issue, pull request or comment." })),
  repository: t.Object({ full_name: t.String() }),
  sender: t.Optional(t.Object({ login: t.String() })),
});
const WEBHOOKS = "/v1/codehost/webhooks";

export function codeHostRoutes(base: Base, { connection, deliveries, projectOf }: CodeHostRoutesDeps) {
  return new Elysia({ name: "skep/codehost" })
    .use(base)
    .post(
      WEBHOOKS,
      async ({ request }) => {
        const answer = deliveries.take(request.headers, new Uint8Array(await request.arrayBuffer()));
        const isNew = answer.status === "accepted" || answer.status === "retried";
        return isNew ? status(202, answer) : status(200, answer);
      },
      {
        access: "public",
        webhook: true,
        parse: "none",
        response: { 200: WebhookAnswer, 202: WebhookAnswer },
        detail: {
          tags,
          operationId: "receiveWebhook",
          summary: "Webhook that the code host calls; signed with the webhook secret",
          requestBody: { required: true, content: { "application/json": { schema: DELIVERY } } },
        },
      },
    )
    .get(
      "/v1/codehost/repos",
      async ({ query }) => {
        const { limit, after } = pageOf(query);
        const { items, next } = await (await connection.host()).repositories(limit, after);
        return {
          items: items.map((one) => ({ ...one, project_id: projectOf(one.full_name)?.id ?? null })),
          next_cursor: next === null ? null : cursorAfter(next),
        };
      },
      {
        access: "user",
        query: t.Object(PageQuery),
        response: { 200: listOf(HostRepository) },
        detail: { tags, summary: "Repositories that the code host lets us reach" },
      },
    )
    .get(
      "/v1/codehost/app/status",
      async () => {
        const webhook = { configured: connection.webhookSecret() !== undefined, path: WEBHOOKS };
        return { ...(await connection.status()), webhook: { ...webhook, ...deliveries.counts() } };
      },
      {
        access: "user",
        response: { 200: AppStatus },
        detail: { tags, summary: "State of the connection to the code host" },
      },
    )
    .use(connectionRoutes(base, connection))
    .get("/v1/codehost/deliveries", ({ query }) => deliveries.list(query, pageOf(query)), {
      access: "admin",
      query: t.Object({ ...PageQuery, state: t.Optional(DeliveryState) }),
      response: { 200: listOf(Delivery) },
      detail: { tags, summary: "What the code host sent and the result, newest first" },
    })
    .post(
      "/v1/codehost/deliveries/:id/retry",
      ({ params, answer }) =>
        answer.accepted(
          () => "/v1/codehost/deliveries",
          () => deliveries.retry(params.id),
        ),
      {
        access: "admin",
        params: t.Object({ id: t.String({ maxLength: 100 }) }),
        response: { 202: Delivery },
        detail: { tags, operationId: "retryDelivery", summary: "Act again on a delivery that failed" },
      },
    );
}

function connectionRoutes(base: Base, connection: CodeHostConnection) {
  return new Elysia({ name: "skep/codehost-connection" })
    .use(base)
    .get("/v1/codehost/connection", () => connection.get(), {
      access: "admin",
      response: { 200: Connection },
      detail: { tags, summary: "How the code host is reached" },
    })
    .put(
      "/v1/codehost/connection",
      async ({ request, caller }) => connection.update(await readStrict(request, ConnectionUpdate), caller),
      {
        access: "admin",
        parse: "none",
        response: { 200: Connection },
        detail: {
          tags,
          summary: "Connect a code host; what is stored here takes precedence over the environment",
          requestBody: strictBody(ConnectionUpdate),
        },
      },
    )
    .delete(
      "/v1/codehost/connection",
      ({ caller, set }) => {
        connection.reset(caller);
        set.status = 204;
      },
      {
        access: "admin",
        response: { 204: t.Void() },
        detail: { tags, summary: "Forget the stored connection; the environment counts again" },
      },
    );
}
