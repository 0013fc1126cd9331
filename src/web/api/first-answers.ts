/**
 * What a page asks first: who is logged in, where the log of events is, and what its heading says. `theme.ts` asks while the
 * page's scripts are still on their way, and the client takes the answers, each once.
 */
const ME = "v1/auth/me";
const POSITION = "v1/events?limit=1";

/** By the address of a page: what it cannot draw its heading without. */
const QUESTIONS: Record<string, string> = {
  "/agents/:id": "v1/agents/:id",
  "/board": "v1/projects?limit=200",
  "/pipelines/:id": "v1/pipelines/:id",
  "/projects/:id": "v1/projects/:id",
  "/runs/:id": "v1/runs/:id",
};

/** An answer that was not taken by then, ms after the page began, is too old for who asks. */
const FRESH_MS = 60_000;

/** @param page address of the page: `/runs/:id`. @param path below the site's own: `/runs/7`. */
export function questionOf(page: string | undefined, path: string): string | undefined {
  const id = path.split("/").at(-1) ?? "";
  // A page for a new one, `/agents/+new`, asks nothing; what would have to be escaped is left to the page.
  return /^[\w-][\w.-]*$/.test(id) ? QUESTIONS[page ?? ""]?.replace(":id", id) : undefined;
}

declare global {
  interface Window {
    /** By address. Two scripts share it, each of which is a bundle of its own. */
    skepFirst?: Map<string, Promise<Response>>;
  }
}

/** @param base address of the site, with a slash at its end. @param question of the page. */
export function askFirst(base: string, question?: string): void {
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
  // What happens after the position is told by the stream, so it is asked for once that is known.
  if (question !== undefined)
    window.skepFirst.set(
      base + question,
      position.then(() => fetch(base + question)),
    );
  // Who takes an answer asks again where there is none.
  for (const answer of window.skepFirst.values()) answer.catch(() => {});
}

/** @returns the answer that was asked for before the script was here, if it was not taken yet. */
export function takeFirst(address: string): Promise<Response> | undefined {
  const answer = window.skepFirst?.get(address);
  window.skepFirst?.delete(address);
  return performance.now() < FRESH_MS ? answer : undefined;
}
