/** Documents as the API shows them: metadata, table of contents, a section, search hits. */

import { type Static, type TSchema, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { queryLimit } from "../../http/list.ts";
import { queryInteger } from "../../http/schema.ts";

/** The agent that processes transcripts. */
export const TRANSCRIPT_AGENT = "scribe";

export const DocumentStatus = oneOf("processing", "ready", "failed");

export const Document = t.Object(
  {
    id: t.String(),
    title: t.String(),
    source: t.String({ description: "Origin of the document: the name of its file, `text` or `transcript`." }),
    media_type: t.String({ description: "Media type, determined from the file's bytes." }),
    size_bytes: t.Integer(),
    pages: orNull(t.Integer({ description: "Number of pages, for formats that have pages." })),
    sections: t.Integer(),
    chunks: t.Integer({ description: "Number of paragraphs that the search can find." }),
    tokens: t.Integer({ description: "Estimated number of tokens of the whole text." }),
    status: DocumentStatus,
    error: orNull(t.String({ description: "Why the document could not be read." })),
    project_id: orNull(
      t.String({ description: "Project of the document. Everyone who can see the project can read the document." }),
    ),
    job_id: orNull(t.String({ description: "Job that reads the document." })),
    session_id: orNull(t.String({ description: "For a transcript: the session in which an agent processes it." })),
    created_at: Time,
  },
  { title: "Document" },
);
export type Document = Static<typeof Document>;

const Page = orNull(t.Integer({ description: "Page on which the section begins." }));
const SectionId = t.String({
  description: "Id of the section, made from its title. The same file always gets the same ids.",
});
const tocEntry = (children: TSchema) =>
  t.Object({ title: t.String(), level: t.Integer(), page: Page, section_id: SectionId, children: t.Array(children) });

export interface TocEntry {
  title: string;
  level: number;
  page: number | null;
  section_id: string;
  children: TocEntry[];
}
const DEEPEST = t.Object({ title: t.String(), level: t.Integer(), page: Page, section_id: SectionId });
export const Toc = t.Object(
  {
    document_id: t.String(),
    title: t.String(),
    items: t.Array(tocEntry(tocEntry(tocEntry(tocEntry(tocEntry(tocEntry(DEEPEST))))))),
  },
  { title: "DocumentToc" },
);

export const Section = t.Object(
  {
    document_id: t.String(),
    section_id: SectionId,
    title: t.String(),
    level: t.Integer(),
    page: Page,
    text: t.String({
      description:
        "Text of the section in Markdown, up to the next heading. A long section continues in the next section.",
    }),
    path: t.Array(t.String(), { description: "Titles of the sections that contain this section, outermost first." }),
    previous_id: orNull(t.String()),
    next_id: orNull(t.String()),
  },
  { title: "DocumentSection" },
);
export type Section = Static<typeof Section>;

export const SectionQuery = t.Object({
  section_id: t.Optional(t.String({ minLength: 1, maxLength: 200 })),
  heading: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 300,
      description: "Title of the section; upper and lower case count as the same.",
    }),
  ),
  page: t.Optional(
    queryInteger({
      minimum: 1,
      maximum: 1_000_000,
      description: "Page number; the section at the top of that page is returned.",
    }),
  ),
});
export type SectionQuery = Static<typeof SectionQuery>;

export const DocumentSearch = t.Object({
  query: t.String({ minLength: 1, maxLength: 1_000 }),
  document_id: t.Optional(t.String({ maxLength: 64, description: "Document to which the search is limited." })),
  project_id: t.Optional(t.String({ maxLength: 64, description: "Project to whose documents the search is limited." })),
  limit: t.Optional(queryLimit(10)),
});
export type DocumentSearch = Static<typeof DocumentSearch>;

export const DocumentHit = t.Object(
  {
    document_id: t.String(),
    title: t.String({ description: "Title of the document." }),
    section_id: SectionId,
    heading: t.String({ description: "Title of the section." }),
    page: Page,
    snippet: t.String({ description: "Paragraph of the section that matches best." }),
    score: t.Number({
      description: "Relevance of the hit; higher is better. Scores are comparable only within one answer.",
    }),
  },
  { title: "DocumentHit" },
);
export type DocumentHit = Static<typeof DocumentHit>;

const strict = { additionalProperties: false } as const;
const Title = t.String({ minLength: 1, maxLength: 300, pattern: "^[^\\S\\r\\n]*[^\\s\\u0000][^\\r\\n\\u0000]*$" });
const Id = t.String({ maxLength: 64 });
const TEXT_CHARACTERS = 1_000_000;

/** Fields of the JSON body; a form has them beside the file. */
export const documentFields = {
  title: t.Optional(Title),
  content: t.Optional(t.String({ minLength: 1, maxLength: TEXT_CHARACTERS, pattern: "\\S" })),
  media_type: t.Optional(oneOf("text/plain", "text/markdown", "text/html")),
  attachment_id: t.Optional(Id),
  project_id: t.Optional(orNull(Id)),
};
const Fields = t.Object(documentFields, strict);
export type DocumentFields = Static<typeof Fields>;

const Tag = t.String({ minLength: 1, maxLength: 50, pattern: "^[^\\s,]+$" });
const Name = t.String({ minLength: 1, maxLength: 200, pattern: "^[^\\S\\r\\n]*[^\\s\\u0000][^\\r\\n\\u0000]*$" });
export const TranscriptRequest = t.Object(
  {
    title: t.Optional(Title),
    transcript: t.Optional(t.String({ minLength: 1, maxLength: TEXT_CHARACTERS, pattern: "\\S" })),
    segments: t.Optional(
      t.Array(
        t.Object(
          {
            speaker: Name,
            text: t.String({ minLength: 1, maxLength: 20_000 }),
            at: t.Optional(
              t.Union([t.String({ maxLength: 40 }), t.Number()], { description: "Time at which the text was said." }),
            ),
          },
          strict,
        ),
        { minItems: 1, maxItems: 20_000 },
      ),
    ),
    participants: t.Optional(t.Array(Name, { maxItems: 200 })),
    started_at: t.Optional(Time),
    tags: t.Optional(t.Array(Tag, { maxItems: 20 })),
    project_id: t.Optional(orNull(Id)),
  },
  strict,
);
export type TranscriptRequest = Static<typeof TranscriptRequest>;

export const TranscriptAccepted = t.Object(
  { session_id: t.String(), document_id: t.String(), job_id: t.String() },
  { title: "TranscriptAccepted" },
);
export type TranscriptAccepted = Static<typeof TranscriptAccepted>;
