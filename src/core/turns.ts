/** How long work may run without a pause, in ms. */
const TURN_MS = 4;

/** Returns a function to await between steps. It pauses when a turn has lasted long enough, to let other work run. */
export function takeTurns(): () => Promise<void> | void {
  let until = performance.now() + TURN_MS;
  return () => {
    if (performance.now() < until) return;
    return new Promise((resolve) => {
      setImmediate(() => {
        until = performance.now() + TURN_MS;
        resolve();
      });
    });
  };
}

/**
 * Schedules work that many callers request at the same moment, such as a hundred requests that arrive together. Work
 * starts immediately until a turn has lasted long enough; the rest follows in later turns. Other work then waits for
 * one turn only. Callers take turns too, so a caller with one request does not wait for all requests of another.
 * @returns a function to await before the work, with the caller's name.
 */
export function createTurnQueue(): (who: string) => Promise<void> | void {
  const waiting = new Map<string, (() => void)[]>();
  let until: number | undefined;
  const runNext = (): void => {
    until = undefined;
    const [first] = waiting;
    if (!first) return;
    begin();
    const [who, own] = first;
    const go = own.shift();
    waiting.delete(who);
    if (own.length > 0) waiting.set(who, own);
    go?.();
  };
  const begin = (): void => {
    until = performance.now() + TURN_MS;
    setImmediate(runNext);
  };
  return (who) => {
    if (until === undefined) begin();
    else if (waiting.size > 0 || performance.now() >= until)
      return new Promise((resolve) => {
        const own = waiting.get(who);
        if (own) own.push(resolve);
        else waiting.set(who, [resolve]);
      });
    return undefined;
  };
}

let last: Promise<void> = Promise.resolve();

/**
 * Awaited before work that takes about ten milliseconds, so that many such pieces leave room for other work between
 * them.
 */
export function awaitOwnTurn(): Promise<void> {
  last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
  return last;
}

const SORTED_AT_ONCE = 4_096;

/** Sorts the items in short steps, because there may be very many. Not stable. */
export async function sortedInTurns<T>(items: readonly T[], isBefore: (a: T, b: T) => boolean): Promise<T[]> {
  const turn = takeTurns();
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += SORTED_AT_ONCE) {
    runs.push(items.slice(at, at + SORTED_AT_ONCE).sort((a, b) => (isBefore(a, b) ? -1 : 1)));
    await turn();
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      longer.push(await mergeTurns(runs[at]!, runs[at + 1] ?? [], isBefore, turn));
    runs = longer;
  }
  return runs[0] ?? [];
}

async function mergeTurns<T>(
  one: readonly T[],
  two: readonly T[],
  isBefore: (a: T, b: T) => boolean,
  turn: () => Promise<void> | void,
): Promise<T[]> {
  const all: T[] = [];
  for (let i = 0, j = 0; i < one.length || j < two.length; ) {
    const isFirst = j >= two.length || (i < one.length && isBefore(one[i]!, two[j]!));
    all.push(isFirst ? one[i++]! : two[j++]!);
    if (all.length % SORTED_AT_ONCE === 0) await turn();
  }
  return all;
}
