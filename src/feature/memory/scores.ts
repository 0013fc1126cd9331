/** How much an entry is worth: useful to those who recalled it, recent, often read. People may set it themselves. */

import { Value } from "@sinclair/typebox/value";
import type { Clock } from "../../core/clock.ts";
import { timestamp } from "../../core/clock.ts";
import { invalidField } from "../../core/errors.ts";
import { membersOf } from "../../core/is-object.ts";
import type { Caller } from "../../http/caller.ts";
import type { Store } from "../../store/store.ts";
import type { EntryRow } from "./entry-index.ts";
import { DEFAULT_SCORE_SETTINGS, type MemoryScore, ScoreSettings } from "./model.ts";

type Key = Pick<EntryRow, "vault" | "entry">;
type Rated = Pick<EntryRow, "vault" | "entry" | "pinned" | "updated_at">;

export interface Scores {
  of(row: Rated): MemoryScore;
  /** For many rows at once: their parts, and what a search multiplies by, 1 for an entry that nobody rated. */
  reader(): (row: Rated) => { score: MemoryScore; factor: number };
  rate(key: Key, useful: boolean): void;
  setScore(key: Key, score: number | null): void;
  /** Counts that the entries were read. */
  accessed(keys: readonly Key[]): void;
  settings(): ScoreSettings;
  /** @throws Problem 422 when the weights do not sum to 1. */
  updateSettings(input: Partial<ScoreSettings>, reset: boolean, caller: Caller): ScoreSettings;
}

export interface ScoresDeps {
  store: Store;
  clock: Clock;
  /** Objects kept by name beside the instance's settings. */
  stored: { read(name: string): unknown; put(name: string, value: unknown, caller: Caller): void };
}

interface Row {
  accesses: number;
  useful: number;
  not_useful: number;
  score: number | null;
  last_accessed_at: string | null;
}

const NAME = "memory_scores";
const DAY_MS = 86_400_000;
const NEVER: Row = { accesses: 0, useful: 0, not_useful: 0, score: null, last_accessed_at: null };
const three = (value: number): number => Math.round(value * 1_000) / 1_000;

export function createScores({ store, clock, stored }: ScoresDeps): Scores {
  const { statement } = store;
  const rowOf = ({ vault, entry }: Key): Row =>
    statement<Row>("SELECT * FROM memory_scores WHERE vault = ? AND entry = ?").get(vault, entry) ?? NEVER;
  const settings = (): ScoreSettings => {
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
      ...{ entry, accesses, useful, not_useful, pinned, last_accessed_at },
      ...{ usefulness: three(usefulness), recency: three(recency), frequency: three(frequency) },
      score: three(row.score ?? sum),
    };
  }
  function reader(): ReturnType<Scores["reader"]> {
    const now = settings();
    return (rated) => {
      const row = rowOf(rated);
      const factor = 1 + now.usefulness_weight * ((row.score ?? usefulnessOf(row)) - 0.5);
      return { score: scoreOf(rated, row, now), factor };
    };
  }

  return {
    settings,
    of: (row) => reader()(row).score,
    reader,
    rate: (key, useful) => (useful ? change(key, "useful = useful + 1") : change(key, "not_useful = not_useful + 1")),
    setScore: (key, score) => change(key, "score = ?", score),
    accessed(keys) {
      const at = timestamp(clock.now());
      store.write(() => {
        for (const key of keys) change(key, "accesses = accesses + 1, last_accessed_at = ?", at);
      });
    },
    updateSettings(input, reset, caller) {
      const next = { ...(reset ? DEFAULT_SCORE_SETTINGS : settings()), ...input };
      const sum = next.usefulness_weight + next.recency_weight + next.frequency_weight;
      if (Math.abs(sum - 1) > 0.001)
        throw invalidField("/usefulness_weight", `The three weights must sum to 1; these sum to ${three(sum)}.`);
      stored.put(NAME, next, caller);
      return settings();
    },
  };
}
