/**
 * Scores how valuable an entry is: useful to those who recalled it, recent, often read. People may also set the score.
 */

import { Value } from "@sinclair/typebox/value";
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { invalidField } from "../../core/errors.ts";
import { membersOf } from "../../core/is-object.ts";
import type { Caller } from "../../http/caller.ts";
import type { Core } from "../feature.ts";
import type { EntryRow } from "./entry-index.ts";
import { DEFAULT_SCORE_SETTINGS, type MemoryScore, ScoreSettings } from "./model.ts";

type Key = Pick<EntryRow, "vault" | "entry">;
type Rated = Pick<EntryRow, "vault" | "entry" | "pinned" | "updated_at">;

export type Scores = ReturnType<typeof createScores>;

interface ScoresDeps extends Pick<Core, "store" | "clock"> {
  /** Named objects that are stored beside the instance's settings. */
  stored: { read(name: string): unknown; put(name: string, value: object, caller: Caller): void };
}

interface Row {
  accesses: number;
  useful: number;
  not_useful: number;
  score: number | null;
  last_accessed_at: string | null;
}

const NAME = "memory_scores";
const NEVER: Row = { accesses: 0, useful: 0, not_useful: 0, score: null, last_accessed_at: null };
const keyOf = ({ vault, entry }: Key): string => `${vault}\n${entry}`;
const round = (value: number): number => Math.round(value * 1_000) / 1_000;

export function createScores({ store, clock, stored }: ScoresDeps) {
  const { statement } = store;
  const rowsOf = (keys: readonly Key[]): ReadonlyMap<string, Row> => {
    const rows = statement<Row & Key>(
      `SELECT s.* FROM json_each(?) AS k
       CROSS JOIN memory_scores s ON s.vault = k.value ->> 0 AND s.entry = k.value ->> 1`,
    ).all(JSON.stringify(keys.map(({ vault, entry }) => [vault, entry])));
    return new Map(rows.map((row) => [keyOf(row), row]));
  };
  const readSettings = (): ScoreSettings => {
    const kept = stored.read(NAME);
    const whole = { ...DEFAULT_SCORE_SETTINGS, ...membersOf(kept) };
    return Value.Check(ScoreSettings, whole) ? whole : DEFAULT_SCORE_SETTINGS;
  };
  const usefulnessOf = ({ useful, not_useful }: Row): number => (useful + 1) / (useful + not_useful + 2);
  const change = ({ vault, entry }: Key, set: string, ...values: (string | number | null)[]): void =>
    store.write(() => {
      statement("INSERT OR IGNORE INTO memory_scores (vault, entry) VALUES (?, ?)").run(vault, entry);
      statement(`UPDATE memory_scores SET ${set} WHERE vault = ? AND entry = ?`).run(...values, vault, entry);
    });

  function scoreOf({ entry, pinned, updated_at }: Rated, row: Row, settings: ScoreSettings): MemoryScore {
    const { usefulness_weight, recency_weight, frequency_weight, ...rest } = settings;
    const latest = Math.max(Date.parse(updated_at), Date.parse(row.last_accessed_at ?? updated_at));
    const age = Math.max(0, clock.now() - latest) / DAY_MS;
    const usefulness = usefulnessOf(row);
    const recency = Math.max(rest.recency_floor, 0.5 ** (age / rest.half_life_days));
    const frequency = Math.min(1, Math.log1p(row.accesses) / Math.log1p(rest.frequency_cap));
    const sum = usefulness * usefulness_weight + recency * recency_weight + frequency * frequency_weight;
    const { accesses, useful, not_useful, last_accessed_at } = row;
    return {
      entry,
      accesses,
      useful,
      not_useful,
      pinned,
      last_accessed_at,
      usefulness: round(usefulness),
      recency: round(recency),
      frequency: round(frequency),
      score: round(row.score ?? sum),
    };
  }
  /** Reads the counts of all these entries at once. Any other entry is scored as if it was never read. */
  function createReader(keys: readonly Key[]) {
    const now = readSettings();
    const rows = rowsOf(keys);
    const rowOf = (key: Key): Row => rows.get(keyOf(key)) ?? NEVER;
    return {
      of: (rated: Rated): MemoryScore => scoreOf(rated, rowOf(rated), now),
      /** The factor by which a search multiplies a hit's fit; 1 for an entry that nobody rated. */
      factorOf(key: Key): number {
        const row = rowOf(key);
        return 1 + now.usefulness_weight * ((row.score ?? usefulnessOf(row)) - 0.5);
      },
    };
  }

  return {
    readSettings,
    of: (row: Rated): MemoryScore => createReader([row]).of(row),
    createReader,
    rate: (key: Key, useful: boolean) =>
      useful ? change(key, "useful = useful + 1") : change(key, "not_useful = not_useful + 1"),
    setScore: (key: Key, score: number | null) => change(key, "score = ?", score),
    /** Counts one access of each entry. */
    noteAccess(keys: readonly Key[]): void {
      const at = toTimestamp(clock.now());
      store.write(() => {
        for (const key of keys) change(key, "accesses = accesses + 1, last_accessed_at = ?", at);
      });
    },
    /** @throws Problem 422 when the weights do not sum to 1. */
    updateSettings(input: Partial<ScoreSettings>, reset: boolean, caller: Caller): ScoreSettings {
      const next = { ...(reset ? DEFAULT_SCORE_SETTINGS : readSettings()), ...input };
      const sum = next.usefulness_weight + next.recency_weight + next.frequency_weight;
      if (Math.abs(sum - 1) > 0.001)
        throw invalidField("/usefulness_weight", `The three weights must sum to 1; these sum to ${round(sum)}.`);
      stored.put(NAME, next, caller);
      return readSettings();
    },
  };
}
