/** Copies only the code of a change: no line numbers, marks, screen reader texts or comments between the lines. */
import type { ClipboardEvent } from "react";

const elementOf = (node: Node | null): Element | null =>
  node instanceof Element ? node : (node?.parentElement ?? null);

/** Handles a selection over several lines. Within one line, the browser's own copy is correct. */
export function copyCode(event: ClipboardEvent<HTMLElement>): void {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return;
  const begun = elementOf(selection.anchorNode);
  // Text copied from a comment field is left to the browser.
  if (begun?.closest("textarea, input")) return;
  const side = begun?.closest<HTMLElement>("[data-side]")?.dataset["side"];
  const range = selection.getRangeAt(0).cloneContents();
  const within = side === undefined ? "[data-code]" : `[data-side="${side}"] [data-code]`;
  const lines = [...range.querySelectorAll(within)];
  if (lines.length === 0) return;
  event.preventDefault();
  event.clipboardData.setData("text/plain", lines.map(({ textContent }) => textContent).join("\n"));
}
