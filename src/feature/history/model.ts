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
    runs: Count("Runs, with their steps, comments and results."),
    sessions: Count("Transcripts: of runs, chats and what they started."),
    messages: Count("Messages in them."),
    attachments: Count("Files that nothing else holds."),
    tasks: Count("Tasks of its board."),
    documents: Count("Documents."),
    routines: Count("Routines."),
    memories: Count("Entries of memory that are this user's own."),
    folders: Count("Folders of runs and chats on the disk."),
    bytes: Count("Of these folders, as they were last measured."),
    active: Count("Runs and chats at work. It cannot be deleted before they have ended."),
    stays: t.Array(t.String(), { description: "What is not deleted, in sentences." }),
  },
  { title: "HistoryPreview" },
);
export type HistoryPreview = Static<typeof HistoryPreview>;

export const Kept = t.Object({
  id: t.String({ description: "Of the run or chat." }),
  kept_by: orNull(t.String()),
  kept_at: Time,
});
export type Kept = Static<typeof Kept>;

/** What the retention settings would remove now. */
const Old = t.Object({
  count: Count("That would go."),
  bytes: Count("Of their folders and texts. 0 where nothing is measured yet."),
  oldest: orNull(Time),
  limit_days: orNull(t.Integer()),
  limit_gb: orNull(t.Number()),
});
export const RetentionPreview = t.Object({ runs: Old, chats: Old, transcripts: Old });
export type RetentionPreview = Static<typeof RetentionPreview>;
