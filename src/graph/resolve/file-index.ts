/** An index for each file, built when first asked for. */
export class FileIndex<K, V> {
  /** Shared by all files that have nothing to index. */
  private readonly none: ReadonlyMap<K, V> = new Map();
  private readonly made: (ReadonlyMap<K, V> | undefined)[] = [];
  private readonly make: (file: number) => ReadonlyMap<K, V>;

  constructor(make: (file: number) => ReadonlyMap<K, V>) {
    this.make = make;
  }

  of(file: number): ReadonlyMap<K, V> {
    let index = this.made[file];
    if (!index) {
      index = this.make(file);
      this.made[file] = index.size === 0 ? this.none : index;
    }
    return index;
  }
}
