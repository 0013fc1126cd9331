/**
 * A column of texts, one for each row. After an edit the new texts are appended to the earlier ones, and each row holds
 * the place of its text among them. Texts that an edit leaves unchanged are not copied.
 */
export class Texts {
  /**
   * @param all the texts; later it may grow at its end, and rows still read the same texts
   * @param places the place of each row's text in `all`, or ~n for text n of `more`. Without it, row n has text n.
   */
  constructor(
    private readonly all: readonly string[],
    private readonly places?: Int32Array,
    private readonly more: readonly string[] = [],
  ) {}

  get length(): number {
    return (this.places ?? this.all).length;
  }

  get(row: number): string | undefined {
    const place = this.places ? this.places[row] : row;
    if (place === undefined) return undefined;
    return place < 0 ? this.more[~place] : this.all[place];
  }

  /** The texts of all rows, in a new array. */
  list(): string[] {
    if (!this.places) return this.all.slice();
    return Array.from({ length: this.length }, (_, row) => this.get(row) ?? "");
  }
}
