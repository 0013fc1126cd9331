import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { DocumentStatus } from "./model.ts";

export const documentChanged = defineEvent(
  "document_changed",
  t.Object(
    {
      document_id: t.String(),
      title: t.String(),
      change: t.String({ description: "What happened to the document: `added`, `read` or `deleted`." }),
      status: DocumentStatus,
    },
    { description: "A document was added, was read or could not be read, or was deleted." },
  ),
  { stale: ["/v1/documents"] },
);

export const documentEvents = [documentChanged] as const;
