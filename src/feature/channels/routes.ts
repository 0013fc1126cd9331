/** /v1/notification-channels. */

import { Type as t } from "@sinclair/typebox";
import { pageOf, pagesOf } from "../../http/list.ts";
import { operation, operations } from "../../http/operation.ts";
import type { Answers } from "./answers.ts";
import type { Deliveries } from "./deliveries.ts";
import {
  LinkCode,
  NotificationChannel,
  NotificationChannelCreate,
  NotificationChannelMade,
  NotificationChannelUpdate,
  NotificationDelivery,
  PhoneAnswer,
  PhoneAnswerResult,
  PushKey,
} from "./model.ts";
import type { Channels } from "./service.ts";

const ChannelPath = t.Object({ id: t.String({ maxLength: 128 }) });

export function channelRoutes(channels: Channels, deliveries: Deliveries, answers: Answers, pushKey: () => string) {
  return operations("notifications", [
    operation("listNotificationChannelDeliveries", "GET /v1/notification-channels/:id/deliveries", {
      access: "user",
      params: ChannelPath,
      ...pagesOf(NotificationDelivery),
      summary: "What was sent to a channel, and what happened to it",
      handler: ({ params, query, caller }) => deliveries.list(params.id, pageOf(query), caller),
    }),
    operation("testNotificationChannel", "POST /v1/notification-channels/:id/test", {
      access: "user",
      params: ChannelPath,
      answer: NotificationDelivery,
      summary: "Send a test now",
      description: "One attempt; `state` and `error` say what happened to it.",
      handler: ({ params, caller, request }) => deliveries.test(params.id, caller, request.signal),
    }),
    operation("createNotificationChannelCode", "POST /v1/notification-channels/:id/code", {
      access: "user",
      params: ChannelPath,
      credential: true,
      answer: LinkCode,
      summary: "A code that links a chat to a channel of a messenger",
      description: "It works once, for a quarter of an hour. A chat that is linked stays until then.",
      handler: ({ params, caller }) => channels.newCode(params.id, caller),
    }),
    operation("answerFromPhone", "POST /v1/phone-answers", {
      access: "public",
      strict: true,
      body: PhoneAnswer,
      answer: PhoneAnswerResult,
      summary: "What a button of an ntfy message does",
      description: "The token is the credential: it answers one question in one way, once, until it expires.",
      handler: ({ body }) => answers.answerTopic(body.token),
    }),
    operation("getPushKey", "GET /v1/push-key", {
      access: "user",
      credential: true,
      answer: PushKey,
      summary: "The key with which browsers subscribe to Web Push",
      description: "Give the subscription to `POST /v1/notification-channels` with the kind `push`.",
      handler: () => ({ public_key: pushKey() }),
    }),
    operation("listNotificationChannels", "GET /v1/notification-channels", {
      access: "user",
      ...pagesOf(NotificationChannel),
      summary: "Where you are notified of runs",
      description: "Your own channels; administrators also see those for everyone's runs.",
      handler: ({ query, caller }) => channels.list(pageOf(query), caller),
    }),
    operation("createNotificationChannel", "POST /v1/notification-channels", {
      access: "user",
      strict: true,
      body: NotificationChannelCreate,
      answer: { 201: NotificationChannelMade },
      summary: "Be notified of runs by a messenger, ntfy, Gotify, Apprise, a webhook or mail",
      handler: ({ body, caller, answer }) =>
        answer.created(
          "/v1/notification-channels/:id",
          () => channels.create(body, caller),
          ({ secret: _, link: _link, ...channel }) => channel,
        ),
    }),
    operation("getNotificationChannel", "GET /v1/notification-channels/:id", {
      access: "user",
      params: ChannelPath,
      answer: NotificationChannel,
      summary: "One notification channel",
      handler: ({ params, caller }) => channels.get(params.id, caller),
    }),
    operation("updateNotificationChannel", "PUT /v1/notification-channels/:id", {
      access: "user",
      params: ChannelPath,
      strict: true,
      body: NotificationChannelUpdate,
      answer: NotificationChannel,
      summary: "Change a notification channel; fields that are left out stay",
      handler: ({ params, body, caller }) => channels.update(params.id, body, caller),
    }),
    operation("deleteNotificationChannel", "DELETE /v1/notification-channels/:id", {
      access: "user",
      params: ChannelPath,
      answer: 204,
      summary: "Delete a notification channel and what was sent there",
      handler: ({ params, caller }) => channels.remove(params.id, caller),
    }),
  ]);
}
