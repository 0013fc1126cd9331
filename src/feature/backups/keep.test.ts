/** The rule for removing old backups, applied to two years of backups. */
import { expect, test } from "bun:test";
import { DAY_MS } from "../../core/clock.ts";
import { pickExpendable } from "./keep.ts";

const at = (text: string) => ({ at: Date.parse(text) });
const rule = (keep_daily: number, keep_weekly: number, keep_monthly: number) => ({
  keep_daily,
  keep_weekly,
  keep_monthly,
});
const listKept = (all: { at: number }[], of: ReturnType<typeof rule>) => {
  const gone = new Set(pickExpendable(all, of));
  return all.filter((one) => !gone.has(one)).map((one) => new Date(one.at).toISOString().slice(0, 10));
};

test("the last of each day, ISO week and month stays, as many as the rule says", () => {
  const daily = Array.from({ length: 730 }, (_, day) => ({ at: Date.parse("2024-01-01T03:00:00Z") + day * DAY_MS }));
  expect(listKept(daily, rule(3, 0, 0))).toEqual(["2025-12-28", "2025-12-29", "2025-12-30"]);
  expect(listKept(daily, rule(0, 3, 0))).toEqual(["2025-12-21", "2025-12-28", "2025-12-30"]);
  expect(listKept(daily, rule(0, 0, 3))).toEqual(["2025-10-31", "2025-11-30", "2025-12-30"]);
  expect(listKept(daily, rule(7, 4, 6))).toHaveLength(7 + 2 + 5);
});

test("the newest stays in any case, of several on a day only the last, and days without one do not count", () => {
  const some = [at("2026-01-01T01:00:00Z"), at("2026-03-01T01:00:00Z"), at("2026-03-01T23:00:00Z")];
  expect(pickExpendable(some, rule(0, 0, 0))).toEqual([some[1]!, some[0]!]);
  expect(pickExpendable(some, rule(2, 0, 0))).toEqual([some[1]!]);
  expect(pickExpendable([], rule(7, 4, 6))).toEqual([]);
});
