/**
 * A column of texts. After an edit it is the texts of before with new ones at their end, and where each row's text stands
 * among them: what an edit leaves as it is, is not copied.
 */
export class Texts {
  /**
   * @param all longer lists of the same beginning may take its place
   * @param places of each row's text in `all`, or ~n for number n of `more`; without them each row's text is in its place
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

  /** All rows' texts in an array of their own. */
  list(): string[] {
    if (!this.places) return this.all.slice();
    return Array.from({ length: this.length }, (_, row) => this.get(row) ?? "");
  }
}
