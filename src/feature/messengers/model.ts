/** Messenger bots as the API shows them. Answers never contain addresses or tokens. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";

export const MessengerKind = oneOf("telegram", "slack", "discord", "matrix");
export type MessengerKind = Static<typeof MessengerKind>;

const Name = t.String({ minLength: 1, maxLength: LIMITS.nameCharacters, pattern: "\\S" });
const Token = t.String({ minLength: 8, maxLength: 500, pattern: "^[!-~]+$" });

export const Messenger = t.Object({
  id: t.String(),
  kind: MessengerKind,
  name: t.String(),
  target: t.String({ description: "Host through which the messenger is reached." }),
  account: orNull(t.String({ description: "Name of the bot at the messenger." })),
  enabled: t.Boolean(),
  state: oneOf("connected", "connecting", "failed", "off"),
  last_error: orNull(t.String({ description: "Why the messenger is not connected." })),
  created_at: Time,
  updated_at: Time,
});
export type Messenger = Static<typeof Messenger>;

const access = {
  server: t.Optional(
    t.String({
      maxLength: 2_048,
      description: "Address of the Matrix server. For the other messengers, set it only if you run their API yourself.",
    }),
  ),
  app_token: t.Optional(t.String({ ...Token, description: "Slack's app-level token (xapp-…)." })),
};

export const MessengerCreate = t.Object(
  {
    kind: MessengerKind,
    name: Name,
    token: t.String({ ...Token, description: "The bot's token." }),
    ...access,
    enabled: t.Optional(t.Boolean()),
  },
  { additionalProperties: false },
);
export type MessengerCreate = Static<typeof MessengerCreate>;

export const MessengerUpdate = t.Object(
  { name: t.Optional(Name), token: t.Optional(Token), ...access, enabled: t.Optional(t.Boolean()) },
  { additionalProperties: false },
);
export type MessengerUpdate = Static<typeof MessengerUpdate>;
