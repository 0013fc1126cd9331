/** The deletion of history: what can be deleted, what is deleted with it, and how much disk space each uses. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";

/** What can be deleted. A session is a chat, or the work of a routine, a swarm or an onboarding. */
const HISTORY_KINDS = ["runs", "sessions", "projects", "users"] as const;
export type HistoryKind = (typeof HISTORY_KINDS)[number];

const Count = (description: string) => t.Integer({ minimum: 0, description });

export const HistoryPreview = t.Object(
  {
    kind: oneOf(...HISTORY_KINDS),
    id: t.String(),
    runs: Count("Number of runs. Their steps, comments and results are deleted with them."),
    sessions: Count("Number of transcripts: those of runs and chats, and of what these started."),
    messages: Count("Number of messages in these transcripts."),
    attachments: Count("Number of files attached to these transcripts. Files that are also attached elsewhere stay."),
    tasks: Count("Number of tasks on the project's board."),
    documents: Count("Number of documents."),
    routines: Count("Number of routines."),
    memories: Count("Number of memory entries that belong to this user."),
    folders: Count("Number of folders of runs and chats on the disk."),
    bytes: Count("Size of these folders in bytes, as last measured."),
    active: Count("Number of runs and chats at work. Deletion is refused until they have ended."),
    stays: t.Array(t.String(), { description: "What is not deleted, in sentences." }),
  },
  { title: "HistoryPreview" },
);
export type HistoryPreview = Static<typeof HistoryPreview>;

export const Kept = t.Object({
  id: t.String({ description: "Id of the run or chat." }),
  kept_by: orNull(t.String()),
  kept_at: Time,
});
export type Kept = Static<typeof Kept>;

/** What the retention settings would remove now. */
const Old = t.Object({
  count: Count("Number of entries that would be removed."),
  bytes: Count("Size of their folders and texts in bytes; 0 if not measured yet."),
  oldest: orNull(Time),
  limit_days: orNull(t.Integer()),
  limit_gb: orNull(t.Number()),
});
export const RetentionPreview = t.Object({ runs: Old, chats: Old, transcripts: Old });
export type RetentionPreview = Static<typeof RetentionPreview>;
