import { describe, expect, test } from "bun:test";
import { DAY_MS } from "./clock.ts";
import { isProblem } from "./errors.ts";
import { checkedPlan, type Plan, planOf, type Times } from "./schedule.ts";

const at = (text: string): number => Date.parse(text);
const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString().slice(0, 16));
const berlin = (schedule: Times["schedule"], blackouts: Times["blackouts"] = []) =>
  planOf({ schedule, timezone: "Europe/Berlin", blackouts });

function following(plan: Pick<Plan, "next">, after: string, count: number): (string | null)[] {
  const found: (string | null)[] = [];
  for (let time: number | null = at(after); found.length < count; ) {
    time = time === null ? null : plan.next(time);
    found.push(iso(time));
  }
  return found;
}

describe("a cron in a time zone", () => {
  test.each([
    // A time in the skipped hour is due once, as soon as the hour is over. A time in the repeated hour is due once.
    ["30 2 * * *", "2026-03-28T12:00Z", ["2026-03-29T01:00", "2026-03-30T00:30"]],
    ["30 2 * * *", "2026-10-24T12:00Z", ["2026-10-25T00:30", "2026-10-26T01:30"]],
    ["*/30 * * * *", "2026-03-29T00:15Z", ["2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30"]],
    ["*/30 * * * *", "2026-10-25T00:15Z", ["2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30"]],
    ["0 9 * * mon-fri", "2026-11-20T12:00Z", ["2026-11-23T08:00", "2026-11-24T08:00"]],
    ["0 0 29 2 *", "2026-01-01T00:00Z", ["2028-02-28T23:00", "2032-02-28T23:00"]],
  ])("%s after %s", (schedule, after, expected) => {
    expect(following(berlin(schedule), after, expected.length)).toEqual(expected);
  });

  test.each(["30 2 * * *", "*/30 * * * *", "0 3 * * *", "7 1-3 * * *"])(
    "%s: it finds the same backwards as forwards, over both changes of the clocks",
    (schedule) => {
      const plan = berlin(schedule);
      for (const day of ["2026-03-28T00:00Z", "2026-10-24T00:00Z"]) {
        const [start, end] = [at(day), at(day) + 3 * DAY_MS];
        const forwards: number[] = [];
        for (let time = plan.next(start); time !== null && time <= end; time = plan.next(time)) forwards.push(time);
        const backwards: number[] = [];
        for (let time = plan.last(end); time !== null && time > start; time = plan.last(time - 1)) backwards.push(time);
        expect(backwards.reverse().map(iso)).toEqual(forwards.map(iso));
      }
    },
  );

  test("a tick counts as the last one from its own millisecond on", () => {
    const plan = berlin("0 * * * *");
    expect(iso(plan.last(at("2026-11-22T10:00:00.000Z")))).toBe("2026-11-22T10:00");
    expect(iso(plan.last(at("2026-11-22T10:00:00.500Z")))).toBe("2026-11-22T10:00");
    expect(iso(plan.last(at("2026-11-22T09:59:59.999Z")))).toBe("2026-11-22T09:00");
  });
});

test("an interval counts from the beginning of 1970, with its offset", () => {
  const plan = planOf({ schedule: { every_minutes: 45, offset_minutes: 10 }, timezone: "UTC", blackouts: [] });
  expect(following(plan, "1970-01-01T00:00Z", 3)).toEqual(["1970-01-01T00:10", "1970-01-01T00:55", "1970-01-01T01:40"]);
  expect(iso(plan.last(at("1970-01-01T00:55Z")))).toBe("1970-01-01T00:55");
  expect(iso(plan.last(at("1970-01-01T00:54Z")))).toBe("1970-01-01T00:10");
});

describe("blackouts", () => {
  const covers = (blackout: Times["blackouts"][number], time: string) =>
    berlin("0 * * * *", [blackout]).isBlackedOut(at(time));

  test("follow the clocks of the routine's zone, first minute included and end excluded", () => {
    const night = { start: "22:00", end: "06:00" };
    expect(covers(night, "2026-11-22T20:59Z")).toBe(false);
    expect(covers(night, "2026-11-22T21:00Z")).toBe(true);
    expect(covers(night, "2026-11-23T04:59Z")).toBe(true);
    expect(covers(night, "2026-11-23T05:00Z")).toBe(false);
    // In summer the same night begins an hour earlier in UTC.
    expect(covers(night, "2026-07-22T20:00Z")).toBe(true);
  });

  test("begin on the days named and end on the next; the same time twice is a whole day", () => {
    const saturday = { start: "23:00", end: "02:00", days: ["sat" as const] };
    expect(covers(saturday, "2026-11-21T22:30Z")).toBe(true);
    expect(covers(saturday, "2026-11-22T00:30Z")).toBe(true);
    expect(covers(saturday, "2026-11-22T22:30Z")).toBe(false);
    const day = { start: "00:00", end: "00:00", days: ["sun" as const] };
    expect([covers(day, "2026-11-22T22:59Z"), covers(day, "2026-11-22T23:00Z")]).toEqual([true, false]);
  });

  test("the next free tick is the first that none covers, however many they cover before", () => {
    const office = { start: "08:00", end: "08:00", days: ["mon", "tue", "wed", "thu", "fri"] as const };
    const plan = berlin("* * * * *", [{ ...office, days: [...office.days] }]);
    expect(iso(plan.nextFree(at("2026-11-23T12:00Z")))).toBe("2026-11-28T07:00");
    // The blackout ends after a change of the clocks.
    const spring = berlin("*/10 * * * *", [{ start: "12:00", end: "06:00" }]);
    expect(iso(spring.nextFree(at("2026-03-28T12:00Z")))).toBe("2026-03-29T04:00");
    const autumn = berlin("*/10 * * * *", [{ start: "12:00", end: "06:00" }]);
    expect(iso(autumn.nextFree(at("2026-10-24T12:00Z")))).toBe("2026-10-25T05:00");
  });
});

describe("what is refused", () => {
  const times = (part: Partial<Times>): Times => ({ schedule: "0 5 * * *", timezone: "UTC", blackouts: [], ...part });
  test.each<[string, Partial<Times>]>([
    ["/schedule", { schedule: "0 0 30 2 *" }],
    ["/schedule", { schedule: "61 * * * *" }],
    ["/schedule", { schedule: "* * * * * *" }],
    ["/schedule", { schedule: "* * * *" }],
    ["/schedule", { schedule: "@daily    " }],
    ["/schedule", { schedule: "a b c d e" }],
    ["/schedule/offset_minutes", { schedule: { every_minutes: 5, offset_minutes: 5 } }],
    ["/timezone", { timezone: "Mars/Olympus" }],
    ["/timezone", { timezone: "Europe/" }],
    ["/blackouts", { blackouts: [{ start: "04:00", end: "06:00" }] }],
    ["/blackouts", { schedule: "* * * * *", blackouts: [{ start: "00:00", end: "00:00" }] }],
  ])("%s for %j", (pointer, part) => {
    let problem: unknown;
    try {
      checkedPlan(times(part), at("2026-11-22T00:00Z"));
    } catch (error) {
      problem = error;
    }
    expect(isProblem(problem) && [problem.status, problem.extras.errors?.[0]?.pointer]).toEqual([422, pointer]);
  });

  test.each([
    ["61 9 * * *", "The minute cannot be read: 61"],
    ["0 9 32 * *", "The day of the month cannot be read: 32"],
    ["0 9 * * mon-fry", "The day of the week cannot be read: mon-fry"],
  ])("that cannot be read names the field as it was written: %s", (schedule, words) => {
    expect(() => checkedPlan({ schedule, timezone: "UTC", blackouts: [] }, at("2026-11-22T00:00Z"))).toThrow(words);
  });
});
