/** Remembers a person's last choices, which the next form proposes. They stay in this browser until the log-out. */
import { useSyncExternalStore } from "react";

const PREFIX = "skep-choice ";
const CHANGED = "skep-choice-changed";

type Name = "project" | "run-project" | "pipeline" | "agent" | "view";

export const lastChoice = (name: Name): string => localStorage.getItem(PREFIX + name) ?? "";

/** @param value the choice; empty removes it. */
export function rememberChoice(name: Name, value: string): void {
  if (value === lastChoice(name)) return;
  if (value) localStorage.setItem(PREFIX + name, value);
  else localStorage.removeItem(PREFIX + name);
  dispatchEvent(new Event(CHANGED));
}

export function forgetChoices(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key);
}

function subscribe(act: () => void): () => void {
  addEventListener(CHANGED, act);
  addEventListener("storage", act);
  return () => {
    removeEventListener(CHANGED, act);
    removeEventListener("storage", act);
  };
}

/** The last choice. It updates when the choice is changed elsewhere on the page or in another tab. */
export const useLastChoice = (name: Name): string => useSyncExternalStore(subscribe, () => lastChoice(name));
