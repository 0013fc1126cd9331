/** When something with a schedule is due: the next and the last tick, and which ticks a blackout covers. */
import { Cron } from "croner";
import { invalidField, messageOf } from "./errors.ts";

/** Five fields of cron, or every N minutes counted from 1970-01-01T00:00Z. */
export type Schedule = string | { every_minutes: number; offset_minutes?: number };
export const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
export interface Blackout {
  /** HH:MM in the routine's time zone. */
  start: string;
  /** On the next day when it is not later than `start`. */
  end: string;
  /** Days on which it begins; every day when absent. */
  days?: (typeof DAYS)[number][];
}

export interface Plan {
  /** The first tick after that time; null when there is none. All times are ms since the epoch. */
  next(after: number): number | null;
  /** The last tick at or before that time. */
  last(until: number): number | null;
  /** Whether a blackout covers that time. */
  isBlackedOut(at: number): boolean;
  /** The first tick after that time that no blackout covers. */
  nextFree(after: number): number | null;
}

/** What a plan is made from. */
export interface Times {
  schedule: Schedule;
  timezone: string;
  blackouts: readonly Blackout[];
}

/** The same names as plain strings, for looking a word up. */
const WEEKDAYS: readonly string[] = DAYS;
const SECOND = 1_000;
const MINUTE = 60_000;
const DAY = 1_440;
const WEEK = 7 * DAY;
/** How far, in minutes, a change of the clocks may move a blackout's end. */
const CLOCK_CHANGE = 120;
/** How many ticks are tried to find one outside the blackouts. */
const TRIES = 200;
const CRON_FIELDS = ["minute", "hour", "day of the month", "month", "day of the week"] as const;

type Ticks = Pick<Plan, "next" | "last">;

/** @throws Error when croner cannot read it. */
function cronTicks(pattern: string, timezone: string): Ticks {
  const cron = new Cron(pattern, { timezone });
  const toMs = (date: Date | null | undefined): number | null => date?.getTime() ?? null;
  return {
    next: (after) => toMs(cron.nextRun(new Date(after))),
    // croner finds runs before the second of its argument, so the argument is one second later.
    last: (until) => toMs(cron.previousRuns(1, new Date(Math.floor(until / SECOND) * SECOND + SECOND))[0]),
  };
}

function intervalTicks({ every_minutes, offset_minutes = 0 }: Exclude<Schedule, string>): Ticks {
  const [every, offset] = [every_minutes * MINUTE, offset_minutes * MINUTE];
  const last = (until: number) => Math.floor((until - offset) / every) * every + offset;
  return { last, next: (after) => last(after) + every };
}

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

/** An array of the week's minutes from Sunday 00:00: 1 where a blackout covers the minute. */
function weekOf(blackouts: readonly Blackout[]): Uint8Array {
  const week = new Uint8Array(WEEK);
  for (const { start, end, days = DAYS } of blackouts)
    for (const day of days) {
      const from = DAYS.indexOf(day) * DAY + minutesOf(start);
      const length = (minutesOf(end) - minutesOf(start) + DAY) % DAY || DAY;
      for (let minute = from; minute < from + length; minute++) week[minute % WEEK] = 1;
    }
  return week;
}

/** Minutes from that time until no blackout covers it, by the clock of the time zone; 0 when none covers it. */
function blackoutLeft(timezone: string, blackouts: readonly Blackout[]): (at: number) => number {
  if (blackouts.length === 0) return () => 0;
  const week = weekOf(blackouts);
  const clock = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  return (at) => {
    const parts = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, value]));
    const day = WEEKDAYS.indexOf(parts["weekday"]!.toLowerCase());
    const now = day * DAY + Number(parts["hour"]) * 60 + Number(parts["minute"]);
    let left = 0;
    while (left < WEEK && week[(now + left) % WEEK] === 1) left++;
    return left;
  };
}

export function planOf({ schedule, timezone, blackouts }: Times): Plan {
  const ticks = typeof schedule === "string" ? cronTicks(schedule, timezone) : intervalTicks(schedule);
  const left = blackoutLeft(timezone, blackouts);
  return {
    ...ticks,
    isBlackedOut: (at) => left(at) > 0,
    nextFree(after) {
      let at = ticks.next(after);
      for (let tries = 0; at !== null && tries < TRIES; tries++) {
        const minutes = left(at);
        if (minutes === 0) return at;
        if (minutes === WEEK) return null;
        at = ticks.next(minutes > CLOCK_CHANGE + 1 ? at + (minutes - CLOCK_CHANGE) * MINUTE : at);
      }
      return null;
    },
  };
}

/**
 * Makes the plan for a schedule that a person wrote, and checks it.
 * @param at pointer to the object that holds the fields, e.g. `/backup`.
 * @throws Problem 422 when the schedule cannot be read or is never due.
 */
export function checkedPlan(times: Times, now: number, at = ""): Plan {
  const { schedule, timezone } = times;
  assertZone(timezone, at);
  if (typeof schedule !== "string" && (schedule.offset_minutes ?? 0) >= schedule.every_minutes)
    throw invalidField(`${at}/schedule/offset_minutes`, "Must be less than every_minutes");
  if (typeof schedule === "string" && schedule.trim().split(/\s+/).length !== CRON_FIELDS.length)
    throw invalidField(`${at}/schedule`, `Takes five fields: ${CRON_FIELDS.join(", ")}`);
  const plan = parsePlan(times, at);
  if (plan.next(now) === null) throw invalidField(`${at}/schedule`, "There is no such day: it would never be due");
  if (plan.nextFree(now) === null)
    throw invalidField(`${at}/blackouts`, "They cover every time at which it would be due");
  return plan;
}

function parsePlan(times: Times, at: string): Plan {
  try {
    return planOf(times);
  } catch (error) {
    throw invalidField(
      `${at}/schedule`,
      explainUnreadable(times) ?? `Cannot be read: ${messageOf(error).slice(0, 200)}`,
    );
  }
}

/** Croner counts fields and days from 0. So each field is tried on its own, to name the one that is wrong. */
function explainUnreadable({ schedule, timezone }: Times): string | undefined {
  if (typeof schedule !== "string") return undefined;
  const fields = schedule.trim().split(/\s+/);
  const wrong = fields.findIndex((field, at) => {
    try {
      cronTicks(CRON_FIELDS.map((_, place) => (place === at ? field : "*")).join(" "), timezone);
      return false;
    } catch {
      return true;
    }
  });
  return wrong === -1 ? undefined : `The ${CRON_FIELDS[wrong]} cannot be read: ${fields[wrong]}`;
}

function assertZone(timezone: string, at: string): void {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: timezone });
  } catch {
    throw invalidField(`${at}/timezone`, "There is no such time zone; write one such as Europe/Berlin, or UTC");
  }
}
