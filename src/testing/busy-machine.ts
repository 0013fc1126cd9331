/**
 * Bounds for tests that hold on machines of any speed, even when they are busy. No test compares clocks. What takes too
 * long shows itself because something never happens; what costs too much is measured in processor time.
 */
import { DAY_MS } from "../core/clock.ts";

/**
 * How many times the bound of docs/benchmarks.md a test allows. The defects that it looks for cost a hundred times as
 * much.
 */
const GENEROSITY = 10;
/** Processor time of `referenceWork` on the machine of docs/benchmarks.md, in ms. */
const REFERENCE_MS = 12;

const REFERENCE_TEXT = JSON.stringify(
  Array.from({ length: 4_000 }, (_, n) => ({ id: `item-${n}`, text: "some words of an item", n, list: [n, "x"] })),
);

/**
 * A fixed amount of work similar to the server's: JSON is written and parsed, and text is searched. @returns a number
 * without meaning.
 */
function referenceWork(): number {
  let characters = 0;
  for (let round = 0; round < 8; round++) {
    characters += JSON.stringify(JSON.parse(REFERENCE_TEXT)).length;
    characters += REFERENCE_TEXT.replaceAll("item", "thing").length;
    characters += [...REFERENCE_TEXT.matchAll(/"n":(\d+)/g)].length;
  }
  return characters;
}

/** Processor time of this process so far, in ms. Other programs on the machine do not count. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * How many times slower this machine is now than that of docs/benchmarks.md, at least 1. It is the median of three
 * measurements.
 */
function slowness(): number {
  const measures = [1, 2, 3].map(() => {
    const before = processorMs();
    referenceWork();
    return processorMs() - before;
  });
  return Math.max(1, measures.sort((one, other) => one - other)[1]! / REFERENCE_MS);
}

const isExact = (): boolean => process.env["EXACT_BOUNDS"] === "true";

/** Factor of the bound that is allowed on every machine. */
const generosity = (): number => (isExact() ? 1 : GENEROSITY);

/**
 * The processor time in ms that a test allows for work that takes at most `ms` on the machine of docs/benchmarks.md.
 * With EXACT_BOUNDS=true, as `scripts/bench stalls` runs the tests, it is `ms` itself.
 */
const allowedMs = (ms: number): number => (isExact() ? ms : ms * GENEROSITY * slowness());

/**
 * Whether `spentMs` of processor time is more than a test allows for work of `boundMs`. The machine's speed is measured
 * only if even a fast machine would exceed the bound, because measuring takes longer than many tests.
 */
export function isTooMuch(spentMs: number, boundMs: number): boolean {
  return spentMs > boundMs * generosity() && spentMs > allowedMs(boundMs);
}

/** @throws Error if `what` took more processor time (in ms) than allowed for work of `boundMs`. */
export function expectWork(what: string, spentMs: number, boundMs: number): void {
  if (spentMs <= boundMs * generosity()) return;
  const allowed = allowedMs(boundMs);
  if (spentMs > allowed)
    throw new Error(
      `${what} took ${Math.round(spentMs)} ms of the processor, more than ${Math.round(allowed)} (${boundMs} on the machine of docs/benchmarks.md)`,
    );
}

/**
 * Runs something with a time limit that a busy machine may reach too early. The limit is doubled until the run got to
 * the point that the test is about, or the limit exceeds a minute.
 * @param ms the first limit, in ms.
 */
export async function endedAtLimit<T>(ms: number, run: (ms: number) => Promise<T>, gotThere: (result: T) => boolean) {
  for (let limit = ms; ; limit *= 2) {
    const result = await run(limit);
    if (gotThere(result) || limit > 60_000) return result;
  }
}

/** If this day (UTC) has less than half a minute left, waits for the next one. For tests of what is counted by day. */
export async function steadyDay(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < 30_000) await Bun.sleep(left + 50);
}
