/** How long a stretch of work runs without a pause. */
const TURN_MS = 4;

/** To be awaited between steps: pauses when a turn has been long enough, to let other work run. */
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

const SORTED_AT_ONCE = 4_096;

/** The items in order, sorted in short steps as there may be very many. Not stable. */
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
      longer.push(await merged(runs[at]!, runs[at + 1] ?? [], isBefore, turn));
    runs = longer;
  }
  return runs[0] ?? [];
}

async function merged<T>(
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
