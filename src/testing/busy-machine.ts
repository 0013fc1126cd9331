/**
 * Bounds for tests that hold on machines of any speed that do other work as well. No test compares clocks: what takes too
 * long is shown by what it waits for never coming, and what costs too much by the processor's time.
 */
import { DAY_MS } from "../core/clock.ts";

/** How many times the bound of docs/benchmarks.md a test allows: what it is after costs a hundred times as much. */
const GENEROSITY = 10;
/** Processor time of `referenceWork` on the machine of docs/benchmarks.md, ms. */
const REFERENCE_MS = 12;

const REFERENCE_TEXT = JSON.stringify(
  Array.from({ length: 4_000 }, (_, n) => ({ id: `item-${n}`, text: "some words of an item", n, list: [n, "x"] })),
);

/** A fixed piece of work like that of the server: JSON read and written, text searched. @returns characters, of no use. */
function referenceWork(): number {
  let characters = 0;
  for (let round = 0; round < 8; round++) {
    characters += JSON.stringify(JSON.parse(REFERENCE_TEXT)).length;
    characters += REFERENCE_TEXT.replaceAll("item", "thing").length;
    characters += [...REFERENCE_TEXT.matchAll(/"n":(\d+)/g)].length;
  }
  return characters;
}

/** Processor time of this process so far, in ms: what others do on the machine does not count. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** How many times slower this machine is now than that of docs/benchmarks.md, at least 1: the middle one of three measures. */
function slowness(): number {
  const measures = [1, 2, 3].map(() => {
    const before = processorMs();
    referenceWork();
    return processorMs() - before;
  });
  return Math.max(1, measures.sort((one, other) => one - other)[1]! / REFERENCE_MS);
}

const isExact = (): boolean => process.env["EXACT_BOUNDS"] === "true";

/** How many times the bound every machine allows. */
const generosity = (): number => (isExact() ? 1 : GENEROSITY);

/**
 * The processor time that a test allows for work that takes at most `ms` on the machine of docs/benchmarks.md. With
 * EXACT_BOUNDS=true, as `scripts/bench stalls` runs the tests, it is `ms` itself.
 */
const allowedMs = (ms: number): number => (isExact() ? ms : ms * GENEROSITY * slowness());

/**
 * Whether `spentMs` of processor time is more than a test allows for work of `boundMs`. The machine's speed is measured only
 * when even a quick machine would not allow it: measuring takes longer than many tests.
 */
export function isTooMuch(spentMs: number, boundMs: number): boolean {
  return spentMs > boundMs * generosity() && spentMs > allowedMs(boundMs);
}

/** @throws Error when `what` took more processor time, ms, than allowed for work of `boundMs`. */
export function expectWork(what: string, spentMs: number, boundMs: number): void {
  if (spentMs <= boundMs * generosity()) return;
  const allowed = allowedMs(boundMs);
  if (spentMs > allowed)
    throw new Error(
      `${what} took ${Math.round(spentMs)} ms of the processor, more than ${Math.round(allowed)} (${boundMs} on the machine of docs/benchmarks.md)`,
    );
}

/**
 * What ends at a limit of time, which a busy machine may reach before it got to what the test is about: with twice the
 * limit again and again, until it got there.
 * @param ms the first limit.
 */
export async function endedAtLimit<T>(ms: number, run: (ms: number) => Promise<T>, gotThere: (result: T) => boolean) {
  for (let limit = ms; ; limit *= 2) {
    const result = await run(limit);
    if (gotThere(result) || limit > 60_000) return result;
  }
}

/** Waits for the next day (UTC) when this one has less than half a minute left: for tests of what counts by the day. */
export async function steadyDay(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < 30_000) await Bun.sleep(left + 50);
}
