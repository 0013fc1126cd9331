/** /v1/documents and /v1/ingest. */
import { Type as t } from "@sinclair/typebox";
import { Elysia, t as elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
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
import { type Documents, readerOf } from "./service.ts";
import type { Transcripts } from "./transcripts.ts";

const tags = ["documents"];
const DocumentPath = t.Object({ id: t.String({ maxLength: 64 }) });
const IngestBody = t.Object(
  {
    file: t.Optional(elysia.File({ description: "PDF, DOCX, HTML, Markdown or text; 50 MiB at most." })),
    ...documentFields,
  },
  { additionalProperties: false },
);

export function documentRoutes(base: Base, documents: Documents, transcripts: Transcripts) {
  return new Elysia({ name: "skep/documents" })
    .use(base)
    .use(ingestRoutes(base, documents, transcripts))
    .get("/v1/documents", ({ query, caller }) => documents.list(query, pageOf(query), readerOf(caller)), {
      access: "user",
      query: t.Object({
        ...PageQuery,
        project_id: t.Optional(t.String({ maxLength: 64 })),
        status: t.Optional(DocumentStatus),
      }),
      response: { 200: listOf(Document) },
      detail: { tags, summary: "Your documents and those of projects, newest first" },
    })
    .get("/v1/documents/search", ({ query, caller }) => ({ items: documents.search(query, readerOf(caller)) }), {
      access: "user",
      query: DocumentSearch,
      response: { 200: t.Object({ items: t.Array(DocumentHit) }) },
      detail: { tags, operationId: "searchDocuments", summary: "Search documents, best first: one hit a section" },
    })
    .get("/v1/documents/:id", ({ params, caller }) => documents.get(params.id, caller), {
      access: "user",
      params: DocumentPath,
      response: { 200: Document },
      detail: { tags, summary: "One document, and how far reading it is" },
    })
    .delete(
      "/v1/documents/:id",
      async ({ params, caller, set }) => {
        await documents.remove(params.id, caller);
        set.status = 204;
      },
      {
        access: "user",
        params: DocumentPath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Delete a document, also while it is read" },
      },
    )
    .get("/v1/documents/:id/toc", ({ params, caller }) => documents.toc(params.id, readerOf(caller)), {
      access: "user",
      params: DocumentPath,
      response: { 200: Toc },
      detail: { tags, operationId: "getDocumentToc", summary: "Table of contents" },
    })
    .get(
      "/v1/documents/:id/section",
      ({ params, query, caller }) => documents.section(params.id, query, readerOf(caller)),
      {
        access: "user",
        params: DocumentPath,
        query: SectionQuery,
        response: { 200: Section },
        detail: {
          tags,
          operationId: "getDocumentSection",
          summary: "Read one section: by its id, its heading or a page; the first one otherwise",
        },
      },
    );
}

function ingestRoutes(base: Base, documents: Documents, transcripts: Transcripts) {
  return new Elysia({ name: "skep/ingest" })
    .use(base)
    .post(
      "/v1/ingest/document",
      async ({ body, upload, caller, answer }) => {
        const { file: _, ...fields } = body;
        const make = await documents.receive(fields, upload, caller);
        return answer.accepted(({ job_id }) => `/v1/jobs/${job_id}`, make);
      },
      {
        access: "user",
        type: "multipart/form-data",
        body: IngestBody,
        response: { 202: Document },
        detail: {
          tags,
          operationId: "ingestDocument",
          summary: "Hand in a document: a file as a form, or as JSON its text or an attachment of yours",
        },
      },
    )
    .post(
      "/v1/ingest/transcript",
      async ({ body, caller, answer }) => {
        const make = await transcripts.receive(body, caller);
        return answer.accepted(({ document_id }) => `/v1/documents/${document_id}`, make);
      },
      {
        access: "user",
        body: TranscriptRequest,
        response: { 202: TranscriptAccepted },
        detail: {
          tags,
          operationId: "ingestTranscript",
          summary: "Hand in a transcript: an agent writes summary, decisions and action items to its memory",
        },
      },
    );
}
