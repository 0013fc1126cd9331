/** What can be done with what is shown, for the palette: the buttons at the head of the page, and what parts of it add. */
import { useEffect, useRef } from "react";

interface Verb {
  label: string;
  /** Other words by which it is found. */
  words?: string[];
  act(): void;
}

const shown = new Set<() => Verb[]>();

/** Adds what can be done with a part of the page while it is shown. */
export function useVerbs(verbs: Verb[]): void {
  const now = useRef(verbs);
  now.current = verbs;
  useEffect(() => {
    const mine = () => now.current;
    shown.add(mine);
    return () => void shown.delete(mine);
  }, []);
}

const BUTTONS = "main [data-verbs] :is(button, a[href]):not(:disabled, [aria-haspopup], [role=menuitem])";

function buttonVerb(button: HTMLElement): Verb[] {
  const label = (button.getAttribute("aria-label") ?? button.textContent ?? "").trim();
  // Hidden on this width, or without words.
  return label && button.checkVisibility() ? [{ label, act: () => button.click() }] : [];
}

/** The buttons first; of several of one name the first. */
export function verbsHere(): Verb[] {
  const added = [...shown].flatMap((verbs) => verbs());
  const buttons = [...document.querySelectorAll<HTMLElement>(BUTTONS)].flatMap(buttonVerb);
  const byLabel = new Map<string, Verb>();
  for (const verb of [...buttons, ...added]) if (!byLabel.has(verb.label)) byLabel.set(verb.label, verb);
  return [...byLabel.values()];
}
