/** Searches entries by their paragraphs. Each entry is found by its best paragraph; its score then shifts its place. */
import type { Store } from "../../store/store.ts";
import { type WordQuery, wordQueries } from "../../store/word-search.ts";
import { type EntryRow, type Reader, type StoredEntry, visibleTo } from "./entry-index.ts";
import type { Meaning } from "./meaning.ts";
import type { MemoryHit } from "./model.ts";
import type { Scores } from "./scores.ts";

export interface SearchRequest {
  query: string;
  /** Vaults that are searched; all when absent. */
  vaults?: readonly string[];
  limit: number;
  reader: Reader;
  /** Leaves out unconfirmed entries. */
  trustedOnly?: boolean;
}

export type Search = ReturnType<typeof createSearch>;

/** The best paragraph of an entry. `text` tells how well it fits; higher is better. */
export interface Fit {
  vault: string;
  entry: string;
  position: number;
  text: number;
  /** Likeness in meaning, up to 1; absent if the paragraph was found by words. */
  vector?: number;
}

/** Paragraphs that are read for each requested entry, because several of the best may belong to one entry. */
const UNITS_PER_HIT = 5;
const SNIPPET_CHARACTERS = 1_600;
/** Columns that are read of the few entries that are shown. */
const SHOWN = ["vault", "entry", "title", "type", "trusted", "pinned", "updated_at"] as const;

type ShownEntry = Pick<EntryRow, (typeof SHOWN)[number]>;

/** The entries that may be found, as an SQL condition with its parameters. @param now RFC 3339 */
export function buildCondition({ vaults, reader, trustedOnly = false }: SearchRequest, now: string) {
  const { where, values } = visibleTo(reader);
  const inVaults = vaults ? `e.vault IN (${vaults.map(() => "?").join(", ")})` : "1";
  return {
    where: `${inVaults} AND ${where} AND e.superseded_by IS NULL AND (e.expires_at IS NULL OR e.expires_at > ?)
      AND (e.trusted = 1 OR ?)`,
    values: [...(vaults ?? []), ...values, now, trustedOnly ? 0 : 1],
  };
}

/** Keeps the first hit of each entry, which is its best. */
export function bestOfEach<T extends Pick<Fit, "vault" | "entry">>(found: readonly T[]): T[] {
  const best = new Map<string, T>();
  for (const one of found) {
    const key = `${one.vault}\n${one.entry}`;
    if (!best.has(key)) best.set(key, one);
  }
  return [...best.values()];
}

/** The constant of reciprocal rank fusion: the larger it is, the less the first ranks stand out. */
const RANK_DAMPING = 60;

/** Merges two rankings by reciprocal rank fusion. The best possible score is 1. */
export function fuse(byWords: readonly Fit[], byMeaning: readonly Fit[]): Fit[] {
  const sums = new Map<string, Fit>();
  for (const order of [byWords, byMeaning])
    for (const [at, fit] of order.entries()) {
      const key = `${fit.vault}\n${fit.entry}`;
      const part = (RANK_DAMPING + 1) / (2 * (RANK_DAMPING + 1 + at));
      const known = sums.get(key);
      if (known) sums.set(key, { ...known, ...(fit.vector === undefined ? {} : fit), text: known.text + part });
      else sums.set(key, { ...fit, text: part });
    }
  return [...sums.values()];
}

export function createSearch(store: Store, scores: Scores, now: () => string, near: Meaning["near"]) {
  const { statement } = store;
  /** The rows of the hits, by each hit's place in the list. An entry that was deleted meanwhile is missing. */
  function entriesOf(hits: readonly Fit[]): Map<number, ShownEntry> {
    const rows = statement<Pick<StoredEntry, (typeof SHOWN)[number]> & { at: number }>(
      `SELECT k.key AS at, ${SHOWN.map((name) => `e.${name}`)} FROM json_each(?) AS k
       CROSS JOIN memory_entries e ON e.vault = k.value ->> 0 AND e.entry = k.value ->> 1`,
    ).all(keysOf(hits));
    return new Map(
      rows.map(({ at, trusted, pinned, ...row }) => [at, { ...row, trusted: trusted === 1, pinned: pinned === 1 }]),
    );
  }
  /** The paragraph that fits and its neighbors, by the hit's place in the list. */
  function snippetsOf(hits: readonly Fit[]): Map<number, string> {
    const units = statement<{ at: number; text: string }>(
      `SELECT k.key AS at, t.text FROM json_each(?) AS k
       CROSS JOIN memory_units u ON u.vault = k.value ->> 0 AND u.entry = k.value ->> 1
         AND u.position BETWEEN (k.value ->> 2) - 1 AND (k.value ->> 2) + 1
       CROSS JOIN memory_text t ON t.rowid = u.id ORDER BY k.key, u.position`,
    ).all(keysOf(hits));
    const texts = Map.groupBy(units, ({ at }) => at);
    const join = (some: typeof units) => some.map(({ text }) => text).join("\n\n");
    return new Map([...texts].map(([at, some]) => [at, join(some).slice(0, SNIPPET_CHARACTERS)]));
  }

  function runQuery({ expression, ranked }: WordQuery, request: SearchRequest): Fit[] {
    const { where, values } = buildCondition(request, now());
    const found = statement<Fit>(
      `SELECT u.vault, u.entry, u.position, ${ranked ? "-memory_text.rank" : "0.000001"} AS text
       FROM memory_text CROSS JOIN memory_units u ON u.id = memory_text.rowid
       CROSS JOIN memory_entries e ON e.vault = u.vault AND e.entry = u.entry
       WHERE memory_text MATCH ? AND memory_text.rank MATCH 'bm25(1.0, 2.0, 1.0)' AND ${where}
       ORDER BY ${ranked ? "memory_text.rank" : "memory_text.rowid DESC"} LIMIT ?`,
    ).all(expression, ...values, request.limit * UNITS_PER_HIT);
    return bestOfEach(found);
  }
  function findFits(request: SearchRequest): Fit[] {
    let found: Fit[] = [];
    for (const query of wordQueries(statement, "memory_text", request.query)) {
      found = runQuery(query, request);
      if (found.length >= request.limit) break;
    }
    return found;
  }
  function present(found: readonly Fit[], limit: number): MemoryHit[] {
    const scored = scores.createReader(found);
    const hits = found
      .map((fit) => ({ ...fit, fits: fit.text * scored.factorOf(fit) }))
      .sort((a, b) => b.fits - a.fits || (a.entry < b.entry ? -1 : 1))
      .slice(0, limit);
    const entries = entriesOf(hits);
    const snippets = snippetsOf(hits);
    return hits.flatMap(({ text, vector, fits }, at) => {
      const row = entries.get(at);
      if (row === undefined) return [];
      const { vault, entry, title, type, trusted } = row;
      const { usefulness, recency, frequency } = scored.of(row);
      return [
        {
          agent_id: vault,
          entry,
          title,
          type,
          trusted,
          snippet: snippets.get(at) ?? "",
          score: round(fits),
          parts: {
            text: round(text),
            vector: vector === undefined ? null : round(vector),
            usefulness,
            recency,
            frequency,
          },
        },
      ];
    });
  }
  /** Searches by words alone, synchronously. */
  const byWords = (request: SearchRequest): MemoryHit[] =>
    request.limit < 1 ? [] : present(findFits(request), request.limit);
  return {
    byWords,
    /** Searches by words, and also by meaning if an embedding model is set. */
    async find(request: SearchRequest): Promise<MemoryHit[]> {
      const byMeaning = await near(request);
      return byMeaning.length === 0 ? byWords(request) : present(fuse(findFits(request), byMeaning), request.limit);
    },
  };
}

const keysOf = (hits: readonly Fit[]): string =>
  JSON.stringify(hits.map(({ vault, entry, position }) => [vault, entry, position]));
const round = (value: number): number => Number(value.toPrecision(6));
