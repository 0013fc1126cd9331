/**
 * The state of an edit that others may change as well. It shows the stored version until the person changes something.
 * From then on it keeps the person's version and offers newer stored ones beside it.
 */
import { useState } from "react";
import type { Tagged } from "../api/tagged.ts";

export interface Edit<T> extends Tagged<T> {
  /** What somebody else stored since the person began. */
  newer: Tagged<T> | undefined;
  /** Call this when the person begins to change something. */
  hold(): void;
  /** Call this when the changes were sent or discarded: the stored version is shown again. */
  release(): void;
}

/** @param held what was stored when the person began. @param stored what is stored now. */
export const editOf = <T>(held: Tagged<T> | undefined, stored: Tagged<T>): Tagged<T> & Pick<Edit<T>, "newer"> => ({
  ...(held ?? stored),
  newer: held && held.etag !== stored.etag ? stored : undefined,
});

export function useEdit<T>(stored: Tagged<T>): Edit<T> {
  const [held, setHeld] = useState<Tagged<T>>();
  return {
    ...editOf(held, stored),
    hold: () => setHeld((before) => before ?? stored),
    release: () => setHeld(undefined),
  };
}
