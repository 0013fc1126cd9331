/**
 * Full-text search for the words of a question: each word quoted, joined by OR, without stop words. Ranking costs time
 * for each row, so words that occur in many rows are left out as long as rarer words find enough.
 */
import type { Prepare } from "./statement-cache.ts";

const STOP_WORDS = new Set(
  `a about all am an and any are as at be been but by can could did do does for from had has have he her him his how i if in
   into is it its just me my no not of on or our she should so than that the their them then there these they this to was
   we were what when where which who whom why will with would you your`.split(/\s+/),
);
const MAX_TERMS = 48;
/** The most rows that one query ranks; when it finds too little, the next limit applies. */
const RANKED_ROWS = [1_500, 4_000] as const;
const UNRANKED_ABOVE = RANKED_ROWS.at(-1)!;

/** One of the queries to an FTS5 table for a question. */
export interface WordQuery {
  /** Expression for MATCH. */
  expression: string;
  /**
   * False when its only word is in nearly every row. Ranking would tell nothing then, so the newest rows are as good as
   * any.
   */
  ranked: boolean;
}

/** Words to look for, in the order of the question. */
export function termsOf(query: string): string[] {
  const words = [
    ...new Set(
      query
        .normalize("NFC")
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? [],
    ),
  ];
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return (telling.length > 0 ? telling : words).slice(0, MAX_TERMS);
}

/** Quotes each word, so that none is read as an operator. */
export const anyOf = (terms: readonly string[]): string => terms.map((term) => `"${term}"`).join(" OR ");

/**
 * Queries for a question, from its rarest words to more of them. Use the next one only when the last found too little.
 * @param table an FTS5 table.
 */
export function* wordQueries(statement: Prepare, table: string, query: string): Generator<WordQuery> {
  const rowsOf = statement<number>(`SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT ?)`);
  const counted = termsOf(query)
    .map((term) => ({ term, rows: rowsOf.pluck().get(anyOf([term]), UNRANKED_ABOVE + 1)! }))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => a.rows - b.rows);
  const [rarest] = counted;
  if (!rarest) return;
  let asked = 0;
  for (const most of RANKED_ROWS) {
    let rows = 0;
    const terms = counted.filter((one, at) => {
      rows += one.rows;
      return at === 0 || rows <= most;
    });
    if (terms.length === asked) continue;
    asked = terms.length;
    const ranked = rarest.rows <= UNRANKED_ABOVE;
    yield { expression: anyOf(terms.map(({ term }) => term)), ranked };
  }
}
