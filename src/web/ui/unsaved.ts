/**
 * Typed text that was not sent. Each component that holds some registers here. It is asked when the person is about to
 * leave the page, the tab or the account.
 */
import { useEffect, useRef } from "react";

interface Unsaved {
  /** Name of the text, as it appears in a sentence: "the instructions of Engineer". */
  what: string;
  /** Whether navigating to another page asks first. If not, the text is still there when the person returns. */
  asks: boolean;
  /** Whether the text is kept as a draft. */
  kept?: boolean;
  discard(): void;
}

const holders = new Set<() => Unsaved | null>();

/** @param look returns what is unsaved at the moment of the call. */
export function useUnsaved(look: () => Unsaved | null): void {
  const now = useRef(look);
  now.current = look;
  useEffect(() => {
    const readUnsaved = () => now.current();
    holders.add(readUnsaved);
    return () => void holders.delete(readUnsaved);
  }, []);
}

export const unsavedNow = (): Unsaved[] => [...holders].flatMap((look) => look() ?? []);

/** An open question whether to leave. */
export interface Leaving {
  unsaved: Unsaved[];
  go(): void;
  /** Whether leaving also removes drafts. */
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

/** Navigates to another address of the site, after asking if necessary. */
export function leaveTo(address: string, go: () => void): void {
  const unsaved = unsavedNow().filter(({ asks }) => asks);
  const stays = new URL(address, location.href).pathname === location.pathname;
  if (stays || unsaved.length === 0) go();
  else leavingState.set({ unsaved, go });
}

/**
 * The address that is shown, with its state, and whether the next step through the browser's history needs no question.
 */
let shown = location.href;
let shownState: unknown = history.state;
let isAnswered = false;
const noteShown = () => {
  shown = location.href;
  shownState = history.state;
};
for (const move of ["pushState", "replaceState"]) addEventListener(move, noteShown);

/**
 * The browser's back and forward buttons ask as links do. The browser has already changed the address when it says so;
 * the shown address is therefore put back until the person has answered. A step within the page asks only if it would
 * close a dialog with typed text, which is not kept.
 */
addEventListener(
  "popstate",
  (event) => {
    const unsaved = unsavedNow().filter(({ asks }) => asks);
    const { pathname, search } = new URL(shown);
    const stays = pathname === location.pathname && (search === location.search || unsaved.every(({ kept }) => kept));
    if (isAnswered || stays || unsaved.length === 0) {
      isAnswered = false;
      return noteShown();
    }
    event.stopImmediatePropagation();
    history.pushState(shownState, "", shown);
    leavingState.set({
      unsaved,
      go() {
        isAnswered = true;
        history.back();
      },
    });
  },
  true,
);

let isFree = false;
/** Allows the next reload without a question: typed text may be lost, or the person was asked already. */
export function leaveFreely(): void {
  isFree = true;
}

addEventListener("beforeunload", (event) => {
  if (!isFree && unsavedNow().length > 0) event.preventDefault();
});
