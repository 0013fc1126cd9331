/**
 * What every page asks first: who is logged in, and where the log of events is. `theme.ts` asks while the page's scripts are
 * still on their way, and the client takes the answers, each once.
 */
const ME = "v1/auth/me";
const POSITION = "v1/events?limit=1";

declare global {
  interface Window {
    /** By address. Two scripts share it, each of which is a bundle of its own. */
    skepFirst?: Map<string, Promise<Response>>;
  }
}

/** @param base address of the site, with a slash at its end. */
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
    // Without a session both refuse, and who logs in asks again. What nobody reads would hold a connection.
    await answer.body?.cancel();
    throw new Error("no session");
  });
  window.skepFirst = new Map([
    [base + ME, me],
    [base + POSITION, position],
  ]);
  // Who takes an answer asks again where there is none.
  for (const answer of window.skepFirst.values()) answer.catch(() => {});
}

/** @returns the answer that was asked for before the script was here, if it was not taken yet. */
export function takeFirst(address: string): Promise<Response> | undefined {
  const answer = window.skepFirst?.get(address);
  window.skepFirst?.delete(address);
  return answer;
}
