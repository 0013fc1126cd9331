/** Sandboxes that end, and those that cannot be stopped: until they are gone, they may change the files of their place. */
import { messageOf, type Problem, unavailable } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import type { SandboxDriver } from "./sandbox.ts";

/** @param isHeld whether this execution's sandbox is to stay. */
export function createEndings(driver: SandboxDriver, log: Logger, isHeld: (executionId: string) => boolean) {
  /** By place, the endings of sandboxes that may change its files until then. */
  const leaving = new Map<string, Set<Promise<void>>>();
  /** Places with a sandbox that could not be stopped. */
  let loose = new Set<string>();
  /** Those that became loose since the last sweep began, which may have looked before. */
  let missed = new Set<string>();
  /** A sweep has succeeded: what an earlier process left is gone, or loose. */
  let hasSwept = false;
  let sweeping: Promise<number> | undefined;
  const words = WORDS[driver.capabilities.isolation];
  const notStopped = (what: string): Problem =>
    unavailable(
      "sandbox_not_stopped",
      `${what.replace(/(?<![.\s])[.\s]+$/, "")}. Its processes may still change the files, so the work waits and it is tried again; if this lasts, ${words.remedy}.`,
    );

  /** @param ending of a sandbox that may change the files of its place until then. */
  async function leave(place: string, ending: Promise<void>): Promise<void> {
    const all = leaving.get(place) ?? new Set();
    leaving.set(place, all.add(ending));
    try {
      await ending;
    } finally {
      all.delete(ending);
      if (all.size === 0) leaving.delete(place);
    }
  }
  async function sweepNow(): Promise<number> {
    missed = new Set();
    try {
      const { removed, left } = await driver.sweep(isHeld);
      loose = new Set([...left, ...missed]);
      hasSwept = true;
      if (left.length > 0) log.warn({ places: left }, "sandboxes left behind cannot be removed; trying again");
      return removed;
    } finally {
      sweeping = undefined;
    }
  }
  const sweep = (): Promise<number> => {
    sweeping ??= sweepNow();
    return sweeping;
  };
  /** @throws Problem 503 `sandbox_not_stopped`, `sandbox_unavailable` while what ended may still change the files there. */
  async function assertSwept(place: string): Promise<void> {
    if (hasSwept && !loose.has(place)) return;
    await sweep();
    if (loose.has(place)) throw notStopped(words.left);
  }

  return {
    leave,
    sweep,
    assertSwept,
    noteLoose(place: string): void {
      for (const places of [loose, missed]) places.add(place);
    },
    notFrozen: (error: unknown): Problem => notStopped(`${words.own}: ${messageOf(error)}`),
    /** @param isSwept also what an earlier process may have left there. @throws Problem as `assertSwept`. */
    async quiet(place: string, { isSwept }: { isSwept: boolean }): Promise<void> {
      await Promise.all(leaving.get(place) ?? []);
      if (isSwept || loose.has(place)) await assertSwept(place);
    },
  };
}

/** Of a sandbox that cannot be stopped, by the driver's isolation. */
const WORDS = {
  container: {
    own: "Its container can be neither paused nor removed",
    left: "The container of ended work cannot be removed",
    remedy: "restart the container engine",
  },
  none: {
    own: "Its processes cannot be ended",
    left: "Processes of ended work cannot be ended",
    remedy: "end them by hand",
  },
} as const;
