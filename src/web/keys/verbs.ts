/**
 * The actions that the command palette offers for the current page: the buttons in its header, and those that parts of
 * the page add.
 */
import { useEffect, useRef } from "react";

interface Verb {
  label: string;
  /** Other words that find the action. */
  words?: string[];
  act(): void;
}

const shown = new Set<() => Verb[]>();

/** Adds actions of a part of the page while that part is shown. */
export function useVerbs(verbs: Verb[]): void {
  const now = useRef(verbs);
  now.current = verbs;
  useEffect(() => {
    const readVerbs = () => now.current;
    shown.add(readVerbs);
    return () => void shown.delete(readVerbs);
  }, []);
}

const BUTTONS = "main [data-verbs] :is(button, a[href]):not(:disabled, [aria-haspopup], [role=menuitem])";

function buttonVerb(button: HTMLElement): Verb[] {
  const label = (button.getAttribute("aria-label") ?? button.textContent ?? "").trim();
  // Skip buttons without text, and those hidden at this window width.
  return label && button.checkVisibility() ? [{ label, act: () => button.click() }] : [];
}

/** All actions of the page, buttons first. If several have the same name, the first one counts. */
export function verbsHere(): Verb[] {
  const added = [...shown].flatMap((verbs) => verbs());
  const buttons = [...document.querySelectorAll<HTMLElement>(BUTTONS)].flatMap(buttonVerb);
  const byLabel = new Map<string, Verb>();
  for (const verb of [...buttons, ...added]) if (!byLabel.has(verb.label)) byLabel.set(verb.label, verb);
  return [...byLabel.values()];
}
