/** Formats and parses the times of a routine. */
import type { Schemas } from "../../api/client.ts";

type Routine = Schemas["PulseRoutine"];
type Schedule = Routine["schedule"];
type Blackout = Routine["blackouts"][number];

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** A schedule in words: `Every 30 minutes`, `Weekdays at 09:00`; else the cron expression itself. */
export function scheduleText(schedule: Schedule): string {
  if (typeof schedule !== "string") {
    const { every_minutes, offset_minutes = 0 } = schedule;
    const every = every_minutes === 1 ? "Every minute" : `Every ${every_minutes} minutes`;
    return offset_minutes > 0 ? `${every}, ${offset_minutes} later` : every;
  }
  const [minute = "", hour = "", date, month, day = ""] = schedule.trim().split(/\s+/);
  const plain = /^\d{1,2}$/.test(minute) && /^\d{1,2}$/.test(hour) && date === "*" && month === "*";
  if (!plain) return schedule;
  const at = `at ${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (day === "*") return `Every day ${at}`;
  if (/^(mon-fri|1-5)$/i.test(day)) return `Weekdays ${at}`;
  return /^[a-z,-]+$/i.test(day) ? `${day.charAt(0).toUpperCase()}${day.slice(1)} ${at}` : schedule;
}

export const blackoutText = ({ start, end, days }: Blackout): string =>
  `${start}-${end}${days ? ` ${days.join(",")}` : ""}`;

/** Parses one blackout per line: `22:00-06:00` or `22:00-06:00 sat,sun`. @throws Error that names the invalid line. */
export function blackoutsOf(text: string): Blackout[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter(Boolean).map((line) => {
    const [, start, end, words] = /^(\d\d:\d\d)\s*-\s*(\d\d:\d\d)(?:\s+([a-z,][a-z, ]*))?$/i.exec(line) ?? [];
    const days = words
      ?.toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean);
    const known = days?.flatMap((day) => DAYS.filter((one) => one === day));
    if (!start || !end || known?.length !== days?.length)
      throw new Error(`“${line}” cannot be read. Write 22:00-06:00, or 22:00-06:00 sat,sun.`);
    return { start, end, ...(known ? { days: known } : {}) };
  });
}

/** The time zone of this browser. */
export const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
