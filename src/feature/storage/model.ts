/** How much of the data folder a user takes up. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

const Bytes = (description: string) => t.Integer({ minimum: 0, description });
const Limit = (setting: string) =>
  orNull(
    t.Integer({ description: `Limit from the setting ${setting}; null without accounts, where there is no limit.` }),
  );

export const Storage = t.Object({
  user_id: orNull(t.String({ description: "The user; null on a server without accounts." })),
  stored: t.Object({
    bytes: Bytes("Size of all stored data together."),
    limit_bytes: Limit("limits.user_stored_mb"),
    attachments_bytes: Bytes("Size of files attached to messages."),
    documents_bytes: Bytes("Size of uploaded documents."),
    memory_bytes: Bytes("Size of the user's own memory entries."),
    evals_bytes: Bytes("Size of tasks of evals and the replies that they play."),
  }),
  workspaces: t.Object({
    bytes: Bytes("Size of runs' working copies and results and of chats' files, when last measured."),
    limit_bytes: Limit("limits.user_workspaces_mb"),
    folders: t.Integer(),
    files: t.Integer(),
    measured_at: orNull(Time),
  }),
});
export type Storage = Static<typeof Storage>;

/** One of a user's workspaces. */
export const Workspace = t.Object({
  id: t.String({ description: "Id of the run or the chat." }),
  bytes: Bytes("Size of the folder. Links count with their own size and are not followed."),
  files: t.Integer(),
  measured_at: Time,
});
export type Workspace = Static<typeof Workspace>;
