/** A file that somebody attached. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, Time } from "../../core/schema.ts";

export const Attachment = t.Object({
  id: t.String(),
  filename: t.String(),
  media_type: t.String({ description: "By its first bytes, not by its name." }),
  size_bytes: t.Integer(),
  sha256: t.String(),
  status: oneOf("ready"),
  text_available: t.Boolean({ description: "A model that does not take the file reads its text." }),
  created_at: Time,
});
export type Attachment = Static<typeof Attachment>;
