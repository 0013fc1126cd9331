/**
 * Work in short steps: done at once for a caller that cannot wait, or with pauses in which the process answers other
 * calls. Both may be asked of the same work; it is done once.
 */

import { takeTurns } from "../core/turns.ts";

export class Stepwise<T> {
  private done: { value: T } | undefined;

  constructor(private readonly steps: Iterator<void, T>) {}

  /** Work that is done. */
  static of<T>(value: T): Stepwise<T> {
    const work = new Stepwise<T>({ next: () => ({ done: true, value }) });
    work.step();
    return work;
  }

  /** The result; what is left of the work is done before this returns. */
  now(): T {
    while (!this.done) this.step();
    return this.done.value;
  }

  /** The result where it is there already. */
  get made(): T | undefined {
    return this.done?.value;
  }

  /**
   * Works with pauses.
   * @param isWanted asked before each step: nothing is done any more once it says no
   * @returns the result, or undefined when it was not wanted any more
   */
  async unhurried(isWanted: () => boolean = () => true): Promise<T | undefined> {
    const turn = takeTurns();
    while (!this.done) {
      await turn();
      if (!isWanted()) break;
      if (!this.done) this.step();
    }
    return this.done?.value;
  }

  private step(): void {
    const step = this.steps.next();
    if (step.done) this.done = { value: step.value };
  }
}
