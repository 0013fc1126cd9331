/** /v1/notification-channels. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { readStrict, strictBody } from "../../http/strict-body.ts";
import type { Deliveries } from "./deliveries.ts";
import {
  NotificationChannel,
  NotificationChannelCreate,
  NotificationChannelMade,
  NotificationChannelUpdate,
  NotificationDelivery,
} from "./model.ts";
import type { Channels } from "./service.ts";

const tags = ["notifications"];
const ChannelPath = t.Object({ id: t.String({ maxLength: 128 }) });

export function channelRoutes(base: Base, channels: Channels, deliveries: Deliveries) {
  return new Elysia({ name: "skep/notification-channels" })
    .use(base)
    .use(deliveryRoutes(base, deliveries))
    .get("/v1/notification-channels", ({ query, caller }) => channels.list(pageOf(query), caller), {
      access: "user",
      query: t.Object(PageQuery),
      response: { 200: listOf(NotificationChannel) },
      detail: {
        tags,
        summary: "Where you are notified of runs",
        description: "Your own channels; administrators also see those for everyone's runs.",
      },
    })
    .post(
      "/v1/notification-channels",
      async ({ request, caller, answer }) => {
        const input = await readStrict(request, NotificationChannelCreate);
        return answer.created(
          ({ id }: NotificationChannelMade) => `/v1/notification-channels/${id}`,
          () => channels.create(input, caller),
          ({ secret: _, ...channel }) => channel,
        );
      },
      {
        access: "user",
        parse: "none",
        response: { 201: NotificationChannelMade },
        detail: {
          tags,
          summary: "Be notified of runs at an ntfy topic, a webhook or by mail",
          requestBody: strictBody(NotificationChannelCreate),
        },
      },
    )
    .get("/v1/notification-channels/:id", ({ params, caller }) => channels.get(params.id, caller), {
      access: "user",
      params: ChannelPath,
      response: { 200: NotificationChannel },
      detail: { tags, summary: "One notification channel" },
    })
    .put(
      "/v1/notification-channels/:id",
      async ({ params, request, caller }) =>
        channels.update(params.id, await readStrict(request, NotificationChannelUpdate), caller),
      {
        access: "user",
        parse: "none",
        params: ChannelPath,
        response: { 200: NotificationChannel },
        detail: {
          tags,
          summary: "Change a notification channel; fields that are left out stay",
          requestBody: strictBody(NotificationChannelUpdate),
        },
      },
    )
    .delete(
      "/v1/notification-channels/:id",
      ({ params, caller, set }) => {
        channels.remove(params.id, caller);
        set.status = 204;
      },
      {
        access: "user",
        params: ChannelPath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Delete a notification channel and what was sent there" },
      },
    );
}

function deliveryRoutes(base: Base, deliveries: Deliveries) {
  return new Elysia({ name: "skep/notification-deliveries" })
    .use(base)
    .get(
      "/v1/notification-channels/:id/deliveries",
      ({ params, query, caller }) => deliveries.list(params.id, pageOf(query), caller),
      {
        access: "user",
        params: ChannelPath,
        query: t.Object(PageQuery),
        response: { 200: listOf(NotificationDelivery) },
        detail: { tags, summary: "What was sent to a channel, and what happened to it" },
      },
    )
    .post(
      "/v1/notification-channels/:id/test",
      ({ params, caller, request }) => deliveries.test(params.id, caller, request.signal),
      {
        access: "user",
        params: ChannelPath,
        response: { 200: NotificationDelivery },
        detail: {
          tags,
          summary: "Send a test now",
          description: "One attempt; `state` and `error` say what happened to it.",
        },
      },
    );
}
