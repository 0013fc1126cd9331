/** Rows of documents and their sections, and the full-text index over their paragraphs. */
import type { Asker } from "../../core/ownership.ts";
import type { Page } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import { documents as table } from "../../store/tables/documents.ts";
import { buildReadCondition, WHOSE } from "../../store/whose.ts";

export type DocumentRow = typeof table.$inferSelect;

export interface SectionRow {
  position: number;
  section_id: string;
  level: number;
  title: string;
  page: number | null;
}
export interface NewSection extends SectionRow {
  text: string;
  chunks: readonly string[];
}

/** The references and data of an event about a document. */
export const describeChange = (row: DocumentRow, change: "added" | "read" | "deleted") => ({
  user_id: row.user_id ?? undefined,
  project_id: row.project_id ?? undefined,
  data: { document_id: row.id, title: row.title, change, status: row.status },
});

export type DocumentStore = ReturnType<typeof createDocumentStore>;

const SECTION = "position, section_id, level, title, page";

export function createDocumentStore(store: Store) {
  const { statement } = store;
  const rows = store.rows(table);
  return {
    find: (id: string): DocumentRow | undefined => rows.find({ id }),
    add: rows.add,
    update: (id: string, change: Partial<DocumentRow>) => void rows.update(change, { id }),
    page(
      filter: { asker: Asker; projectId?: string | undefined; status?: DocumentRow["status"] | undefined },
      page: Page,
    ): DocumentRow[] {
      const { asker, projectId: project_id, status } = filter;
      return rows.page([buildReadCondition(asker, WHOSE.documents), { project_id, status }], page);
    },
    remove: (id: string) => void rows.remove({ id }),
    /** Removes the sections that were read so far. */
    clear(id: string): void {
      statement("DELETE FROM document_sections WHERE document_id = ?").run(id);
    },
    addSections(document: DocumentRow, sections: readonly NewSection[]): void {
      for (const { position, section_id, level, title, page, text, chunks } of sections) {
        statement(
          "INSERT INTO document_sections (document_id, position, section_id, level, title, page, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
        ).run(document.id, position, section_id, level, title, page, text);
        for (const chunk of chunks) {
          const { lastInsertRowid } = statement(
            "INSERT INTO document_chunks (document_id, position) VALUES (?, ?)",
          ).run(document.id, position);
          statement("INSERT INTO document_text (rowid, text, heading, title) VALUES (?, ?, ?, ?)").run(
            lastInsertRowid,
            chunk,
            title,
            document.title,
          );
        }
      }
    },
    sections: (id: string): SectionRow[] =>
      statement<SectionRow>(`SELECT ${SECTION} FROM document_sections WHERE document_id = ? ORDER BY position`).all(id),
    /**
     * Finds a section: by id, by heading (the first with that title), or by page (the first that begins on the page,
     * else the last before it). Without any of these: the first section.
     */
    section(
      id: string,
      request: { section_id?: string | undefined; heading?: string | undefined; page?: number | undefined },
    ) {
      const [condition, ...values]: [string, ...(string | number)[]] =
        request.section_id !== undefined
          ? ["section_id = ?", request.section_id]
          : request.heading !== undefined
            ? ["lower(title) = lower(?)", request.heading.trim()]
            : request.page !== undefined
              ? [
                  `position = coalesce(
                    (SELECT min(position) FROM document_sections WHERE document_id = ? AND page = ?),
                    (SELECT max(position) FROM document_sections WHERE document_id = ? AND page < ?))`,
                  id,
                  request.page,
                  id,
                  request.page,
                ]
              : ["1"];
      return statement<SectionRow & { text: string }>(
        `SELECT ${SECTION}, text FROM document_sections WHERE document_id = ? AND ${condition} ORDER BY position LIMIT 1`,
      ).get(id, ...values);
    },
    /** Ids of the sections before and after that position. */
    neighbours(id: string, position: number): { previous_id: string | null; next_id: string | null } {
      const findId = (place: number) =>
        statement<string>("SELECT section_id FROM document_sections WHERE document_id = ? AND position = ?")
          .pluck()
          .get(id, place) ?? null;
      return { previous_id: findId(position - 1), next_id: findId(position + 1) };
    },
  };
}
