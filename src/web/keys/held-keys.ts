/**
 * Holds the keys that are pressed while part of the page is still loading, and replays them in order once it is there.
 * A person who knows the way need not wait for the page.
 */
import { useLayoutEffect } from "react";

type Press = (event: KeyboardEvent) => void;

/**
 * What delays keys: a script that is loading (`part`), or rows and other content that a loaded part waits for
 * (`content`).
 */
type Loads = "part" | "content";

/** How many keys are held at most: a key that is kept pressed repeats without end. */
const MOST = 20;
/** Keys that were pressed longer ago are dropped, since nobody expects them any more. */
const FORGOTTEN_MS = 60_000;

const under = { part: 0, content: 0 };
let held: KeyboardEvent[] = [];
let press: Press | undefined;

/** A form that has just loaded may have taken the focus. Keys typed ahead were then meant for it, not for the page. */
const isTyping = (): boolean =>
  document.activeElement instanceof HTMLElement &&
  (document.activeElement.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName));

/**
 * Replays the first held key. The next one follows after the page has rendered the result, which may be another page
 * with other keys.
 */
function replay(): void {
  // The next part of the page may be loading already.
  if (under.part > 0) return;
  const [first, ...rest] = held.filter(({ timeStamp }) => performance.now() - timeStamp < FORGOTTEN_MS);
  held = [];
  if (!first || isTyping()) return;
  press?.(first);
  const goesOn = held.length === 0;
  held.push(...rest);
  if (goesOn && rest.length > 0) setTimeout(replay);
}

/** Whether keys are held. New keys must then wait behind them. */
export const isHolding = (): boolean => held.length > 0;

/** Whether a part of the page or its content is still loading. */
export const isLoading = (what: Loads): boolean => under[what] > 0;

/** Holds a key until what is loading is there. */
export function hold(event: KeyboardEvent): void {
  event.preventDefault();
  if (held.length < MOST) held.push(event);
}

/** Drops the held keys when the person leaves the page that they were meant for. */
export function dropHeld(): void {
  held = [];
}

/** Marks a part of the page as loading while the calling component is mounted, for example as a placeholder. */
export function useHeldKeys(what: Loads): void {
  // A layout effect runs before the page is painted, so that a key pressed at the first sight of the page counts.
  useLayoutEffect(() => {
    under[what]++;
    return () => {
      under[what]--;
      // Replay after the content that replaces this component is in the page, with its keys.
      queueMicrotask(replay);
    };
  }, [what]);
}

/** Sends the keys to `answer`. @returns a function that undoes this. */
export function answerKeys(answer: Press): () => void {
  press = answer;
  return () => {
    if (press === answer) press = undefined;
  };
}

// This listener is active before the page is first shown: until the session is known, nothing else listens for keys.
addEventListener("keydown", (event) => {
  if (press) press(event);
  else if (under.part > 0 && !event.metaKey && !event.ctrlKey && !event.altKey && event.key.length === 1) hold(event);
});
