/** Full-text search over the paragraphs of documents. It returns the best paragraph of each section. */
import type { Asker } from "../../core/ownership.ts";
import type { Store } from "../../store/store.ts";
import { buildReadCondition, WHOSE } from "../../store/whose.ts";
import { type WordQuery, wordQueries } from "../../store/word-search.ts";
import type { DocumentHit, DocumentSearch } from "./model.ts";

export type SearchDocuments = (request: DocumentSearch, asker: Asker) => DocumentHit[];

/** Paragraphs read for each requested section, because several of the best paragraphs may be in one section. */
const CHUNKS_PER_HIT = 4;
const DEFAULT_HITS = 10;

interface Found extends Omit<DocumentHit, "score" | "snippet"> {
  id: number;
  position: number;
  rank: number;
}

export function createDocumentSearch({ statement }: Store): SearchDocuments {
  function findMatches(
    { expression, ranked }: WordQuery,
    request: DocumentSearch,
    asker: Asker,
    limit: number,
  ): Found[] {
    const { document_id = null, project_id = null } = request;
    const [where, ...values] = buildReadCondition(asker, WHOSE.documents, "d") ?? ["1"];
    return statement<Found>(
      `SELECT c.id, c.document_id, c.position, d.title, s.section_id, s.title AS heading, s.page,
         ${ranked ? "rank" : "0"} AS rank
       FROM document_text CROSS JOIN document_chunks c ON c.id = document_text.rowid
       CROSS JOIN documents d ON d.id = c.document_id
       CROSS JOIN document_sections s ON s.document_id = c.document_id AND s.position = c.position
       WHERE document_text MATCH ? AND document_text.rank MATCH 'bm25(1.0, 3.0, 1.0)' AND d.status = 'ready' AND ${where}
         AND (? IS NULL OR d.id = ?) AND (? IS NULL OR d.project_id = ?)
       ORDER BY ${ranked ? "document_text.rank" : "document_text.rowid DESC"} LIMIT ?`,
    ).all(expression, ...values, document_id, document_id, project_id, project_id, limit * CHUNKS_PER_HIT);
  }
  return (request, asker) => {
    const { limit = DEFAULT_HITS } = request;
    const best = new Map<string, Found>();
    for (const query of wordQueries(statement, "document_text", request.query)) {
      best.clear();
      for (const one of findMatches(query, request, asker, limit)) {
        const key = `${one.document_id}\n${one.position}`;
        if (!best.has(key) && best.size < limit) best.set(key, one);
      }
      if (best.size >= limit) break;
    }
    return [...best.values()].map(({ id, position: _, rank, ...hit }) => ({
      ...hit,
      snippet: statement<string>("SELECT text FROM document_text WHERE rowid = ?").pluck().get(id)!,
      score: Number((-rank).toPrecision(6)) || 0,
    }));
  };
}
