/**
 * The words of a question, put to an index of three characters in a row (FTS5's `trigram` with `detail = none`). The index
 * names the rows that may hold the words, newest first; the texts of those are then compared with the words, since only
 * some of a word's characters are asked for and the index does not know in which order they appear.
 */
import { allOf, type Condition, contains } from "./reader.ts";

/** More of them narrow little and cost as much each. */
const PER_WORD = 3;
const WORDS = 4;

/** Rows looked at, the newest, where a word has fewer than three characters: the index does not know it. */
const SHORT_WORD_ROWS = 2_000;

/** Three characters of the word at its beginning, at its end and between. */
function trigramsOf(word: string): string[] {
  const characters = [...word];
  const last = characters.length - 3;
  const places = Array.from({ length: PER_WORD }, (_, n) => Math.floor((last * n) / (PER_WORD - 1)));
  return [...new Set(places.map((at) => characters.slice(at, at + 3).join("")))];
}

export const wordsOf = (text: string): string[] => [...new Set(text.split(/\s+/).filter(Boolean))];

/**
 * The rows that may hold all of the words, as a table `named` with their ids (`id`) and order (`place`, the newest has the
 * highest), for a `FROM` that says `CROSS JOIN` next.
 * @param kind whose `…_texts` and `…_trigrams` are asked.
 * @param conditions on `texts`, as the table of ids is called in it.
 */
export function namedBy(kind: "run" | "task", words: readonly string[], ...conditions: Condition[]) {
  // A NUL would end the expression.
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

/** Each word is in one of the columns. */
export const hold = (words: readonly string[], columns: readonly string[]): Condition[] =>
  words.map((word) => {
    const each = columns.map((column) => contains(column, word));
    return [`(${each.map(([sql]) => sql).join(" OR ")})`, ...each.map(([, value]) => value)];
  });
