/** Full-text search over entries' paragraphs: every word of the query quoted, joined by OR, best paragraph per entry. */
import { matchExpression } from "../../store/match-expression.ts";
import type { Store } from "../../store/store.ts";
import { type EntryRow, type Reader, rowOf, visibleTo } from "./entry-index.ts";
import type { MemoryHit } from "./model.ts";
import type { Scores } from "./scores.ts";

export interface SearchWish {
  query: string;
  /** Vaults that are searched; all when absent. */
  vaults?: readonly string[];
  limit: number;
  reader: Reader;
  /** Leaves out what nobody has confirmed. */
  trustedOnly?: boolean;
}

export type Search = (wish: SearchWish) => MemoryHit[];

/** Paragraphs looked at for each entry asked for: several of the best may be of one entry. */
const UNITS_PER_HIT = 5;
const SNIPPET_CHARACTERS = 1_600;

interface Found {
  vault: string;
  entry: string;
  position: number;
  rank: number;
}

export function createSearch(store: Store, scores: Scores, now: () => string): Search {
  const { statement } = store;
  const snippetOf = ({ vault, entry, position }: Found): string => {
    const units = statement(
      `SELECT t.text FROM memory_units u JOIN memory_text t ON t.rowid = u.id
       WHERE u.vault = ? AND u.entry = ? AND u.position BETWEEN ? AND ? ORDER BY u.position`,
    ).all(vault, entry, position - 1, position + 1) as { text: string }[];
    return units
      .map(({ text }) => text)
      .join("\n\n")
      .slice(0, SNIPPET_CHARACTERS);
  };
  return ({ query, vaults, limit, reader, trustedOnly = false }) => {
    const expression = matchExpression(query);
    if (expression === undefined || limit < 1) return [];
    const { where, values } = visibleTo(reader);
    const inVaults = vaults ? `e.vault IN (${vaults.map(() => "?").join(", ")})` : "1";
    const found = statement(
      `SELECT u.vault, u.entry, u.position, bm25(memory_text, 1.0, 2.0, 1.0) AS rank
       FROM memory_text JOIN memory_units u ON u.id = memory_text.rowid
       JOIN memory_entries e ON e.vault = u.vault AND e.entry = u.entry
       WHERE memory_text MATCH ? AND ${inVaults} AND ${where} AND e.superseded_by IS NULL
         AND (e.expires_at IS NULL OR e.expires_at > ?) AND (e.trusted = 1 OR ?)
       ORDER BY rank LIMIT ?`,
    ).all(...[expression, ...(vaults ?? []), ...values, now(), trustedOnly ? 0 : 1, limit * UNITS_PER_HIT]) as Found[];
    const best = new Map<string, Found>();
    for (const one of found) {
      const key = `${one.vault}\n${one.entry}`;
      if (!best.has(key)) best.set(key, one);
    }
    const hits = [...best.values()].map((one): MemoryHit => {
      const row = rowOf(
        statement("SELECT * FROM memory_entries WHERE vault = ? AND entry = ?").get(one.vault, one.entry) as never,
      ) as EntryRow;
      const { usefulness, recency, frequency } = scores.of(row);
      const text = -one.rank;
      return {
        ...{ agent_id: row.vault, entry: row.entry, title: row.title, type: row.type, trusted: row.trusted },
        snippet: snippetOf(one),
        score: rounded(text * scores.factorOf(row)),
        parts: { text: rounded(text), usefulness, recency, frequency },
      };
    });
    return hits.sort((a, b) => b.score - a.score || (a.entry < b.entry ? -1 : 1)).slice(0, limit);
  };
}

export const rounded = (value: number): number => Number(value.toPrecision(6));
