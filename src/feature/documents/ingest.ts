/**
 * The job that reads a document. Sections arrive in order from the extracting process and are stored in batches. If the
 * job starts again after a crash, it starts over.
 */
import { Type as t } from "@sinclair/typebox";
import { defineJob, type EndedJob } from "../../core/jobs.ts";
import type { Masker } from "../../core/masking.ts";
import type { Core } from "../feature.ts";
import { documentChanged } from "./events.ts";
import { type DocumentRow, type DocumentStore, describeChange, type NewSection } from "./store.ts";
import { chunksOf, sectionIds } from "./toc.ts";

export const IngestPayload = t.Object({
  document_id: t.String(),
  /** The job's exclusive key: one document of each owner is read at a time. */
  owner: t.String(),
  /** Media type given with the upload. */
  hint: t.String(),
});

interface IngestDeps extends Pick<Core, "store" | "extractor"> {
  rows: DocumentStore;
  masking: Pick<Masker, "text">;
  /** Path of a file in the content store. */
  pathOf(sha256: string): string;
}

const BATCH_CHARACTERS = 200_000;
const CHARACTERS_PER_TOKEN = 4;
const PARALLEL = 2;

export function defineIngest(deps: IngestDeps) {
  const { store, rows, extractor, masking, pathOf } = deps;

  /** Stores the end of reading a document: ready with its numbers, or failed with a reason. */
  function finish(id: string, change: Partial<DocumentRow>): void {
    store.write(({ emit }) => {
      rows.update(id, change);
      const row = rows.find(id);
      // The document may have been deleted with its project while it was being read.
      if (!row) return;
      emit(documentChanged, describeChange(row, "read"));
    });
  }
  function recordEnd({ payload, state, error }: EndedJob<{ document_id: string }>): void {
    const row = rows.find(payload.document_id);
    if (!row || row.status === "ready") return;
    rows.clear(row.id);
    finish(row.id, {
      status: "failed",
      error: state === "cancelled" ? "Reading it was cancelled." : (error?.message ?? "It could not be read."),
    });
  }

  return defineJob(
    "ingest_document",
    IngestPayload,
    async ({ document_id, hint }, job) => {
      const row = rows.find(document_id);
      if (!row || row.status === "ready") return {};
      store.write(() => rows.clear(document_id));
      const reading = readInto(row, deps);
      const document = await extractor.extract({
        path: pathOf(row.sha256),
        hint,
        signal: job.signal,
        section: reading.add,
        progress: (percent) => job.report({ percent, detail: "reading" }),
      });
      reading.flush();
      const title = row.title_given || !document.title ? row.title : masking.text(document.title);
      const { sections, chunks, characters } = reading.counts;
      const tokens = Math.ceil(characters / CHARACTERS_PER_TOKEN);
      finish(document_id, {
        status: "ready",
        error: null,
        title,
        media_type: document.media_type,
        pages: document.pages ?? null,
        sections,
        chunks,
        tokens,
      });
      return { document_id, sections, chunks, pages: document.pages ?? null };
    },
    { parallel: PARALLEL, exclusive: ({ owner }) => owner, onEnd: recordEnd },
  );
}

/** Stores sections as they arrive. */
function readInto(row: DocumentRow, { store, rows, masking }: IngestDeps) {
  const idOf = sectionIds();
  const counts = { sections: 0, chunks: 0, characters: 0 };
  let batch: NewSection[] = [];
  let size = 0;
  const flush = () => {
    const sections = batch;
    batch = [];
    size = 0;
    // The document may have been deleted meanwhile.
    if (sections.length > 0) store.write(() => rows.find(row.id) && rows.addSections(row, sections));
  };
  return {
    counts,
    flush,
    async add({ level, page, ...given }: { level: number; title: string; page?: number | undefined; text: string }) {
      const title = masking.text(given.title) || (page === undefined ? "Beginning" : `Page ${page}`);
      const text = masking.text(given.text);
      const chunks = text === "" ? [title] : chunksOf(text);
      batch.push({
        position: counts.sections,
        section_id: idOf(title),
        level,
        title,
        page: page ?? null,
        text,
        chunks,
      });
      counts.sections++;
      counts.chunks += chunks.length;
      counts.characters += title.length + text.length;
      size += text.length;
      if (size < BATCH_CHARACTERS) return;
      flush();
      await new Promise((done) => setImmediate(done));
    },
  };
}
