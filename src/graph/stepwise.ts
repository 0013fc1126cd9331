/**
 * Work in short steps. A caller that cannot wait finishes it at once; others leave pauses in which the process answers
 * other calls. Both kinds of caller may share the same work: it is done once.
 */

import { takeTurns } from "../core/turns.ts";

export class Stepwise<T> {
  private done: { value: T } | undefined;

  constructor(private readonly steps: Iterator<void, T>) {}

  /** Work that is already done. */
  static of<T>(value: T): Stepwise<T> {
    const work = new Stepwise<T>({ next: () => ({ done: true, value }) });
    work.step();
    return work;
  }

  /** The result. The rest of the work is done before this returns. */
  now(): T {
    while (!this.done) this.step();
    return this.done.value;
  }

  /** The result, if the work is done. */
  get made(): T | undefined {
    return this.done?.value;
  }

  /**
   * Does the work with pauses.
   * @param isWanted asked before each step; when it answers false, the work stops
   * @returns the result; undefined if the work stopped before it was done
   */
  async runWithPauses(isWanted: () => boolean = () => true): Promise<T | undefined> {
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
