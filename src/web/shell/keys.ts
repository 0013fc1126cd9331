/**
 * Single-key shortcuts outside of fields. They can be switched off on the account page, for people who use speech
 * input.
 */
import { useLayoutEffect, useRef } from "react";
import { answerKeys, dropHeld, hold, isHolding, isLoading } from "../keys/held-keys.ts";
import { pageKey } from "../keys/page-keys.ts";
import { keysOn } from "../keys/single-keys.ts";
import { PAGES } from "../routes.ts";

export const KEYS: [keys: string, what: string][] = [
  ["Ctrl K or ⌘ K", "Go anywhere, do anything"],
  ["?", "These keys"],
  ["/", "Filter or search the page"],
  ["j / k", "Next, previous row"],
  ["Enter", "Open the row"],
  ["x", "Select the row"],
  ["n", "Start a run"],
  ["n / p / v / c", "Changes: next, previous file, viewed, comment on the line that ↑ ↓ chose"],
  ["f / n / a / .", "Run: follow the log, next problem, what waits for an answer, restart or cancel"],
  ["m", "Board: move the card"],
  ["Esc", "Close, leave a field"],
];

interface Handlers {
  go(path: string): void;
  palette(): void;
  help(): void;
}

const inField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const ROWS = "main [data-row]";
const FILTER = "main [data-filter]";

function moveRow(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)];
  const at = document.activeElement instanceof HTMLElement ? rows.indexOf(document.activeElement) : -1;
  const row = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step];
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
}

function selectRow(): void {
  document.activeElement?.closest("tr")?.querySelector<HTMLInputElement>("input[type=checkbox]")?.click();
}

/** Makes Home and End jump at once on a page with a table. The browser's own way lays out every row that it passes. */
function jump({ key, shiftKey }: KeyboardEvent): boolean {
  const at = document.activeElement;
  const isOfPage = at === document.body || (at?.closest("main table") && !at.closest(".pane"));
  if ((key !== "Home" && key !== "End") || shiftKey || !isOfPage || !document.querySelector("main table")) return false;
  scrollTo({ top: key === "End" ? document.documentElement.scrollHeight : 0, behavior: "instant" });
  return true;
}

/** Keys that act on the page that is shown. */
const OF_PAGE = /^[jkxn/pvcfam.]$/;

/** Whether the key must wait, because its target may still be loading. */
function mustWait(key: string, isOwn: boolean): boolean {
  if (!OF_PAGE.test(key)) return false;
  if (isLoading("part") || isHolding()) return true;
  if (!isLoading("content") || isOwn) return false;
  if (key === "/") return !document.querySelector(FILTER);
  if (key === "j" || key === "k") return !document.querySelector(ROWS);
  // These two keys do something on every page.
  return key !== "n" && key !== "x";
}

const SEQUENCE_MS = 1_500;

export function useKeys(handlers: Handlers): void {
  const now = useRef(handlers);
  now.current = handlers;
  // A layout effect runs before the page is painted, so that a key pressed at the first sight of the page counts.
  useLayoutEffect(() => {
    // Time at which `g` was pressed. Event times are compared, because a busy page handles the second key later.
    let leader = Number.NEGATIVE_INFINITY;
    const go = (path: string) => {
      dropHeld();
      now.current.go(path);
    };
    const single: Record<string, () => void> = {
      "?": () => now.current.help(),
      j: () => moveRow(1),
      k: () => moveRow(-1),
      x: selectRow,
      n: () => go("/runs/new"),
      "/": () => document.querySelector<HTMLElement>(FILTER)?.focus(),
    };
    const press = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        return now.current.palette();
      }
      if (event.key === "Escape" && event.target instanceof HTMLElement && inField(event.target))
        return event.target.blur();
      if (event.metaKey || event.ctrlKey || event.altKey || inField(event.target) || !keysOn()) return;
      if (document.querySelector("dialog[open]")) return;
      if (jump(event)) return event.preventDefault();
      const page = event.timeStamp - leader < SEQUENCE_MS && PAGES.find(({ nav }) => nav?.key === event.key);
      leader = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const own = pageKey(event.key);
      const act = page ? () => go(page.path) : (own ?? single[event.key]);
      if (!page && mustWait(event.key, own !== undefined)) return hold(event);
      if (!act) return;
      event.preventDefault();
      act();
    };
    return answerKeys(press);
  }, []);
}
