/** /v1/notification-channels. */

import { Type as t } from "@sinclair/typebox";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
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
  return tagOperations("notifications", [
    defineOperation("listNotificationChannelDeliveries", "GET /v1/notification-channels/:id/deliveries", {
      access: "user",
      params: ChannelPath,
      ...pagesOf(NotificationDelivery),
      summary: "List a channel's notifications and what happened to each of them",
      handler: ({ params, query, caller }) => deliveries.list(params.id, pageOf(query), caller),
    }),
    defineOperation("testNotificationChannel", "POST /v1/notification-channels/:id/test", {
      access: "user",
      params: ChannelPath,
      answer: NotificationDelivery,
      summary: "Send a test notification now",
      description: "Makes one attempt. `state` and `error` of the answer say what happened to it.",
      handler: ({ params, caller, request }) => deliveries.test(params.id, caller, request.signal),
    }),
    defineOperation("createNotificationChannelCode", "POST /v1/notification-channels/:id/code", {
      access: "user",
      params: ChannelPath,
      credential: true,
      answer: LinkCode,
      summary: "Create a code that links a chat to a messenger channel",
      description:
        "The code works once, within 15 minutes. A chat that is already linked stays linked until the new code is used.",
      handler: ({ params, caller }) => channels.newCode(params.id, caller),
    }),
    defineOperation("answerFromPhone", "POST /v1/phone-answers", {
      access: "public",
      strict: true,
      body: PhoneAnswer,
      answer: PhoneAnswerResult,
      summary: "Answer a question with the button of an ntfy message",
      description: "The token is the credential. It gives one fixed answer to one question, once, until it expires.",
      handler: ({ body }) => answers.answerTopic(body.token),
    }),
    defineOperation("getPushKey", "GET /v1/push-key", {
      access: "user",
      credential: true,
      answer: PushKey,
      summary: "Get the public key with which browsers subscribe to Web Push",
      description: "Pass the subscription to `POST /v1/notification-channels` with the kind `push`.",
      handler: () => ({ public_key: pushKey() }),
    }),
    defineOperation("listNotificationChannels", "GET /v1/notification-channels", {
      access: "user",
      ...pagesOf(NotificationChannel),
      summary: "List the channels that notify you about runs",
      description: "Lists your own channels. Administrators also see the channels for everyone's runs.",
      handler: ({ query, caller }) => channels.list(pageOf(query), caller),
    }),
    defineOperation("createNotificationChannel", "POST /v1/notification-channels", {
      access: "user",
      strict: true,
      body: NotificationChannelCreate,
      answer: { 201: NotificationChannelMade },
      summary:
        "Create a channel that notifies you about runs: messenger, ntfy, Gotify, Apprise, Web Push, webhook or mail",
      handler: ({ body, caller, answer }) =>
        answer.created(
          "/v1/notification-channels/:id",
          () => channels.create(body, caller),
          ({ secret: _, link: _link, ...channel }) => channel,
        ),
    }),
    defineOperation("getNotificationChannel", "GET /v1/notification-channels/:id", {
      access: "user",
      params: ChannelPath,
      answer: NotificationChannel,
      summary: "Get a notification channel",
      handler: ({ params, caller }) => channels.get(params.id, caller),
    }),
    defineOperation("updateNotificationChannel", "PUT /v1/notification-channels/:id", {
      access: "user",
      params: ChannelPath,
      strict: true,
      body: NotificationChannelUpdate,
      answer: NotificationChannel,
      summary: "Change a notification channel; absent fields keep their values",
      handler: ({ params, body, caller }) => channels.update(params.id, body, caller),
    }),
    defineOperation("deleteNotificationChannel", "DELETE /v1/notification-channels/:id", {
      access: "user",
      params: ChannelPath,
      answer: 204,
      summary: "Delete a notification channel and the record of its notifications",
      handler: ({ params, caller }) => channels.remove(params.id, caller),
    }),
  ]);
}
