/**
 * Consolidation: a background pass over a vault. Of entries that say the same, one is kept and marks the other as
 * superseded, whose file stays. Entries that seem to contradict each other are listed for a person.
 */
import { Type as t } from "@sinclair/typebox";
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { defineJob, type RunningJob } from "../../core/jobs.ts";
import { orNull } from "../../core/schema.ts";
import type { Caller } from "../../http/caller.ts";
import type { Core } from "../feature.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";
import type { Contradictions } from "./contradictions.ts";
import { type Entries, mayChange, readerOf } from "./entries.ts";
import { type EntryRow, type Reader, visibleTo } from "./entry-index.ts";
import { type Compared, findContradiction, nearPairs, saysTheSame, stemSetOf } from "./likeness.ts";

interface ConsolidationDeps extends Pick<Core, "store" | "clock"> {
  jobs: Pick<Jobs, "enqueue">;
  entries: Pick<Entries, "find" | "change" | "assertVault" | "written">;
  contradictions: Pick<Contradictions, "add">;
  /** Whether vaults are also consolidated daily, without a request. */
  daily(): boolean;
}

const Payload = t.Object({
  vault: t.String(),
  /**
   * Limits the pass to entries that this user may change. Null with `all` false means the entries of a server without
   * accounts.
   */
  user_id: orNull(t.String()),
  all: t.Boolean(),
});

const PAGE = 500;
/** Most contradictions that one pass records. */
const MOST_FOUND = 500;

const giveWay = () => new Promise((done) => setImmediate(done));

export function createConsolidation(deps: ConsolidationDeps) {
  const { store, clock, jobs, entries, contradictions } = deps;
  const { statement } = store;

  /** Entries that are valid, neither superseded nor expired. Only the words to compare are held in memory. */
  async function comparedOf(vault: string, reader: Reader, signal: AbortSignal): Promise<Compared<string>[]> {
    const { where, values } = visibleTo(reader);
    const entries: Compared<string>[] = [];
    for (let after = ""; ; ) {
      signal.throwIfAborted();
      const rows = statement<Pick<EntryRow, "entry" | "title" | "content">>(
        `SELECT entry, title, content FROM memory_entries e WHERE vault = ? AND entry > ? AND ${where} AND problem IS NULL
         AND superseded_by IS NULL AND (expires_at IS NULL OR expires_at > ?) ORDER BY entry LIMIT ?`,
      ).all(vault, after, ...values, toTimestamp(clock.now()), PAGE);
      for (const row of rows) entries.push({ key: row.entry, words: stemSetOf(row) });
      if (rows.length < PAGE) return entries;
      after = rows.at(-1)!.entry;
      await giveWay();
    }
  }

  /** Orders two entries so that the one to keep comes first: a pinned one, else the longer one, else the newer one. */
  const inOrder = (a: EntryRow, b: EntryRow): [EntryRow, EntryRow] => {
    const better =
      Number(b.pinned) - Number(a.pinned) ||
      b.content.length - a.content.length ||
      (b.updated_at > a.updated_at ? 1 : -1);
    return better > 0 ? [b, a] : [a, b];
  };
  function merge(a: EntryRow, b: EntryRow, job: RunningJob): void {
    const [kept, other] = inOrder(a, b);
    const writer = { executionId: job.id, userId: job.userId ?? undefined };
    const tags = [...new Set([...kept.tags, ...other.tags])].slice(0, 20);
    const links = [...new Set([...kept.links, ...other.links])].filter((to) => to !== kept.entry).slice(0, 50);
    if (tags.length > kept.tags.length || links.length > kept.links.length)
      entries.change(kept, { tags, links }, writer);
    entries.change(other, { superseded_by: kept.entry }, writer);
  }

  /**
   * Merges a pair or records its contradiction. Both entries are read again, because an earlier merge or a person may
   * have changed them.
   * @returns what was done.
   */
  function judge(vault: string, keys: readonly [string, string], reader: Reader, job: RunningJob) {
    const now = toTimestamp(clock.now());
    const [a, b] = keys.map((entry) => {
      try {
        const row = entries.find(vault, entry, reader);
        const counts = row.problem === null && row.superseded_by === null;
        return counts && (row.expires_at === null || row.expires_at > now) ? row : undefined;
      } catch {
        return undefined;
      }
    });
    if (!a || !b || a.trusted !== b.trusted) return "none";
    if (saysTheSame(a, b)) {
      // Entries of different owners are never merged.
      if (a.owner_id !== b.owner_id || !mayChange(a.owner_id, reader)) return "none";
      merge(a, b, job);
      return "merged";
    }
    // Private entries of different users cannot contradict each other: each is about its own user's work.
    if (a.owner_id !== null && b.owner_id !== null && a.owner_id !== b.owner_id) return "none";
    const clash = findContradiction(a, b);
    if (!clash) return "none";
    const sides = { a: { entry: a.entry, says: clash.a }, b: { entry: b.entry, says: clash.b } };
    return contradictions.add({ vault, ...sides }) ? "contradiction" : "none";
  }

  const job = defineJob(
    "consolidate_memory",
    Payload,
    async ({ vault, user_id, all }, running) => {
      const reader: Reader = all ? { all: true } : { all: false, userId: user_id ?? undefined };
      const compared = await comparedOf(vault, reader, running.signal);
      const result = { entries: compared.length, merged: 0, contradictions: 0 };
      let passed = 0;
      for (const pair of nearPairs(compared)) {
        if (pair === undefined) {
          passed += 50;
          running.report({ percent: Math.min(99, (100 * passed) / Math.max(1, compared.length)), detail: "comparing" });
          await giveWay();
          running.signal.throwIfAborted();
          continue;
        }
        const found = judge(vault, pair, reader, running);
        if (found === "merged") result.merged++;
        if (found === "contradiction" && ++result.contradictions >= MOST_FOUND) break;
      }
      await entries.written();
      if (all) noteHeld(vault);
      return result;
    },
    { exclusive: ({ vault }) => vault },
  );

  /** A fingerprint of the vault's content, which changes with any entry. */
  const heldIn = (vault: string): string => {
    const digests = statement("SELECT digest FROM memory_entries WHERE vault = ? ORDER BY entry").pluck().all(vault);
    return Bun.hash(digests.join("\n")).toString(36);
  };
  const noteHeld = (vault: string, held = heldIn(vault)): void =>
    void store.write(() =>
      statement("INSERT OR REPLACE INTO memory_consolidations (vault, held, at) VALUES (?, ?, ?)").run(
        vault,
        held,
        toTimestamp(clock.now()),
      ),
    );
  const enqueue = (vault: string, reader: Reader, userId: string | undefined): Job => {
    const payload = { vault, user_id: reader.all ? null : (reader.userId ?? null), all: reader.all };
    return jobs.enqueue(job, payload, { key: JSON.stringify(payload), subject: vault, userId });
  };

  return {
    job,
    /**
     * Consolidates a vault in the background: all of it for an administrator, else the entries that the caller may
     * change.
     */
    start(vault: string, caller: Caller): Job {
      entries.assertVault(vault);
      return enqueue(vault, readerOf(caller), caller.userId);
    },
    /** Starts a pass on each vault that has changed and was not consolidated for a day. */
    due(): void {
      if (!deps.daily()) return;
      const before = toTimestamp(clock.now() - DAY_MS);
      const vaults = statement<string>("SELECT DISTINCT vault FROM memory_entries").pluck().all();
      for (const vault of vaults) {
        const last = statement<{ held: string; at: string }>(
          "SELECT held, at FROM memory_consolidations WHERE vault = ?",
        ).get(vault);
        // A vault that is seen for the first time waits a day, so that its agent can write without interference.
        if (!last) noteHeld(vault, "");
        else if (last.at < before && last.held !== heldIn(vault)) enqueue(vault, { all: true }, undefined);
      }
    },
  };
}
