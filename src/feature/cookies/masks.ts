/**
 * Masks the values of granted cookies in everything that is stored and shown, from the grant until the server stops.
 */
import { conflict } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Masking } from "../../core/masking.ts";
import { takeTurns } from "../../core/turns.ts";
import type { Cookie } from "./netscape.ts";

/** Shorter values are settings such as `en-US`, or words; masking them would blank out ordinary text. */
const MIN_MASKED_COOKIE = 12;

export function createCookieMasks(masking: Pick<Masking, "add">) {
  const byOwner = new Map<string | undefined, Set<string>>();
  const knownTo = (ownerId: string | undefined): Set<string> => {
    const known = byOwner.get(ownerId) ?? new Set();
    byOwner.set(ownerId, known);
    return known;
  };
  const newTo = (known: Set<string>, cookies: readonly Cookie[]): string[] => {
    const values = new Set(cookies.map(({ value }) => value));
    return [...values].filter((value) => value.length >= MIN_MASKED_COOKIE && !known.has(value));
  };
  const add = (known: Set<string>, value: string): void => {
    if (known.has(value)) return;
    known.add(value);
    masking.add("cookie", value);
  };
  return {
    learnNow(ownerId: string | undefined, cookies: readonly Cookie[]): void {
      const known = knownTo(ownerId);
      for (const value of newTo(known, cookies)) add(known, value);
    },
    /**
     * Like `learnNow`, but yields to other work between values. @throws Problem 409: every value is searched for in all
     * text, so their number is limited.
     */
    async learn(ownerId: string | undefined, cookies: readonly Cookie[]): Promise<void> {
      const known = knownTo(ownerId);
      const values = newTo(known, cookies);
      const all = known.size + values.length;
      if (all > LIMITS.cookiesGrantedPerUser)
        throw conflict(
          `At most ${LIMITS.cookiesGrantedPerUser} cookies of yours can be granted, and this set would make it ${all}; those that you revoked count until the server starts again. Upload a file of fewer sites.`,
        );
      const turn = takeTurns();
      for (const value of values) {
        add(known, value);
        await turn();
      }
    },
  };
}
