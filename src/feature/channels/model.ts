/** Notification channels and what was sent to them. The API never returns the addresses, tokens and keys. */
import { type Static, Type as t } from "@sinclair/typebox";
import { EMAIL_CHARACTERS } from "../../core/email.ts";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";

export const ChannelKind = oneOf("ntfy", "gotify", "apprise", "messenger", "push", "webhook", "mail");
export type ChannelKind = Static<typeof ChannelKind>;
const Trigger = oneOf("waiting", "failed", "ended");
export type Trigger = Static<typeof Trigger>;
const Whose = oneOf("mine", "everyone");
const Name = t.String({ minLength: 1, maxLength: LIMITS.nameCharacters, pattern: "\\S" });
const Triggers = t.Array(Trigger, {
  minItems: 1,
  maxItems: 3,
  uniqueItems: true,
  description:
    "`waiting`: a run can only continue when a person answers. `ended`: it succeeded, failed or was cancelled.",
});

export const NotificationChannel = t.Object({
  id: t.String(),
  owner_id: orNull(t.String(), { description: "Null: the local administrator." }),
  name: t.String(),
  kind: ChannelKind,
  whose: Whose,
  project_id: orNull(t.String()),
  on: Triggers,
  target: t.String({ description: "Where it goes: the host of an address, or the mailbox." }),
  messenger_id: orNull(t.String()),
  linked_to: orNull(t.String({ description: "Name of the person whose chat it is; null until a chat is linked." })),
  answers: t.Boolean({ description: "Whether messages have buttons that answer." }),
  enabled: t.Boolean(),
  last_sent_at: orNull(Time),
  last_error: orNull(t.String({ description: "Why the last attempt failed; null after one that did not." })),
  created_at: Time,
  updated_at: Time,
});
export type NotificationChannel = Static<typeof NotificationChannel>;

/** The code that links a person's chat to a channel. */
export const LinkCode = t.Object(
  {
    code: t.String({
      description: "Send `/link CODE` to the bot, in the chat that you want to be asked in. Used once.",
    }),
    expires_at: Time,
  },
  { title: "LinkCode" },
);
export type LinkCode = Static<typeof LinkCode>;

export const NotificationChannelMade = t.Object({
  ...NotificationChannel.properties,
  secret: t.Optional(
    t.String({ description: "Key that webhooks are signed with, where it was made here. Shown once." }),
  ),
  link: t.Optional(LinkCode),
});
export type NotificationChannelMade = Static<typeof NotificationChannelMade>;

const target = {
  url: t.Optional(
    t.String({
      maxLength: 2_048,
      description:
        "Address of the webhook, of the ntfy topic (https://ntfy.sh/TOPIC), of the Gotify server, or of Apprise with its key (https://apprise.example.org/notify/KEY).",
    }),
  ),
  secret: t.Optional(
    t.String({
      minLength: 24,
      maxLength: 200,
      pattern: "^[!-~]+$",
      description: "Key to sign webhooks with; one is made where none is given. After `whsec_` it is base64.",
    }),
  ),
  to: t.Optional(
    t.String({
      maxLength: EMAIL_CHARACTERS,
      description: "Mailbox; your account's own unless given. Others are for administrators.",
    }),
  ),
};
const BASE64 = "^[A-Za-z0-9_-]+$";
const Answers = t.Optional(
  t.Boolean({
    description:
      "ntfy: messages get buttons that answer. Whoever can read the topic can press them, and it needs `PUBLIC_URL`. Messengers always have them.",
  }),
);
const Token = t.String({
  minLength: 1,
  maxLength: 500,
  pattern: "^[!-~]+$",
  description: "Access token for ntfy; token of a Gotify application.",
});

export const NotificationChannelCreate = t.Object(
  {
    name: Name,
    kind: ChannelKind,
    whose: t.Optional(Whose),
    project_id: t.Optional(t.String({ maxLength: 128, description: "Only of this project's runs." })),
    on: t.Optional(Triggers),
    ...target,
    token: t.Optional(Token),
    p256dh: t.Optional(t.String({ maxLength: 200, pattern: BASE64, description: "Key of a browser's subscription." })),
    auth: t.Optional(t.String({ maxLength: 200, pattern: BASE64, description: "Secret of a browser's subscription." })),
    messenger_id: t.Optional(t.String({ maxLength: 128, description: "The messenger, for the kind `messenger`." })),
    answers: Answers,
    enabled: t.Optional(t.Boolean()),
  },
  { additionalProperties: false },
);
export type NotificationChannelCreate = Static<typeof NotificationChannelCreate>;

export const NotificationChannelUpdate = t.Object(
  {
    name: t.Optional(Name),
    project_id: t.Optional(orNull(t.String({ maxLength: 128 }))),
    on: t.Optional(Triggers),
    ...target,
    token: t.Optional(orNull(Token)),
    answers: Answers,
    enabled: t.Optional(t.Boolean()),
  },
  { additionalProperties: false },
);
export type NotificationChannelUpdate = Static<typeof NotificationChannelUpdate>;

/** The text of a notification, masked and cut, for every kind of channel. */
export const NotificationMessage = t.Object({
  title: t.String(),
  text: t.String(),
  url: orNull(t.String({ description: "The run's page." })),
  status: t.String({ description: "Of the run; `test` for a test." }),
  pipeline_id: orNull(t.String()),
  project_id: orNull(t.String()),
});
export type NotificationMessage = Static<typeof NotificationMessage>;

export const NotificationDelivery = t.Object({
  id: t.String({ description: "Also the webhook's `webhook-id`: the same for each attempt." }),
  channel_id: t.String(),
  event: t.String({ description: "Kind of the event, e.g. `run_failed`; `test` for a test." }),
  run_id: orNull(t.String()),
  message: NotificationMessage,
  state: oneOf("queued", "sent", "failed", "cancelled"),
  attempts: t.Integer(),
  error: orNull(t.String()),
  created_at: Time,
  finished_at: orNull(Time),
});
export type NotificationDelivery = Static<typeof NotificationDelivery>;

export const PhoneAnswer = t.Object(
  { token: t.String({ minLength: 1, maxLength: 200, description: "Of the button; it works once." }) },
  { additionalProperties: false },
);
export const PhoneAnswerResult = t.Object({ outcome: t.String({ description: "What came of it, as a sentence." }) });

export const PushKey = t.Object({ public_key: t.String({ description: "`applicationServerKey` of a subscription." }) });
