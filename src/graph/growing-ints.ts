/** A growing column of integers: several times as fast as an array of numbers, in half the memory. */
export class GrowingInts {
  length = 0;
  private values = new Int32Array(1_024);

  push(value: number): void {
    if (this.length === this.values.length) {
      const wider = new Int32Array(this.length * 2);
      wider.set(this.values);
      this.values = wider;
    }
    this.values[this.length++] = value;
  }

  /** Pushes many. */
  append(values: Int32Array): void {
    const length = this.length + values.length;
    if (length > this.values.length) {
      const wider = new Int32Array(Math.max(length, this.values.length * 2));
      wider.set(this.ints);
      this.values = wider;
    }
    this.values.set(values, this.length);
    this.length = length;
  }

  /** Adds to a number that was pushed before. */
  add(at: number, amount: number): void {
    this.values[at]! += amount;
  }

  /** The numbers so far, as a view; a later push may no longer show in it. */
  get ints(): Int32Array {
    return this.values.subarray(0, this.length);
  }
}
