/**
 * Text that was typed and not sent. Whatever holds some says so here, and is asked when a person is about to leave: the
 * page, the tab, or the account.
 */
import { useEffect, useRef } from "react";

interface Unsaved {
  /** As it stands in a sentence: "the instructions of Engineer". */
  what: string;
  /** Whether going to another page asks first. Without that the text is there again when the person comes back. */
  asks: boolean;
  /** Whether a draft of it is kept. */
  kept?: boolean;
  discard(): void;
}

const holders = new Set<() => Unsaved | null>();

/** @param look what is unsaved at the moment it is called. */
export function useUnsaved(look: () => Unsaved | null): void {
  const now = useRef(look);
  now.current = look;
  useEffect(() => {
    const holder = () => now.current();
    holders.add(holder);
    return () => void holders.delete(holder);
  }, []);
}

export const unsavedNow = (): Unsaved[] => [...holders].flatMap((look) => look() ?? []);

/** A question before leaving, until it is answered. */
export interface Leaving {
  unsaved: Unsaved[];
  go(): void;
  /** Whether drafts go as well. */
  loses?: boolean;
}

let leaving: Leaving | null = null;
const readers = new Set<() => void>();

export const leavingState = {
  get: (): Leaving | null => leaving,
  set(next: Leaving | null): void {
    leaving = next;
    for (const reader of readers) reader();
  },
  subscribe(act: () => void): () => void {
    readers.add(act);
    return () => readers.delete(act);
  },
};

/** Goes to another address of the site, or asks first. */
export function leaveTo(address: string, go: () => void): void {
  const unsaved = unsavedNow().filter(({ asks }) => asks);
  const stays = new URL(address, location.href).pathname === location.pathname;
  if (stays || unsaved.length === 0) go();
  else leavingState.set({ unsaved, go });
}

let isFree = false;
/** The page is about to be loaded again, and what was typed may go or was asked about. */
export function leaveFreely(): void {
  isFree = true;
}

addEventListener("beforeunload", (event) => {
  if (!isFree && unsavedNow().length > 0) event.preventDefault();
});
