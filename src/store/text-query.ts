/**
 * Searches for the words of a query with an index of trigrams (FTS5's `trigram` with `detail = none`). The index
 * returns rows that may contain the words, newest first. Their texts are then compared with the words, because only
 * some of a word's trigrams are asked for, and the index does not know their order.
 */
import { allOf, type Condition, contains } from "./reader.ts";

/** Limits per word and per query; more trigrams narrow the result little, and each costs as much as the first. */
const PER_WORD = 3;
const WORDS = 4;

/**
 * When a word is shorter than three characters, the index cannot find it, so only so many of the newest rows are
 * searched.
 */
const SHORT_WORD_ROWS = 2_000;

/** Trigrams of the word: at its beginning, in its middle and at its end. */
function trigramsOf(word: string): string[] {
  const characters = [...word];
  const last = characters.length - 3;
  const places = Array.from({ length: PER_WORD }, (_, n) => Math.floor((last * n) / (PER_WORD - 1)));
  return [...new Set(places.map((at) => characters.slice(at, at + 3).join("")))];
}

export const wordsOf = (text: string): string[] => [...new Set(text.split(/\s+/).filter(Boolean))];

/**
 * Selects the rows that may contain all of the words, as a table `named` with their ids (`id`) and order (`place`,
 * highest for the newest), for a `FROM` followed by `CROSS JOIN`.
 * @param kind whose `…_texts` and `…_trigrams` tables are used.
 * @param conditions conditions on `texts`, the alias of the table of ids.
 */
export function namedBy(kind: "run" | "task", words: readonly string[], ...conditions: Condition[]) {
  // A NUL character would end the expression.
  const long = words.filter((word) => [...word].length >= 3 && !word.includes("\0"));
  const asked = long.toSorted((a, b) => b.length - a.length).slice(0, WORDS);
  const trigrams = new Set(asked.flatMap(trigramsOf).map((trigram) => `"${trigram.replaceAll('"', '""')}"`));
  const index = `${kind}_trigrams`;
  const match: Condition = trigrams.size > 0 ? [`${index} MATCH ?`, [...trigrams].join(" AND ")] : undefined;
  const { where, values } = allOf(match, ...conditions);
  const place = match ? `${index}.rowid` : "texts.id";
  const texts = `${kind}_texts AS texts`;
  const from = match ? `${index} CROSS JOIN ${texts} ON texts.id = ${place}` : texts;
  const limit = long.length < words.length ? `ORDER BY ${place} DESC LIMIT ${SHORT_WORD_ROWS}` : "";
  const table = `(SELECT texts.${kind}_id AS id, ${place} AS place FROM ${from} ${where} ${limit}) AS named`;
  return { table, values };
}

/** Conditions that each word is in at least one of the columns. */
export const hold = (words: readonly string[], columns: readonly string[]): Condition[] =>
  words.map((word) => {
    const each = columns.map((column) => contains(column, word));
    return [`(${each.map(([sql]) => sql).join(" OR ")})`, ...each.map(([, value]) => value)];
  });
