/**
 * Tracks sandboxes that are ending, and those that cannot be stopped: until they are gone, they may change files in
 * their place.
 */
import { messageOf, type Problem, unavailable } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import type { SandboxDriver } from "./sandbox.ts";

/** @param isHeld whether this execution's sandbox must stay. */
export function createEndings(driver: SandboxDriver, log: Logger, isHeld: (executionId: string) => boolean) {
  /** Sandboxes being ended, by place; until each promise settles, its sandbox may change the place's files. */
  const leaving = new Map<string, Set<Promise<void>>>();
  /** Places with a sandbox that could not be stopped. */
  let loose = new Set<string>();
  /** Places that became loose since the last sweep began; that sweep may have looked too early to see them. */
  let missed = new Set<string>();
  /** True after a sweep has succeeded: what an earlier process left is gone or in `loose`. */
  let hasSwept = false;
  let sweeping: Promise<number> | undefined;
  const words = WORDS[driver.capabilities.isolation];
  const notStopped = (what: string): Problem =>
    unavailable(
      "sandbox_not_stopped",
      `${what.replace(/(?<![.\s])[.\s]+$/, "")}. Its processes may still change the files, so the work waits and it is tried again; if this lasts, ${words.remedy}.`,
    );

  /** @param ending the end of a sandbox that may change the place's files until then. */
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
  /**
   * @throws Problem 503 `sandbox_not_stopped`, `sandbox_unavailable` while a sandbox of ended work may still change the
   *   files there.
   */
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
    /** @param isSwept also waits for what an earlier process may have left there. @throws Problem as `assertSwept`. */
    async quiet(place: string, { isSwept }: { isSwept: boolean }): Promise<void> {
      await Promise.all(leaving.get(place) ?? []);
      if (isSwept || loose.has(place)) await assertSwept(place);
    },
  };
}

/** Texts about a sandbox that cannot be stopped, by the driver's isolation. */
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
