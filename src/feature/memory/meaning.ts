/**
 * Search by meaning. Each paragraph has a vector, made in the background by the embedding model in the settings, if one
 * is set.
 */
import { Type as t } from "@sinclair/typebox";
import type { Clock } from "../../core/clock.ts";
import { conflict } from "../../core/errors.ts";
import { defineJob } from "../../core/jobs.ts";
import type { Logger } from "../../core/log.ts";
import type { Masker } from "../../core/masking.ts";
import type { Store } from "../../store/store.ts";
import type { Jobs } from "../jobs/service.ts";
import { bestOfEach, buildCondition, type Fit, type SearchRequest } from "./search.ts";

/** Turns texts into vectors of length 1, in the same order. @throws Problem when the provider gives none. */
type Embed<Call> = (request: {
  model: string;
  texts: readonly string[];
  signal: AbortSignal;
}) => Promise<{ vectors: Float32Array[]; call: Call }>;

interface MeaningDeps<Call> {
  store: Store;
  clock: Clock;
  log: Logger;
  masking: Pick<Masker, "text">;
  jobs: Pick<Jobs, "enqueue">;
  embed: Embed<Call>;
  /** The embedding model as `provider/model`; null: search uses words alone. */
  model(): string | null;
  /** Records the call in the log of model calls. */
  record(call: Call): void;
  /** Why the budget allows no more calls; undefined while it does. */
  overdrawn(): string | undefined;
}

export interface Meaning {
  /**
   * Paragraphs whose meaning is near the question's, best first. Empty without a model, or when the model does not
   * answer.
   */
  near(request: SearchRequest): Promise<Fit[]>;
}

const BATCH = 64;
const GIVE_WAY_ROWS = 500;
/**
 * Two floors for a paragraph's likeness to the question: an absolute one, and a share of the best paragraph's. Without
 * a floor, every entry would be found. There are two because unrelated texts get a likeness of 0 to 0.7, depending on
 * the model.
 */
const LIKENESS_LEAST = 0.25;
const LIKENESS_OF_BEST = 0.75;
/** Longest time that a search waits for the question's vector. */
const QUESTION_MS = 2_000;
/** After a failure that took longer than this, searches do without vectors for SILENT_MS. */
const SLOW_MS = 500;
const SILENT_MS = 30_000;
const KEPT_QUESTIONS = 200;
const NEAR_PER_HIT = 5;
/** Pause before vectors are requested again after a failed job. */
const AGAIN_MS = 15 * 60_000;

export function createMeaning<Call>(deps: MeaningDeps<Call>) {
  const { store, clock, log, masking, embed } = deps;
  const { statement } = store;
  const questions = new Map<string, Float32Array>();
  let notBefore = 0;
  let silentUntil = 0;

  async function vectorsOf(model: string, texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const why = deps.overdrawn();
    if (why !== undefined) throw conflict(why, "budget_exceeded");
    const { vectors, call } = await embed({ model, texts: texts.map(masking.text), signal });
    deps.record(call);
    return vectors;
  }
  async function questionVector(model: string, query: string): Promise<Float32Array> {
    const key = `${model}\n${query}`;
    const known = questions.get(key);
    if (known) return known;
    const [vector] = await vectorsOf(model, [query], AbortSignal.timeout(QUESTION_MS));
    if (questions.size >= KEPT_QUESTIONS) questions.delete(questions.keys().next().value!);
    questions.set(key, vector!);
    return vector!;
  }

  const listMissing = (model: string, limit: number) =>
    statement<{ id: number; title: string; text: string }>(
      `SELECT u.id, t.title, t.text FROM memory_units u JOIN memory_text t ON t.rowid = u.id
       WHERE NOT EXISTS (SELECT 1 FROM memory_vectors v WHERE v.unit_id = u.id AND v.model = ?) LIMIT ?`,
    ).all(model, limit);
  const countMissing = (model: string) =>
    statement<number>(
      "SELECT (SELECT count(*) FROM memory_units) - (SELECT count(*) FROM memory_vectors WHERE model = ?)",
    )
      .pluck()
      .get(model)!;

  const job = defineJob(
    "embed_memory",
    t.Object({}),
    async (_, running) => {
      let made = 0;
      for (let model = deps.model(); model !== null; model = deps.model()) {
        const units = listMissing(model, BATCH);
        if (units.length === 0) break;
        const texts = units.map(({ title, text }) => `${title}\n${text}`);
        const vectors = await vectorsOf(model, texts, running.signal);
        store.write(() => {
          // The paragraph may be gone by now.
          for (const [at, { id }] of units.entries())
            statement(
              "INSERT OR REPLACE INTO memory_vectors (unit_id, model, vector) SELECT id, ?, ? FROM memory_units WHERE id = ?",
            ).run(model, Buffer.from(vectors[at]!.buffer), id);
        });
        made += units.length;
        running.report({ percent: (100 * made) / (made + countMissing(model)), detail: model });
      }
      return { made };
    },
    {
      attempts: 3,
      outward: true,
      onEnd: ({ state }) => {
        if (state === "failed") notBefore = clock.now() + AGAIN_MS;
      },
    },
  );

  return {
    job,
    /** Starts a job that makes the missing vectors. A new model needs new ones for all paragraphs. */
    due(): void {
      const model = deps.model();
      if (model === null || clock.now() < notBefore || listMissing(model, 1).length === 0) return;
      deps.jobs.enqueue(job, {}, { key: "all", subject: model });
    },
    async near(request: SearchRequest): Promise<Fit[]> {
      const model = deps.model();
      if (model === null || request.limit < 1 || clock.monotonic() < silentUntil) return [];
      const started = clock.monotonic();
      try {
        const question = await questionVector(model, request.query);
        return await findNearest(question, model, request);
      } catch (err) {
        log.warn({ err }, "memory is searched by words alone");
        // If the model hangs, only one search waits for it.
        if (clock.monotonic() - started > SLOW_MS) silentUntil = clock.monotonic() + SILENT_MS;
        return [];
      }
    },
  };

  async function findNearest(question: Float32Array, model: string, request: SearchRequest): Promise<Fit[]> {
    const { where, values } = buildCondition(request, new Date(clock.now()).toISOString());
    const found: Fit[] = [];
    for (let after = 0; ; ) {
      const rows = statement<Omit<Fit, "text"> & { id: number; vector: Buffer }>(
        `SELECT u.id, u.vault, u.entry, u.position, v.vector FROM memory_vectors v JOIN memory_units u ON u.id = v.unit_id
         JOIN memory_entries e ON e.vault = u.vault AND e.entry = u.entry
         WHERE v.unit_id > ? AND v.model = ? AND ${where} ORDER BY v.unit_id LIMIT ?`,
      ).all(after, model, ...values, GIVE_WAY_ROWS);
      for (const { vault, entry, position, vector } of rows) {
        const likeness = product(question, vector);
        if (likeness >= LIKENESS_LEAST) found.push({ vault, entry, position, text: likeness, vector: likeness });
      }
      if (rows.length < GIVE_WAY_ROWS) break;
      after = rows.at(-1)!.id;
      await new Promise((done) => setImmediate(done));
    }
    found.sort((a, b) => b.text - a.text);
    const least = (found[0]?.text ?? 0) * LIKENESS_OF_BEST;
    return bestOfEach(found.filter(({ text }) => text >= least)).slice(0, request.limit * NEAR_PER_HIT);
  }
}

function product(question: Float32Array, bytes: Buffer): number {
  if (bytes.byteLength !== question.byteLength) return -1;
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Buffer.from(bytes);
  const vector = new Float32Array(aligned.buffer, aligned.byteOffset, question.length);
  let sum = 0;
  for (let at = 0; at < vector.length; at++) sum += vector[at]! * question[at]!;
  return sum;
}
