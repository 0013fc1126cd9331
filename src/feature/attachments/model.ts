/** A file that somebody attached. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";

export const Attachment = t.Object({
  id: t.String(),
  filename: t.String(),
  media_type: t.String({ description: "By its first bytes, not by its name." }),
  size_bytes: t.Integer(),
  sha256: t.String(),
  /** The state of text extraction. */
  status: oneOf("processing", "ready", "failed"),
  error: orNull(t.String({ description: "Why its text could not be read; the file itself is kept." })),
  text_available: t.Boolean({ description: "A model that does not take the file reads its text." }),
  created_at: Time,
});
export type Attachment = Static<typeof Attachment>;
