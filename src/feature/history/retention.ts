/** Removes runs, chats and transcripts by age and size, a limited number at a time. What people chose to keep stays. */
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { LIMITS } from "../../core/limits.ts";
import type { DiskAsker, OldItem } from "../../store/disk-worker.ts";
import type { Core } from "../feature.ts";
import type { Settings } from "../settings/model.ts";
import type { RetentionPreview } from "./model.ts";
import type { History } from "./service.ts";

interface RetentionDeps extends Pick<Core, "store" | "clock"> {
  history: Pick<History, "removeOld" | "isRemovingOld">;
  disk: DiskAsker;
  readSettings(): Settings["retention"];
}

export type RetentionService = ReturnType<typeof createRetention>;

const GB = 1_000_000_000;
/** Limit of runs or chats in one deletion. */
const MOST = LIMITS.pruneRows;
const NOT_KEPT = (table: string) => `NOT EXISTS (SELECT 1 FROM kept_history WHERE kept_history.id = ${table}.id)`;
const OLD = {
  runs: { from: "runs", when: "finished_at", where: `finished_at < @before AND ${NOT_KEPT("runs")}` },
  chats: {
    from: "sessions",
    when: "last_activity_at",
    where: `last_activity_at < @before AND run_id IS NULL AND parent_id IS NULL AND ended_at IS NOT NULL AND ${NOT_KEPT("sessions")}`,
  },
  /**
   * Transcripts are removed from runs and the like, but not from chats: a chat without its messages would be worthless.
   */
  transcripts: {
    from: "sessions",
    when: "ended_at",
    where: `ended_at < @before AND kind <> 'chat' AND message_count > 0 AND ${NOT_KEPT("sessions")}
      AND (run_id IS NULL OR NOT EXISTS (SELECT 1 FROM kept_history WHERE kept_history.id = sessions.run_id))`,
  },
} as const;

export function createRetention({ store, clock, history, disk, readSettings }: RetentionDeps) {
  const { statement } = store;
  const toCutoff = (days: number): string => toTimestamp(clock.now() - days * DAY_MS);

  function olderThan(of: "runs" | "chats", time: number): OldItem[] {
    const { from, when, where } = OLD[of];
    return statement<OldItem>(
      `SELECT '${of === "runs" ? "run" : "session"}' AS kind, id, project_id FROM ${from} WHERE ${where} ORDER BY ${when} LIMIT ${MOST}`,
    ).all({ before: toTimestamp(time) });
  }
  const removeAll = (items: OldItem[], subject: string): void => {
    if (items.length > 0 && !history.isRemovingOld()) history.removeOld(items, subject);
  };
  async function preview(
    of: keyof typeof OLD,
    days: number | null,
    gb: number | null,
  ): Promise<RetentionPreview["runs"]> {
    const { from, when, where } = OLD[of];
    const limits = { limit_days: days, limit_gb: gb };
    if (days === null) return { count: 0, oldest: null, bytes: 0, ...limits };
    const time = toCutoff(days);
    const found = statement<{ count: number; oldest: string | null }>(
      `SELECT count(*) AS count, min(${when}) AS oldest FROM ${from} WHERE ${where}`,
    ).get({ before: time })!;
    const ids = `SELECT id FROM ${from} WHERE ${where}`;
    const bytes = found.count === 0 ? 0 : await disk.old({ of, ids, before: time });
    return { ...found, bytes, ...limits };
  }
  return {
    /** Deletes runs or chats that ended before that time, ms since the epoch. */
    removeOld: (of: "runs" | "chats", time: number): void => removeAll(olderThan(of, time), `${of} by age`),
    /**
     * Removes the messages of sessions that ended before that time; their results stay. @returns whether there may be
     * more.
     */
    removeTranscripts(time: number): boolean {
      const ids = JSON.stringify(
        statement<string>(`SELECT id FROM sessions WHERE ${OLD.transcripts.where} LIMIT 20`)
          .pluck()
          .all({ before: toTimestamp(time) }),
      );
      const among = "session_id IN (SELECT value FROM json_each(?))";
      return store.write(() => {
        if (ids === "[]") return false;
        for (const table of ["tool_calls", "messages"]) statement(`DELETE FROM ${table} WHERE ${among}`).run(ids);
        statement("UPDATE sessions SET message_count = 0 WHERE id IN (SELECT value FROM json_each(?))").run(ids);
        return true;
      });
    },
    /** Deletes the oldest runs and chats until the rest is smaller than the settings allow. */
    async removeTooLarge(signal: AbortSignal): Promise<void> {
      const { runs_gb, chats_gb } = readSettings();
      for (const [of, gb] of [
        ["runs", runs_gb],
        ["chats", chats_gb],
      ] as const) {
        if (gb === null || history.isRemovingOld()) continue;
        const { items } = await disk.tooLarge(of, gb * GB, MOST, signal);
        removeAll(items, `${of} by size`);
      }
    },
    /** What would be removed with the settings, or with other numbers of days. */
    async preview(days: {
      runs_days?: number;
      chats_days?: number;
      transcripts_days?: number;
    }): Promise<RetentionPreview> {
      const own = readSettings();
      const answer = {
        runs: await preview("runs", days.runs_days ?? own.runs_days, own.runs_gb),
        chats: await preview("chats", days.chats_days ?? own.chats_days, own.chats_gb),
        transcripts: await preview("transcripts", days.transcripts_days ?? own.transcripts_days, null),
      };
      for (const of of ["runs", "chats"] as const) {
        const gb = answer[of].limit_gb;
        if (gb === null) continue;
        const { count, bytes } = await disk.tooLarge(of, gb * GB, 0);
        answer[of] = {
          ...answer[of],
          count: Math.max(answer[of].count, count),
          bytes: Math.max(answer[of].bytes, bytes),
        };
      }
      return answer;
    },
  };
}
