/** Allows a process to keep only one live index in memory, because of its size. */
export interface LiveSlot {
  /** Whether no session holds the slot. */
  readonly isFree: boolean;
  /**
   * Takes the slot.
   * @param drop called to release the index when another session takes the slot; always the same function for one graph
   */
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
