/** How much of the data folder a user takes up. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

const Bytes = (description: string) => t.Integer({ minimum: 0, description });
const Limit = (setting: string) =>
  orNull(t.Integer({ description: `From the setting ${setting}. Null: there are no accounts, and no limit.` }));

export const Storage = t.Object({
  user_id: orNull(t.String({ description: "Null: without accounts." })),
  stored: t.Object({
    bytes: Bytes("All of them together."),
    limit_bytes: Limit("limits.user_stored_mb"),
    attachments_bytes: Bytes("Files that were attached to messages."),
    documents_bytes: Bytes("Documents that were handed in."),
    memory_bytes: Bytes("Entries of memory that are this user's own."),
    evals_bytes: Bytes("Tasks of evals, and the replies that they play."),
  }),
  workspaces: t.Object({
    bytes: Bytes("Working copies and results of runs, and files of chats, as they were last measured."),
    limit_bytes: Limit("limits.user_workspaces_mb"),
    folders: t.Integer(),
    files: t.Integer(),
    measured_at: orNull(Time),
  }),
});
export type Storage = Static<typeof Storage>;

/** One of a user's workspaces. */
export const Workspace = t.Object({
  id: t.String({ description: "Of the run or the chat." }),
  bytes: Bytes("Links are counted as what they are, and not followed."),
  files: t.Integer(),
  measured_at: Time,
});
export type Workspace = Static<typeof Workspace>;
