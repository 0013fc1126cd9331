/**
 * What a person edits while others may save the same thing. It follows what is stored until the person changes something.
 * From then on it stays, and what others save meanwhile stands beside it.
 */
import { useState } from "react";
import type { Tagged } from "../api/tagged.ts";

export interface Edit<T> extends Tagged<T> {
  /** Stored by somebody else since the person began. */
  newer: Tagged<T> | undefined;
  /** The person began to change it. */
  hold(): void;
  /** The changes were sent, or are not wanted: what is stored is shown. */
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
