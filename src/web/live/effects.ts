/**
 * Fetches again what an event makes outdated, as the event's definition says (`stale`). Only data on the page is
 * fetched, once for many events.
 */
import { STALE } from "../../api/stale.gen.ts";
import { fetchAgain } from "../api/fetch-again.ts";
import { queries, refresh } from "../api/queries.ts";
import { onLive } from "./stream.ts";

/**
 * How long events are collected before the server is asked, in ms. Fifty events within a second then cause one request.
 */
const COLLECT_MS = 700;

export function startEffects(): () => void {
  const stale = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    void refresh(...stale);
    stale.clear();
  };
  const stop = onLive((event) => {
    if (event.kind === "gap") return void fetchAgain(queries);
    for (const path of STALE[event.kind] ?? []) stale.add(path);
    if (stale.size > 0) timer ??= setTimeout(flush, COLLECT_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
