/** Tables for people: a head, columns as wide as what is in them, no wider than the terminal. */
import { fit, oneLine, padEnd, padStart, paint, type Style, columns as terminalColumns } from "./style.ts";

export interface Column<T> {
  head: string;
  of(item: T): string | number | null | undefined;
  /** For numbers. */
  right?: boolean;
  /** Shrinks when the terminal is narrower than the table. */
  shrinks?: boolean;
  /** Left out when it is empty for all. */
  optional?: boolean;
  style?(item: T): Style | undefined;
}

const GAP = "  ";
/** What a column that shrinks keeps. */
const LEAST = 8;
/** Columns of a shrinking column where there is no terminal: a longer text is written whole and moves only its own line. */
const WIDEST_IN_PIPE = 40;

/** The lines of a table, head first. @param width columns to stay in; the terminal's unless given. */
export function tableLines<T>(
  all: readonly Column<T>[],
  items: readonly T[],
  width: number = terminalColumns(),
): string[] {
  const columns = all.filter(({ optional, of }) => !optional || items.some((item) => String(of(item) ?? "") !== ""));
  const cells = items.map((item) => columns.map((column) => oneLine(String(column.of(item) ?? ""))));
  const widths = widthsOf(columns, cells, width);
  // In a pipe nothing is cut, so that a search finds the whole text.
  const cut = (text: string, at: number) => (width === Number.POSITIVE_INFINITY ? text : fit(text, widths[at]!));
  const line = (texts: readonly string[], styles: readonly (Style | undefined)[]) =>
    texts
      .map((text, at) => {
        const pad = columns[at]!.right ? padStart : padEnd;
        const padded = pad(cut(text, at), widths[at]!);
        return paint(styles[at], padded);
      })
      .join(GAP)
      .trimEnd();
  const head = line(
    columns.map(({ head }) => head),
    columns.map(() => "dim"),
  );
  return [
    head,
    ...cells.map((row, at) =>
      line(
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
  // The widest column shrinks first, so that a long text does not take the room of a name.
  while (excess > 0) {
    const shrinking = columns.flatMap(({ shrinks }, at) => (shrinks && widths[at]! > LEAST ? [at] : []));
    if (shrinking.length === 0) break;
    const widest = shrinking.reduce((a, b) => (widths[b]! > widths[a]! ? b : a));
    widths[widest] = widths[widest]! - 1;
    excess--;
  }
  return widths;
}

/** Names and values below each other; what has no value is left out. */
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

/** A value of the API in words; empty for nothing. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return TIME.test(value) ? timeText(value) : value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return String(value);
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.join(", ");
  return JSON.stringify(value);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** A time of the API in local time: `2026-01-31 14:05`. */
export function timeText(time: string | null | undefined): string {
  if (!time) return "";
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return time;
  const two = (value: number) => String(value).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

const TIMES = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b/g;

/** A sentence of the server with its times in local time, as all other times are shown. */
export const localizeTimes = (text: string): string => text.replace(TIMES, timeText);

/** A span of time: `4.2 s`, `3:05`, `1:02:03`. */
export function spanText(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** A size in megabytes: `0.3 MB`. */
export const bytesText = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** Dollars: four digits where there is less than one. */
export const costText = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 1 ? 4 : 2)}`;

/** What work has cost: calls cost something that nobody knows where their model has no price. */
export interface Cost {
  cost_usd: number;
  calls_without_price: number;
}

/** For a column: `no price`, or `over $0.12` where only some calls have a price. */
export function shortCostText({ cost_usd, calls_without_price }: Cost): string {
  if (calls_without_price === 0) return costText(cost_usd);
  return cost_usd === 0 ? "no price" : `over ${costText(cost_usd)}`;
}

/** For a line: `no price`, or `$0.12 and 3 calls without a price`. */
export function fullCostText({ cost_usd, calls_without_price }: Cost): string {
  if (calls_without_price === 0) return costText(cost_usd);
  if (cost_usd === 0) return "no price";
  const calls = calls_without_price === 1 ? "1 call" : `${calls_without_price} calls`;
  return `${costText(cost_usd)} and ${calls} without a price`;
}
