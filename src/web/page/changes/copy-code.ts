/** Copying from a change: the code alone, without line numbers, marks, words for screen readers and comments between. */
import type { ClipboardEvent } from "react";

const elementOf = (node: Node | null): Element | null =>
  node instanceof Element ? node : (node?.parentElement ?? null);

/** What is selected over several lines; within one line the browser's own copy is right. */
export function copyCode(event: ClipboardEvent<HTMLElement>): void {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return;
  const begun = elementOf(selection.anchorNode);
  // What is copied out of a comment's field is its text.
  if (begun?.closest("textarea, input")) return;
  const side = begun?.closest<HTMLElement>("[data-side]")?.dataset["side"];
  const range = selection.getRangeAt(0).cloneContents();
  const within = side === undefined ? "[data-code]" : `[data-side="${side}"] [data-code]`;
  const lines = [...range.querySelectorAll(within)];
  if (lines.length === 0) return;
  event.preventDefault();
  event.clipboardData.setData("text/plain", lines.map(({ textContent }) => textContent).join("\n"));
}
