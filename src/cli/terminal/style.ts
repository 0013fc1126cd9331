/** Styles for terminals. Colors and cursor movements are used only if the output is a terminal that supports them. */

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

const CODES: Readonly<Record<Style, readonly [on: number, off: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** Whether written lines can be redrawn: the output is a terminal that can move its cursor. */
export const isLive = (): boolean => process.stdout.isTTY === true && process.env["TERM"] !== "dumb";

const hasColours = (): boolean => isLive() && !process.env["NO_COLOR"];

export function paint(style: Style | undefined, text: string): string {
  if (style === undefined || !hasColours()) return text;
  const [on, off] = CODES[style];
  return `\x1b[${on}m${text}\x1b[${off}m`;
}

/** Columns of the terminal; infinite if the output is no terminal. */
export const countColumns = (): number =>
  process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;

/**
 * Removes what a terminal would act on from outside text: C0 and C1 control characters, escape sequences, and marks
 * that change the direction of writing. Line ends and tabs stay.
 */
export const stripControls = (text: string): string =>
  text
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)?/g, "")
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");

const OWN_CODES = new RegExp(`(\\x1b\\[(?:${[...new Set(Object.values(CODES).flat())].join("|")})m)`);

/** Like `stripControls`, but keeps the colors of `paint`. A last check for lines that contain both. */
export const ownColoursOnly = (text: string): string =>
  text
    .split(OWN_CODES)
    .map((part, at) => (at % 2 === 1 ? part : stripControls(part)))
    .join("");

/** Like `stripControls`, with all text on one line. */
export const oneLine = (text: string): string =>
  stripControls(text)
    .replace(/(?<!\s)\s*\n\s*/g, " ")
    .replaceAll("\t", " ")
    .trim();

/** Cuts text to a width in columns and ends it with an ellipsis. The text's colors are kept. */
export function fit(text: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY || Bun.stringWidth(text) <= width) return text;
  return width <= 1 ? "…".slice(0, Math.max(0, width)) : Bun.sliceAnsi(text, 0, width, { ellipsis: "…" });
}

export const padEnd = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - Bun.stringWidth(text)));
export const padStart = (text: string, width: number): string =>
  " ".repeat(Math.max(0, width - Bun.stringWidth(text))) + text;
