/** /v1/codehost: webhooks, repositories, the connection and its state. */

import { Type as t } from "@sinclair/typebox";
import type { Asker } from "../../core/ownership.ts";
import { cursorAfter, listOf, PageQuery, pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { type Standby, standbyProblem } from "../../store/identity.ts";
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

interface CodeHostRoutesDeps {
  connection: CodeHostConnection;
  deliveries: Deliveries;
  standby: Pick<Standby, "since">;
  /** The project that uses this repository, if the asker may see it. */
  projectOf(repository: string, asker: Asker): { id: string } | undefined;
}

/** What every host sends with any event. The other fields depend on the event and are checked where they are read. */
const DELIVERY = t.Object({
  action: t.Optional(t.String({ description: "What happened to the issue, pull request or comment." })),
  repository: t.Object({ full_name: t.String() }),
  sender: t.Optional(t.Object({ login: t.String() })),
});
const WEBHOOKS = "/v1/codehost/webhooks";

export function codeHostRoutes({ connection, deliveries, projectOf, standby }: CodeHostRoutesDeps) {
  return tagOperations("codehost", [
    defineOperation("receiveWebhook", `POST ${WEBHOOKS}`, {
      access: "public",
      webhook: true,
      answer: { 200: WebhookAnswer, 202: WebhookAnswer },
      summary: "Receive a webhook from the code host, signed with the webhook secret",
      documented: { requestBody: { required: true, content: { "application/json": { schema: DELIVERY } } } },
      handler: ({ request, bytes, answer }) => {
        if (standby.since() !== null) throw standbyProblem();
        const taken = deliveries.take(request.headers, bytes ?? new Uint8Array());
        const isNew = taken.status === "accepted" || taken.status === "retried";
        return answer.as(isNew ? 202 : 200, taken);
      },
    }),
    defineOperation("listCodehostRepos", "GET /v1/codehost/repos", {
      access: "user",
      ...pagesOf(HostRepository),
      summary: "List the repositories that Skep can reach on the code host",
      handler: async ({ query, caller }) => {
        const { limit, after } = pageOf(query);
        const { items, next } = await (await connection.openHost()).repositories(limit, after);
        return {
          items: items.map((one) => ({ ...one, project_id: projectOf(one.full_name, caller)?.id ?? null })),
          next_cursor: next === null ? null : cursorAfter(next),
        };
      },
    }),
    defineOperation("getCodehostAppStatus", "GET /v1/codehost/app/status", {
      access: "user",
      answer: AppStatus,
      summary: "Get the state of the connection to the code host",
      handler: async () => {
        const webhook = { configured: connection.webhookSecret() !== undefined, path: WEBHOOKS };
        return { ...(await connection.status()), webhook: { ...webhook, ...deliveries.counts() } };
      },
    }),
    defineOperation("getCodehostConnection", "GET /v1/codehost/connection", {
      access: "admin",
      answer: Connection,
      summary: "Get the settings of the connection to the code host",
      handler: () => connection.get(),
    }),
    defineOperation("updateCodehostConnection", "PUT /v1/codehost/connection", {
      access: "admin",
      strict: true,
      body: ConnectionUpdate,
      answer: Connection,
      summary: "Connect a code host; stored settings take precedence over the environment",
      handler: ({ body, caller }) => connection.update(body, caller),
    }),
    defineOperation("deleteCodehostConnection", "DELETE /v1/codehost/connection", {
      access: "admin",
      answer: 204,
      summary: "Delete the stored connection; the environment's settings apply again",
      handler: ({ caller }) => connection.reset(caller),
    }),
    defineOperation("listCodehostDeliveries", "GET /v1/codehost/deliveries", {
      access: "admin",
      query: t.Object({ ...PageQuery, state: t.Optional(DeliveryState) }),
      answer: listOf(Delivery),
      summary: "List deliveries from the code host and their results, newest first",
      handler: ({ query }) => deliveries.list(query, pageOf(query)),
    }),
    defineOperation("retryDelivery", "POST /v1/codehost/deliveries/:id/retry", {
      access: "admin",
      params: t.Object({ id: t.String({ maxLength: 100 }) }),
      answer: { 202: Delivery },
      summary: "Process a failed delivery again",
      handler: ({ params, answer }) =>
        answer.accepted(
          () => "/v1/codehost/deliveries",
          () => deliveries.retry(params.id),
        ),
    }),
  ]);
}
