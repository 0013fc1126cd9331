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
    "Occasions for notifications. `waiting`: a run can continue only when a person answers. `ended`: a run succeeded, failed or was cancelled.",
});

export const NotificationChannel = t.Object({
  id: t.String(),
  owner_id: orNull(t.String(), { description: "User who owns the channel; `null` for the local administrator." }),
  name: t.String(),
  kind: ChannelKind,
  whose: Whose,
  project_id: orNull(t.String()),
  on: Triggers,
  target: t.String({ description: "Destination of the notifications: the host of the address, or the mailbox." }),
  messenger_id: orNull(t.String()),
  linked_to: orNull(
    t.String({ description: "Name of the person whose chat is linked; `null` until a chat is linked." }),
  ),
  answers: t.Boolean({ description: "Whether messages have buttons with which you can answer." }),
  enabled: t.Boolean(),
  last_sent_at: orNull(Time),
  last_error: orNull(t.String({ description: "Why the last notification was not sent; `null` if it was sent." })),
  created_at: Time,
  updated_at: Time,
});
export type NotificationChannel = Static<typeof NotificationChannel>;

/** The code that links a person's chat to a channel. */
export const LinkCode = t.Object(
  {
    code: t.String({
      description: "One-time code. Send `/link CODE` to the bot in the chat in which you want to be asked.",
    }),
    expires_at: Time,
  },
  { title: "LinkCode" },
);
export type LinkCode = Static<typeof LinkCode>;

export const NotificationChannelMade = t.Object({
  ...NotificationChannel.properties,
  secret: t.Optional(
    t.String({ description: "Key that signs webhooks, if the server generated it. Shown only once." }),
  ),
  link: t.Optional(LinkCode),
});
export type NotificationChannelMade = Static<typeof NotificationChannelMade>;

const target = {
  url: t.Optional(
    t.String({
      maxLength: 2_048,
      description:
        "Address of the webhook, the ntfy topic (https://ntfy.sh/TOPIC), the Gotify server, or Apprise with its key (https://apprise.example.org/notify/KEY).",
    }),
  ),
  secret: t.Optional(
    t.String({
      minLength: 24,
      maxLength: 200,
      pattern: "^[!-~]+$",
      description: "Key that signs webhooks; generated if absent. If it starts with `whsec_`, the rest is base64.",
    }),
  ),
  to: t.Optional(
    t.String({
      maxLength: EMAIL_CHARACTERS,
      description: "Mailbox to send to; your account's own by default. Only administrators may name another one.",
    }),
  ),
};
const BASE64 = "^[A-Za-z0-9_-]+$";
const Answers = t.Optional(
  t.Boolean({
    description:
      "For ntfy: whether messages have buttons that answer. This needs `PUBLIC_URL`, and everyone who can read the topic can press the buttons. Messengers always have buttons.",
  }),
);
const Token = t.String({
  minLength: 1,
  maxLength: 500,
  pattern: "^[!-~]+$",
  description: "Access token for ntfy, or token of a Gotify application.",
});

export const NotificationChannelCreate = t.Object(
  {
    name: Name,
    kind: ChannelKind,
    whose: t.Optional(Whose),
    project_id: t.Optional(
      t.String({ maxLength: 128, description: "Project to whose runs the notifications are limited." }),
    ),
    on: t.Optional(Triggers),
    ...target,
    token: t.Optional(Token),
    p256dh: t.Optional(
      t.String({ maxLength: 200, pattern: BASE64, description: "Public key of a browser's push subscription." }),
    ),
    auth: t.Optional(
      t.String({
        maxLength: 200,
        pattern: BASE64,
        description: "Authentication secret of a browser's push subscription.",
      }),
    ),
    messenger_id: t.Optional(
      t.String({ maxLength: 128, description: "Messenger that sends the notifications, for the kind `messenger`." }),
    ),
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
  url: orNull(t.String({ description: "Address of the run's page." })),
  status: t.String({ description: "Status of the run; `test` for a test message." }),
  pipeline_id: orNull(t.String()),
  project_id: orNull(t.String()),
});
export type NotificationMessage = Static<typeof NotificationMessage>;

export const NotificationDelivery = t.Object({
  id: t.String({
    description: "Id of the delivery. Webhooks also carry it as `webhook-id`, the same for each attempt.",
  }),
  channel_id: t.String(),
  event: t.String({ description: "Kind of the event, such as `run_failed`; `test` for a test message." }),
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
  { token: t.String({ minLength: 1, maxLength: 200, description: "Token of the button, which works only once." }) },
  { additionalProperties: false },
);
export const PhoneAnswerResult = t.Object({
  outcome: t.String({ description: "Result of the answer, as a sentence." }),
});

export const PushKey = t.Object({
  public_key: t.String({ description: "Value for `applicationServerKey` of a push subscription." }),
});
