/** /v1/documents and /v1/ingest. */

import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { formFile } from "../../http/schema.ts";
import {
  Document,
  DocumentHit,
  DocumentSearch,
  DocumentStatus,
  documentFields,
  Section,
  SectionQuery,
  Toc,
  TranscriptAccepted,
  TranscriptRequest,
} from "./model.ts";
import type { Documents } from "./service.ts";
import type { Transcripts } from "./transcripts.ts";

const DocumentPath = t.Object({ id: t.String({ maxLength: 64 }) });
const IngestBody = t.Object(
  {
    file: t.Optional(formFile({ description: "PDF, DOCX, HTML, Markdown or text file; at most 50 MiB." })),
    ...documentFields,
  },
  { additionalProperties: false },
);

export function documentRoutes(documents: Documents, transcripts: Transcripts) {
  return tagOperations("documents", [
    defineOperation("ingestDocument", "POST /v1/ingest/document", {
      access: "user",
      scope: "runs",
      upload: true,
      body: IngestBody,
      answer: { 202: Document },
      summary: "Add a document: a file as a form, or its text or one of your attachments as JSON",
      handler: async ({ body, upload, caller, answer }) => {
        const { file: _, ...fields } = body;
        const make = await documents.receive(fields, upload, caller);
        return answer.accepted("/v1/jobs/:job_id", make);
      },
    }),
    defineOperation("ingestTranscript", "POST /v1/ingest/transcript", {
      access: "user",
      scope: "runs",
      body: TranscriptRequest,
      answer: { 202: TranscriptAccepted },
      summary: "Add a transcript, from which an agent writes a summary, decisions and action items to its memory",
      handler: async ({ body, caller, answer }) =>
        answer.accepted("/v1/documents/:document_id", await transcripts.receive(body, caller)),
    }),
    defineOperation("listDocuments", "GET /v1/documents", {
      access: "user",
      query: t.Object({
        ...PageQuery,
        project_id: t.Optional(t.String({ maxLength: 64 })),
        status: t.Optional(DocumentStatus),
      }),
      answer: listOf(Document),
      summary: "List your documents and those of your projects, newest first",
      handler: ({ query, caller }) => documents.list(query, pageOf(query), caller),
    }),
    defineOperation("searchDocuments", "GET /v1/documents/search", {
      access: "user",
      query: DocumentSearch,
      answer: t.Object({ items: t.Array(DocumentHit) }),
      summary: "Search documents, best match first, with one hit per section",
      handler: ({ query, caller }) => ({ items: documents.search(query, caller) }),
    }),
    defineOperation("getDocument", "GET /v1/documents/:id", {
      access: "user",
      params: DocumentPath,
      answer: Document,
      summary: "Get a document and the state of reading it",
      handler: ({ params, caller }) => documents.get(params.id, caller),
    }),
    defineOperation("deleteDocument", "DELETE /v1/documents/:id", {
      access: "user",
      project: "viewer",
      params: DocumentPath,
      answer: 204,
      summary: "Delete a document, even while it is being read",
      handler: ({ params, caller }) => documents.remove(params.id, caller),
    }),
    defineOperation("getDocumentToc", "GET /v1/documents/:id/toc", {
      access: "user",
      params: DocumentPath,
      answer: Toc,
      summary: "Get a document's table of contents",
      handler: ({ params, caller }) => documents.toc(params.id, caller),
    }),
    defineOperation("getDocumentSection", "GET /v1/documents/:id/section", {
      access: "user",
      params: DocumentPath,
      query: SectionQuery,
      answer: Section,
      summary: "Read a section by its id, heading or page; by default the first section",
      handler: ({ params, query, caller }) => documents.section(params.id, query, caller),
    }),
  ]);
}
