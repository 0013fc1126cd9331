/** A file that somebody attached. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";

export const Attachment = t.Object({
  id: t.String(),
  filename: t.String(),
  media_type: t.String({ description: "Media type, determined from the file's bytes, not from its name." }),
  size_bytes: t.Integer(),
  sha256: t.String(),
  /** The state of text extraction. */
  status: oneOf("processing", "ready", "failed"),
  error: orNull(t.String({ description: "Why the text of the file could not be extracted; the file itself is kept." })),
  text_available: t.Boolean({ description: "Whether the file has text for models that cannot read the file itself." }),
  created_at: Time,
});
export type Attachment = Static<typeof Attachment>;
