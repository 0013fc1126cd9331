/**
 * Rates how well a value of one library type fits a parameter of another: -1 not at all, 0 perhaps, otherwise higher
 * the nearer the types are. Widening a number is nearer than boxing it, and every value fits a root type.
 */
import type { Conversions } from "../../language/library.ts";

const EXACT = 10;
const SAME_SCALAR = 8;
const SUPERTYPE = 5;
const BOXED = 4;

/** Whether a library type accepts only its own values. */
export function isClosed({ scalars, closed, boxes }: Conversions, name: string): boolean {
  return scalars.has(name) || closed.has(name) || boxes.has(name);
}

export function libraryFit(by: Conversions, given: string, wanted: string): number {
  if (wanted === given) return EXACT;
  if (by.opaque?.has(wanted) || by.opaque?.has(given)) return 0;
  if (given === "null") return by.scalars.has(wanted) ? -1 : by.roots.has(wanted) ? 0 : 1;
  if (by.roots.has(wanted)) return 1;
  if (by.containers.has(given) && by.containers.has(wanted)) return -1;
  const held = by.boxes.get(given);
  if (held !== undefined) return scalarFit(by, held, wanted) - 1;
  if (by.scalars.has(given)) return scalarFit(by, given, wanted);
  if (by.supertypes.get(given)?.includes(wanted)) return SUPERTYPE;
  if (isClosed(by, wanted)) return -1;
  return isClosed(by, given) && !by.interfaces?.test(wanted) ? -1 : 0;
}

/** Rates how well a scalar fits. `wanted` may be a class that boxes scalars. */
function scalarFit(by: Conversions, given: string, wanted: string): number {
  if (by.scalars.has(wanted)) return numberFit(by, given, wanted);
  const held = by.boxes.get(wanted);
  if (held !== undefined) return held === given ? BOXED : -1;
  for (const [box, scalar] of by.boxes) {
    const rank = scalar === given ? (by.supertypes.get(box)?.indexOf(wanted) ?? -1) : -1;
    if (rank >= 0) return Math.max(2, BOXED - 1 - rank);
  }
  return by.interfaces?.test(wanted) ? 0 : -1;
}

/** Rates how well one scalar fits another. */
function numberFit(by: Conversions, given: string, wanted: string): number {
  if (wanted === given) return SAME_SCALAR;
  const from = by.numbers.get(given);
  const to = by.numbers.get(wanted);
  if (from === undefined || to === undefined) return -1;
  if (from < 0 || to < 0) return by.fractions.has(wanted) === by.fractions.has(given) ? 1 : 0;
  return to > from ? SAME_SCALAR + 1 - (to - from) : -1;
}
