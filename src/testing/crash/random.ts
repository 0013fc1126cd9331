/** Reproducible random numbers: the same seed gives the same numbers. */
export interface Random {
  /** A whole number from 0 to `most`. */
  upTo(most: number): number;
}

/** Mulberry32, by Tommy Ettinger (public domain). @param seed a whole number. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { upTo: (most) => Math.floor(next() * (most + 1)) };
}

/** The seed in CRASH_SEED, else one from the clock. */
export const seedFrom = (text: string | undefined): number =>
  text && /^\d{1,10}$/.test(text) ? Number(text) : Date.now() % 1_000_000_000;
