/** Formats a log line for people: time, level, what happened, and what it is about. */

import { isObject, membersOf } from "./is-object.ts";
import { ownJson } from "./own-json.ts";

const LEVELS: Readonly<Record<number, readonly [word: string, colour: number]>> = {
  20: ["debug", 2],
  30: ["info", 36],
  40: ["warn", 33],
  50: ["ERROR", 31],
  60: ["FATAL", 31],
};
/** Longer values are cut. */
const VALUE_CHARACTERS = 300;

/**
 * @param line one JSON object as the logger writes it. @returns the text with its line end; a line that is not JSON is
 *   unchanged.
 */
export function logText(line: string, colours: boolean): string {
  let entry: Record<string, unknown>;
  try {
    entry = membersOf(ownJson<unknown>(line));
  } catch {
    return line;
  }
  const { level, time, msg, err, ...rest } = entry;
  const [word, colour] = LEVELS[Number(level)] ?? ["log", 2];
  const paint = (code: number, text: string) => (colours ? `\x1b[${code}m${text}\x1b[0m` : text);
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${valueText(value)}`);
  const why = isObject(err) ? [errorText(err, Number(level))] : [];
  const at = typeof time === "string" ? clockTime(time) : "";
  const about = [...why, ...fields].join("  ");
  return `${paint(2, at)} ${paint(colour, word.padEnd(5))} ${oneLine(String(msg ?? ""))}${about ? `  ${paint(2, about)}` : ""}\n`;
}

/** Local time of day. */
const clockTime = (time: string): string => new Date(time).toTimeString().slice(0, 8);

/** An unexpected error is shown with its stack. */
function errorText({ message, stack, code }: Record<string, unknown>, level: number): string {
  if (level >= 50 && typeof stack === "string" && code === undefined)
    return `\n  ${stripControls(stack).replaceAll("\n", "\n  ")}`;
  return oneLine(String(message ?? ""));
}

function valueText(value: unknown): string {
  const text = oneLine(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  const cut = text.length > VALUE_CHARACTERS ? `${text.slice(0, VALUE_CHARACTERS - 1)}…` : text;
  return /\s/.test(cut) && typeof value === "string" ? JSON.stringify(cut) : cut;
}

/** Names and messages come from outside: control characters in them are removed. */
const stripControls = (text: string): string => text.replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g, "");
const oneLine = (text: string): string => stripControls(text.replace(/(?<!\s)\s*\n\s*/g, " "));
