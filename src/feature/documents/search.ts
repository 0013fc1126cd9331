/** Full-text search over documents' paragraphs, the best paragraph of each section. */
import { matchExpression } from "../../store/match-expression.ts";
import type { Store } from "../../store/store.ts";
import type { DocumentHit, DocumentSearch } from "./model.ts";
import { type Reader, visibleTo } from "./store.ts";

export type SearchDocuments = (wish: DocumentSearch, reader: Reader) => DocumentHit[];

/** Paragraphs looked at for each section asked for: several of the best may be of one section. */
const CHUNKS_PER_HIT = 4;
const DEFAULT_HITS = 10;

interface Found extends Omit<DocumentHit, "score" | "snippet"> {
  id: number;
  position: number;
  rank: number;
}

export function createDocumentSearch({ statement }: Store): SearchDocuments {
  return ({ query, document_id = null, project_id = null, limit = DEFAULT_HITS }, reader) => {
    const expression = matchExpression(query);
    if (expression === undefined) return [];
    const { where, values } = visibleTo(reader);
    const found = statement(
      `SELECT c.id, c.document_id, c.position, d.title, s.section_id, s.title AS heading, s.page,
         bm25(document_text, 1.0, 3.0, 1.0) AS rank
       FROM document_text JOIN document_chunks c ON c.id = document_text.rowid
       JOIN documents d ON d.id = c.document_id
       JOIN document_sections s ON s.document_id = c.document_id AND s.position = c.position
       WHERE document_text MATCH ? AND d.status = 'ready' AND ${where}
         AND (? IS NULL OR d.id = ?) AND (? IS NULL OR d.project_id = ?)
       ORDER BY rank LIMIT ?`,
    ).all(
      ...[expression, ...values, document_id, document_id, project_id, project_id, limit * CHUNKS_PER_HIT],
    ) as Found[];
    const best = new Map<string, Found>();
    for (const one of found) {
      const key = `${one.document_id}\n${one.position}`;
      if (!best.has(key) && best.size < limit) best.set(key, one);
    }
    return [...best.values()].map(({ id, position: _, rank, ...hit }) => ({
      ...hit,
      snippet: statement("SELECT text FROM document_text WHERE rowid = ?").pluck().get(id) as string,
      score: Number((-rank).toPrecision(6)),
    }));
  };
}
