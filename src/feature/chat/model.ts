/** Chats of people with agents, as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { ProviderWait } from "../sessions/model.ts";
import { CallsWithoutPrice } from "../usage/model.ts";

const Text = t.String({ minLength: 1, maxLength: LIMITS.textCharacters });
const Model = t.String({ minLength: 3, maxLength: LIMITS.nameCharacters, description: "Model as `provider/model`." });
const Title = t.String({ minLength: 1, maxLength: 200 });
const Id = t.String({ maxLength: 64 });

export const ChatSession = t.Object({
  id: t.String(),
  agent_id: t.String(),
  project_id: orNull(t.String()),
  branch: orNull(
    t.String({
      description:
        "Branch of the project that the chat works on, see `/v1/changes`; `null` if the chat has files of its own.",
    }),
  ),
  title: orNull(t.String()),
  model: orNull(t.String({ description: "Model of the next reply, if it is known." })),
  status: oneOf("ready", "busy", "ended", "failed"),
  message_count: t.Integer(),
  queued: t.Integer({ description: "Number of messages that wait for their turn." }),
  cost_usd: t.Number(),
  calls_without_price: CallsWithoutPrice,
  tokens: t.Integer(),
  context: t.Object({
    used: orNull(
      t.Integer({
        description:
          "Tokens of the last request, as counted by the provider; after a summary, Skep's estimate of the rest. `null` if unknown until the next reply.",
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
        "Job that copies the original chat's files to this fork. Replies wait until it has ended. `null` if there is no such job.",
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
  seq: t.Integer({ description: "Position of the message in the chat, from 0 and without gaps." }),
  role: oneOf("user", "assistant", "system"),
  content: t.String(),
  thinking: t.Optional(t.String()),
  tool_calls: t.Array(
    t.Object({
      call_id: t.String(),
      tool: t.String(),
      input: t.Unknown(),
      ok: orNull(t.Boolean({ description: "Whether the tool call succeeded; `null` while it has not ended." })),
      output: orNull(t.String()),
    }),
  ),
  attachments: t.Array(Attachment),
  reply_cost_usd: t.Optional(
    t.Number({ description: "Cost of the whole reply, on the last message of a reply that has ended." }),
  ),
  reply_calls_without_price: t.Optional(
    t.Integer({ description: "Number of model calls of that reply whose cost is unknown." }),
  ),
  summary_to: t.Optional(
    t.Integer({
      description: "`seq` of the last message that this summary stands for. The summarized messages stay readable.",
    }),
  ),
  withdrawn: t.Boolean({ description: "Whether the message was taken back. The agent no longer reads it then." }),
  created_at: Time,
});
export type ChatMessage = Static<typeof ChatMessage>;

export const ChatDetail = t.Composite([
  ChatSession,
  FilesJob,
  t.Object({
    messages: t.Array(ChatMessage, { description: "Newest messages of the chat, in chronological order." }),
    provider_wait: orNull(ProviderWait),
    earlier: t.Boolean({ description: "Whether there are earlier messages. Request them with `before`." }),
    reply: t.Object(
      {
        text: t.String(),
        thinking: t.String(),
        last_event_id: t.Integer({
          description: "Id of the newest event that this reply includes. Follow the event stream from here.",
        }),
      },
      { description: "Part of the running reply that is not in any message yet." },
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
