/** Remembered types by row. While the type of a row is being found it counts as unknown, which ends cycles. */
import type { ValueType } from "./value-type.ts";

/** Rows of one block of memory. */
const BLOCK = 1_024;

export class TypeMemo<Row extends number> {
  /** Undefined: not asked yet; null: not known, or being found. */
  private readonly blocks: ((ValueType | null | undefined)[] | undefined)[] = [];

  /** @param find finds the type of a row, when it is first asked for */
  constructor(
    private readonly rows: number,
    private readonly find: (row: Row) => ValueType | undefined,
  ) {}

  /** Whether a row's type was asked for before. */
  asked(row: Row): boolean {
    return this.blocks[Math.floor(row / BLOCK)]?.[row % BLOCK] !== undefined;
  }

  /** The type of a row. */
  of(row: Row): ValueType | undefined {
    const at = Math.floor(row / BLOCK);
    const known = this.blocks[at]?.[row % BLOCK];
    if (known !== undefined) return known ?? undefined;
    // Allocated at full size: arrays that grow row by row leave twice their memory behind.
    this.blocks[at] ??= new Array<ValueType | null | undefined>(Math.min(BLOCK, this.rows - at * BLOCK));
    const block = this.blocks[at];
    block[row % BLOCK] = null;
    const type = this.find(row);
    if (type) block[row % BLOCK] = type;
    return type;
  }
}
