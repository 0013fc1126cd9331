/**
 * Decides which scheduled backups to remove. The last backup of each kept day, week and month stays, and the newest
 * always.
 */
import { DAY_MS } from "../../core/clock.ts";
import type { Settings } from "../settings/model.ts";

export type KeepRule = Pick<Settings["backup"], "keep_daily" | "keep_weekly" | "keep_monthly">;

/** Days to add so that weeks begin on a Monday: the Monday of 1970-01-01's week is day -3. */
const MONDAY = 3;

/**
 * @param backups `at`: when each backup was begun, ms since the epoch. Days are UTC. @returns the backups to remove.
 */
export function pickExpendable<T extends { at: number }>(backups: readonly T[], rule: KeepRule): T[] {
  const newestFirst = [...backups].sort((a, b) => b.at - a.at);
  const kept = new Set(newestFirst.slice(0, 1));
  const keepLastOf = (count: number, periodOf: (at: number) => string | number): void => {
    const periods = new Set<string | number>();
    for (const one of newestFirst) {
      const period = periodOf(one.at);
      if (periods.has(period)) continue;
      if (periods.size === count) return;
      periods.add(period);
      kept.add(one);
    }
  };
  const dayOf = (at: number) => Math.floor(at / DAY_MS);
  keepLastOf(rule.keep_daily, dayOf);
  keepLastOf(rule.keep_weekly, (at) => Math.floor((dayOf(at) + MONDAY) / 7));
  keepLastOf(rule.keep_monthly, (at) => new Date(at).toISOString().slice(0, 7));
  return newestFirst.filter((one) => !kept.has(one));
}
