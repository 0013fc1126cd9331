/** Finds the element that scrolls around a part of a run's page: its pane, or the whole page on a narrow screen. */
export function paneOf(part: Element | null | undefined): Element {
  const pane = part?.closest("[data-pane]");
  const page = document.scrollingElement ?? document.documentElement;
  return pane && getComputedStyle(pane).overflowY === "auto" ? pane : page;
}
