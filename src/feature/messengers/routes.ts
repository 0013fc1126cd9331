/** /v1/messengers. */
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Messenger, MessengerCreate, MessengerUpdate } from "./model.ts";
import type { Messengers } from "./service.ts";

export const messengerRoutes = (messengers: Messengers) =>
  tagOperations("notifications", [
    defineOperation("listMessengers", "GET /v1/messengers", {
      access: "user",
      ...pagesOf(Messenger),
      summary: "List messenger bots",
      handler: ({ query }) => messengers.list(pageOf(query)),
    }),
    defineOperation("createMessenger", "POST /v1/messengers", {
      access: "admin",
      strict: true,
      body: MessengerCreate,
      answer: { 201: Messenger },
      summary: "Connect a bot of Telegram, Slack, Discord or Matrix",
      description:
        "This server opens all connections itself. Everybody with an account can then link a chat to the bot.",
      handler: ({ body, caller, answer }) =>
        answer.created("/v1/messengers/:id", () => messengers.create(body, caller)),
    }),
    defineOperation("getMessenger", "GET /v1/messengers/:id", {
      access: "user",
      answer: Messenger,
      summary: "Get a messenger and the state of its connection",
      handler: ({ params }) => messengers.get(params.id),
    }),
    defineOperation("updateMessenger", "PUT /v1/messengers/:id", {
      access: "admin",
      strict: true,
      body: MessengerUpdate,
      answer: Messenger,
      summary: "Change a messenger",
      handler: ({ params, body, caller }) => messengers.update(params.id, body, caller),
    }),
    defineOperation("deleteMessenger", "DELETE /v1/messengers/:id", {
      access: "admin",
      answer: 204,
      summary: "Delete a messenger and its channels",
      handler: ({ params, caller }) => messengers.remove(params.id, caller),
    }),
  ]);
