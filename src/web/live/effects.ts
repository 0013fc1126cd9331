/** Fetches what an event makes stale, as its definition says (`stale`): what of it is on the page, once for many events. */
import { STALE } from "../../api/stale.gen.ts";
import { fetchAgain } from "../api/fetch-again.ts";
import { queries, refresh } from "../api/queries.ts";
import { onLive } from "./stream.ts";

/** Events are collected this long before the server is asked, ms: fifty events a second make one request. */
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
