/** Times in queries, and the buckets of a history. Days and months are in UTC. */
import { DAY_MS, HOUR_MS, toTimestamp } from "../../core/clock.ts";
import { invalidField } from "../../core/errors.ts";
import type { Granularity } from "./model.ts";

const MAX_BUCKETS = 2_000;

export const startOfDay = (ms: number): number => ms - (((ms % DAY_MS) + DAY_MS) % DAY_MS);
export function startOfMonth(ms: number, months = 0): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1);
}

function startOf(granularity: Granularity, ms: number): number {
  if (granularity === "month") return startOfMonth(ms);
  return granularity === "day" ? startOfDay(ms) : Math.floor(ms / HOUR_MS) * HOUR_MS;
}
const advance = (granularity: Granularity, start: number): number =>
  granularity === "month" ? startOfMonth(start, 1) : start + (granularity === "day" ? DAY_MS : HOUR_MS);

/** Default beginning of a history: a day of hours, thirty days, or a year of months. */
export function defaultFrom(granularity: Granularity, to: number): number {
  if (granularity === "month") return startOfMonth(to - 1, -11);
  return granularity === "day" ? startOfDay(to - 1) - 29 * DAY_MS : to - DAY_MS;
}

/**
 * Starts and ends of the buckets that cover [from, to), in order. The outer buckets are whole.
 * @throws Problem 422 when there are more than MAX_BUCKETS or the period is reversed.
 */
export function bucketsOf(granularity: Granularity, from: number, to: number): { start: number; end: number }[] {
  if (to <= from) throw invalidField("to", "Must be later than from");
  const buckets: { start: number; end: number }[] = [];
  for (let start = startOf(granularity, from); start < to; start = advance(granularity, start)) {
    if (buckets.length >= MAX_BUCKETS)
      throw invalidField("from", `More than ${MAX_BUCKETS} ${granularity}s; ask for fewer`);
    buckets.push({ start, end: advance(granularity, start) });
  }
  return buckets;
}

/** Number of characters of a stored time that identify its bucket: `2026-05-01T13`, `2026-05-01`, `2026-05`. */
export const PREFIX: Record<Granularity, number> = { hour: 13, day: 10, month: 7 };
export const prefixOf = (granularity: Granularity, start: number): string =>
  toTimestamp(start).slice(0, PREFIX[granularity]);
