/** The one index that a process keeps in memory, for its size. */
export interface LiveSlot {
  /** Nobody has it. */
  readonly isFree: boolean;
  /** @param drop gives the index back when another one takes its place; the same function for the same graph. */
  take(drop: () => void): void;
  leave(drop: () => void): void;
}

export function createLiveSlot(): LiveSlot {
  let held: (() => void) | undefined;
  return {
    get isFree() {
      return held === undefined;
    },
    take(drop) {
      const before = held;
      held = drop;
      if (before !== drop) before?.();
    },
    leave(drop) {
      if (held === drop) held = undefined;
    },
  };
}
