/** Tables for people: a header and columns as wide as their content, within the terminal's width. */
import { fit, oneLine, padEnd, padStart, paint, type Style, countColumns as terminalColumns } from "./style.ts";

export interface Column<T> {
  head: string;
  of(item: T): string | number | null | undefined;
  /** Aligns the column to the right, for numbers. */
  right?: boolean;
  /** Whether the column shrinks when the terminal is narrower than the table. */
  shrinks?: boolean;
  /** Omits the column if it is empty in all rows. */
  optional?: boolean;
  style?(item: T): Style | undefined;
}

const GAP = "  ";
/** Least width of a column that shrinks. */
const LEAST = 8;
/** Width of a shrinking column without a terminal. Longer text is written in full and shifts only its own line. */
const WIDEST_IN_PIPE = 40;

/** The lines of a table, header first. @param width the table's maximum width; by default that of the terminal. */
export function tableLines<T>(
  all: readonly Column<T>[],
  items: readonly T[],
  width: number = terminalColumns(),
): string[] {
  const columns = all.filter(({ optional, of }) => !optional || items.some((item) => String(of(item) ?? "") !== ""));
  const cells = items.map((item) => columns.map((column) => oneLine(String(column.of(item) ?? ""))));
  const widths = widthsOf(columns, cells, width);
  // In a pipe no text is cut, so that a search finds all of it.
  const cut = (text: string, at: number) => (width === Number.POSITIVE_INFINITY ? text : fit(text, widths[at]!));
  const formatLine = (texts: readonly string[], styles: readonly (Style | undefined)[]) =>
    texts
      .map((text, at) => {
        const pad = columns[at]!.right ? padStart : padEnd;
        const padded = pad(cut(text, at), widths[at]!);
        return paint(styles[at], padded);
      })
      .join(GAP)
      .trimEnd();
  const head = formatLine(
    columns.map(({ head }) => head),
    columns.map(() => "dim"),
  );
  return [
    head,
    ...cells.map((row, at) =>
      formatLine(
        row,
        columns.map(({ style }) => style?.(items[at]!)),
      ),
    ),
  ];
}

function widthsOf<T>(columns: readonly Column<T>[], cells: readonly string[][], limit: number): number[] {
  const widths = columns.map(({ head }, at) => Math.max(head.length, ...cells.map((row) => Bun.stringWidth(row[at]!))));
  if (limit === Number.POSITIVE_INFINITY)
    return widths.map((width, at) => (columns[at]!.shrinks ? Math.min(width, WIDEST_IN_PIPE) : width));
  let excess = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1)) - limit;
  // The widest column shrinks first, so that a long text does not take space from a name.
  while (excess > 0) {
    const shrinking = columns.flatMap(({ shrinks }, at) => (shrinks && widths[at]! > LEAST ? [at] : []));
    if (shrinking.length === 0) break;
    const widest = shrinking.reduce((a, b) => (widths[b]! > widths[a]! ? b : a));
    widths[widest] = widths[widest]! - 1;
    excess--;
  }
  return widths;
}

/** Names and values, one pair per line. Pairs without a value are left out. */
export function fieldLines(fields: readonly (readonly [name: string, value: unknown])[]): string[] {
  const shown = fields.flatMap(([name, value]) => {
    const text = valueText(value);
    return text === "" ? [] : [[name, text] as const];
  });
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, text]) => {
    const [first = "", ...rest] = text.split("\n");
    const indent = " ".repeat(width + GAP.length);
    return [`${paint("dim", padEnd(name, width))}${GAP}${first}`, ...rest.map((line) => `${indent}${line}`)].join("\n");
  });
}

/** Formats a value of the API for people; empty text for no value. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return TIME.test(value) ? timeText(value) : value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return String(value);
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.join(", ");
  return JSON.stringify(value);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Formats a time of the API in local time: `2026-01-31 14:05`. */
export function timeText(time: string | null | undefined): string {
  if (!time) return "";
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return time;
  const padTwo = (value: number) => String(value).padStart(2, "0");
  return `${at.getFullYear()}-${padTwo(at.getMonth() + 1)}-${padTwo(at.getDate())} ${padTwo(at.getHours())}:${padTwo(at.getMinutes())}`;
}

const TIMES = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b/g;

/** Replaces the times in a sentence of the server with local times. */
export const localizeTimes = (text: string): string => text.replace(TIMES, timeText);

/** Formats a duration: `4.2 s`, `3:05`, `1:02:03`. */
export function spanText(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  const padTwo = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  return hours > 0 ? `${hours}:${padTwo(minutes)}:${padTwo(seconds % 60)}` : `${minutes}:${padTwo(seconds % 60)}`;
}

/** Formats a size in megabytes: `0.3 MB`. */
export const bytesText = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** Formats dollars; amounts below one dollar get four digits. */
export const costText = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 1 ? 4 : 2)}`;

/** The cost of work. Calls of a model without a price are only counted, since their cost is unknown. */
export interface Cost {
  cost_usd: number;
  calls_without_price: number;
}

/** For a table column: `no price`, or `over $0.12` if only some calls have a price. */
export function shortCostText({ cost_usd, calls_without_price }: Cost): string {
  if (calls_without_price === 0) return costText(cost_usd);
  return cost_usd === 0 ? "no price" : `over ${costText(cost_usd)}`;
}

/** `1 step`, `2 steps`. */
export const formatCount = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** For a line of text: `no price`, or `$0.12 and 3 calls without a price`. */
export function fullCostText({ cost_usd, calls_without_price }: Cost): string {
  if (calls_without_price === 0) return costText(cost_usd);
  if (cost_usd === 0) return "no price";
  const calls = formatCount(calls_without_price, "call");
  return `${costText(cost_usd)} and ${calls} without a price`;
}
