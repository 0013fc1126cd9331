/**
 * Keys that are pressed while a part of the page is still loaded. They are held, and count once it is there, in the order
 * in which they were pressed: a person who knows the way does not wait for the page.
 */
import { useLayoutEffect } from "react";

type Press = (event: KeyboardEvent) => void;

/** What holds keys: a script that is on its way (`part`), or rows and other content of a part that is there (`content`). */
type Loads = "part" | "content";

/** A hand that rests on a key is not held for ever. */
const MOST = 20;
/** What was pressed longer ago is forgotten: nobody expects it any more. */
const FORGOTTEN_MS = 60_000;

const under = { part: 0, content: 0 };
let held: KeyboardEvent[] = [];
let press: Press | undefined;

/** A form that is loaded has taken the focus: what was typed ahead was meant for it, not for the page's keys. */
const isTyping = (): boolean =>
  document.activeElement instanceof HTMLElement &&
  (document.activeElement.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName));

/** Presses the first key; the next one follows when the page has drawn what came of it, as another page with other keys. */
function replay(): void {
  // The next part of the page may be on its way already.
  if (under.part > 0) return;
  const [first, ...rest] = held.filter(({ timeStamp }) => performance.now() - timeStamp < FORGOTTEN_MS);
  held = [];
  if (!first || isTyping()) return;
  press?.(first);
  const goesOn = held.length === 0;
  held.push(...rest);
  if (goesOn && rest.length > 0) setTimeout(replay);
}

/** Whether keys are held: the next ones come after them. */
export const isHolding = (): boolean => held.length > 0;

/** Whether something of the page is still loaded. */
export const isLoading = (what: Loads): boolean => under[what] > 0;

/** Keeps a key until what is loaded is there. */
export function hold(event: KeyboardEvent): void {
  event.preventDefault();
  if (held.length < MOST) held.push(event);
}

/** The page is left: keys that were meant for it go with it. */
export function dropHeld(): void {
  held = [];
}

/** Marks a part of the page as loaded later, while the component that calls it is drawn. */
export function useHeldKeys(what: Loads): void {
  // Before the page is painted: a key that is pressed at the first sight of it counts.
  useLayoutEffect(() => {
    under[what]++;
    return () => {
      under[what]--;
      // After what takes its place has been put into the page, with its keys.
      queueMicrotask(replay);
    };
  }, [what]);
}

/** Gives the keys to what answers them. @returns a function that takes them from it. */
export function answerKeys(answer: Press): () => void {
  press = answer;
  return () => {
    if (press === answer) press = undefined;
  };
}

// From before the first sight of the page: until the session is known, nothing else hears keys.
addEventListener("keydown", (event) => {
  if (press) press(event);
  else if (under.part > 0 && !event.metaKey && !event.ctrlKey && !event.altKey && event.key.length === 1) hold(event);
});
