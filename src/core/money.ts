/**
 * US dollars as whole billionths, because integers add up exactly. An amount in dollars is exact to a billionth up to
 * four million; beyond that, only the stored integer is.
 */
const NANO = 1e9;

/** @returns billionths, rounded to the nearest. */
export const toNano = (usd: number): number => Math.round(usd * NANO);
export const toUsd = (nano: number): number => nano / NANO;

/** The exact decimal number, e.g. `0.000000125`; for exports. */
export function nanoText(nano: number): string {
  const digits = String(Math.abs(nano)).padStart(10, "0");
  const fraction = digits.slice(-9).replace(/(?<!0)0+$/, "");
  return `${nano < 0 ? "-" : ""}${digits.slice(0, -9)}${fraction === "" ? "" : `.${fraction}`}`;
}
