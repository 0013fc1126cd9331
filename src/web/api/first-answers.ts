/**
 * The first requests of every page: who is logged in, and the current position in the event log. `theme.ts` sends them
 * while the page's scripts are still loading. The client then takes each answer once.
 */
const ME = "v1/auth/me";
const POSITION = "v1/events?limit=1";

declare global {
  interface Window {
    /** Answers by address. It is on `window` because two separate script bundles share it. */
    skepFirst?: Map<string, Promise<Response>>;
  }
}

/** @param base address of the site, with a trailing slash. */
export function askFirst(base: string): void {
  const me = fetch(base + ME);
  const isKnown = me.then(
    ({ ok }) => ok,
    () => false,
  );
  const log = fetch(base + POSITION);
  log.catch(() => {});
  const position = isKnown.then(async (known) => {
    const answer = await log;
    if (known) return answer;
    // Without a session the server refuses both requests, and they are sent again after a log-in. Cancel the body: an
    // unread answer would keep its connection.
    await answer.body?.cancel();
    throw new Error("no session");
  });
  window.skepFirst = new Map([
    [base + ME, me],
    [base + POSITION, position],
  ]);
  // Avoid unhandled rejections. Whoever takes a failed answer sends the request again.
  for (const answer of window.skepFirst.values()) answer.catch(() => {});
}

/** @returns the answer to a request that was sent before this script loaded, unless it was taken already. */
export function takeFirst(address: string): Promise<Response> | undefined {
  const answer = window.skepFirst?.get(address);
  window.skepFirst?.delete(address);
  return answer;
}
