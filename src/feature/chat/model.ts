/** Chats of people with agents, as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { ProviderWait } from "../sessions/model.ts";
import { CallsWithoutPrice } from "../usage/model.ts";

const Text = t.String({ minLength: 1, maxLength: LIMITS.textCharacters });
const Model = t.String({ minLength: 3, maxLength: LIMITS.nameCharacters, description: "`provider/model`." });
const Title = t.String({ minLength: 1, maxLength: 200 });
const Id = t.String({ maxLength: 64 });

export const ChatSession = t.Object({
  id: t.String(),
  agent_id: t.String(),
  project_id: orNull(t.String()),
  branch: orNull(
    t.String({ description: "Branch of the project that it works on, see /v1/changes; null: its files are its own." }),
  ),
  title: orNull(t.String()),
  model: orNull(t.String({ description: "The model of the next reply, where it is known." })),
  status: oneOf("ready", "busy", "ended", "failed"),
  message_count: t.Integer(),
  queued: t.Integer({ description: "Messages that wait for their turn." }),
  cost_usd: t.Number(),
  calls_without_price: CallsWithoutPrice,
  tokens: t.Integer(),
  context: t.Object({
    used: orNull(
      t.Integer({
        description:
          "Tokens of the last request, by the provider's count; after a summary what is left of them, by ours. Null: not known before the next reply.",
      }),
    ),
    window: orNull(t.Integer()),
  }),
  created_at: Time,
  last_activity_at: Time,
});
export type ChatSession = Static<typeof ChatSession>;

const FilesJob = t.Object({
  files_job_id: orNull(
    t.String({
      description:
        "The job that copies the files of the chat that this one was forked from. A reply waits until it has ended. Null: there is none.",
    }),
  ),
});
export const ChatFork = t.Composite([ChatSession, FilesJob]);
export type ChatFork = Static<typeof ChatFork>;

export const ChatCreate = t.Object({
  agent_id: Id,
  model: t.Optional(orNull(Model)),
  project_id: t.Optional(orNull(Id)),
  title: t.Optional(orNull(Title)),
});
export type ChatCreate = Static<typeof ChatCreate>;

export const ChatUpdate = t.Object({ title: t.Optional(orNull(Title)), model: t.Optional(orNull(Model)) });
export type ChatUpdate = Static<typeof ChatUpdate>;

const Attachment = t.Object({ id: t.String(), name: t.String(), media_type: t.String(), size_bytes: t.Integer() });

export const ChatMessage = t.Object({
  id: t.String(),
  seq: t.Integer({ description: "From 0, without a gap." }),
  role: oneOf("user", "assistant", "system"),
  content: t.String(),
  thinking: t.Optional(t.String()),
  tool_calls: t.Array(
    t.Object({
      call_id: t.String(),
      tool: t.String(),
      input: t.Unknown(),
      ok: orNull(t.Boolean({ description: "Null: it has not ended." })),
      output: orNull(t.String()),
    }),
  ),
  attachments: t.Array(Attachment),
  reply_cost_usd: t.Optional(
    t.Number({ description: "Of the last message of a reply that has ended: what the whole reply cost." }),
  ),
  reply_calls_without_price: t.Optional(
    t.Integer({ description: "Model calls of that reply that cost something that is not known." }),
  ),
  summary_to: t.Optional(t.Integer({ description: "It stands for the messages up to this one, which stay readable." })),
  withdrawn: t.Boolean({ description: "Taken back: the agent does not read it any more." }),
  created_at: Time,
});
export type ChatMessage = Static<typeof ChatMessage>;

export const ChatDetail = t.Composite([
  ChatSession,
  FilesJob,
  t.Object({
    messages: t.Array(ChatMessage, { description: "The newest, oldest first." }),
    provider_wait: orNull(ProviderWait),
    earlier: t.Boolean({ description: "There are earlier ones: ask with `before`." }),
    reply: t.Object(
      {
        text: t.String(),
        thinking: t.String(),
        last_event_id: t.Integer({ description: "Newest event it holds: follow the stream from here." }),
      },
      { description: "What the agent has said so far of its running reply and that is in no message yet." },
    ),
  }),
]);
export type ChatDetail = Static<typeof ChatDetail>;

export const ChatSend = t.Object({
  message: Text,
  attachment_ids: t.Optional(t.Array(Id, { maxItems: 20, uniqueItems: true })),
  model: t.Optional(Model),
  mode: t.Optional(oneOf("queue", "steer", "interrupt")),
});
export type ChatSend = Static<typeof ChatSend>;

export const ChatSent = t.Object({
  message_id: t.String(),
  session_id: t.String(),
  status: oneOf("queued"),
});

export const QueuedMessage = t.Object({
  message_id: t.String(),
  content: t.String(),
  attachments: t.Array(Attachment),
  created_at: Time,
});
export type QueuedMessage = Static<typeof QueuedMessage>;

export const MessageChoice = t.Object({ message_id: Id });
