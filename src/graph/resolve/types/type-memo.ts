/**
 * Remembered types by row. While the type of a row is being found it counts as unknown, which ends circles. What was found
 * inside of a circle, with the help of such an unknown one, may be less than the type: it is remembered until the row where the circle
 * was entered is known, and then found again for the next who asks, a few times.
 */
import type { ValueType } from "./value-type.ts";

/** Rows of one block of memory. */
const BLOCK = 1_024;
/** So often a type that a circle may have cut short is forgotten: what is found then stays, which bounds the work. */
const MAX_TRIES = 3;
const NEVER = Number.POSITIVE_INFINITY;

interface Forgetful {
  forget(row: number): void;
}

/** What is being found, one in another. The memos of an engine share one. */
export class Finding {
  depth = 0;
  /** The depth of the outermost of them that was asked for, since the innermost began. */
  asked = NEVER;
  /** What was found inside of circles that are not closed yet; each with the outermost depth at which one of them was entered so far. */
  private readonly cut: { memo: Forgetful; row: number; entered: number }[] = [];

  /** Notes that something was taken for unknown that depends on all that is being found. */
  cutShort(): void {
    this.asked = 0;
  }

  get cutCount(): number {
    return this.cut.length;
  }

  /** The outermost depth at which a circle was entered that is not closed yet. */
  get entered(): number {
    return this.cut.at(-1)?.entered ?? NEVER;
  }

  noteCut(memo: Forgetful, row: number, entered: number): void {
    this.cut.push({ memo, row, entered: Math.min(entered, this.entered) });
  }

  /** Forgets what was cut since there were so many. */
  forgetCut(count: number): void {
    while (this.cut.length > count) {
      const last = this.cut.pop();
      last?.memo.forget(last.row);
    }
  }
}

export class TypeMemo<Row extends number> implements Forgetful {
  /** Undefined: not asked yet; null: not known; a number: being found, at that depth. */
  private readonly blocks: ((ValueType | number | null | undefined)[] | undefined)[] = [];
  /** Rows whose types may be less than they are, until the circle is closed. */
  private readonly open = new Set<number>();
  /** How often types were forgotten. */
  private readonly tries = new Map<number, number>();

  /** @param find finds the type of a row, when it is first asked for */
  constructor(
    private readonly rows: number,
    private readonly finding: Finding,
    private readonly find: (row: Row) => ValueType | undefined,
  ) {}

  /** Whether a row's type was asked for before. */
  asked(row: Row): boolean {
    return this.blocks[Math.floor(row / BLOCK)]?.[row % BLOCK] !== undefined;
  }

  /** The type of a row. */
  of(row: Row): ValueType | undefined {
    const known = this.blocks[Math.floor(row / BLOCK)]?.[row % BLOCK];
    if (known === undefined) return this.findFirst(row);
    if (typeof known === "number") {
      this.finding.asked = Math.min(this.finding.asked, known);
      return undefined;
    }
    // Who uses it is as little sure as it is.
    if (this.open.size > 0 && this.open.has(row))
      this.finding.asked = Math.min(this.finding.asked, this.finding.entered);
    return known ?? undefined;
  }

  private findFirst(row: Row): ValueType | undefined {
    const { finding } = this;
    const at = Math.floor(row / BLOCK);
    // Allocated at full size: arrays that grow row by row leave twice their memory behind.
    this.blocks[at] ??= new Array<ValueType | number | null | undefined>(Math.min(BLOCK, this.rows - at * BLOCK));
    const block = this.blocks[at];
    const askedBefore = finding.asked;
    const cutBefore = finding.cutCount;
    const depth = finding.depth++;
    finding.asked = NEVER;
    block[row % BLOCK] = depth;
    const type = this.find(row);
    block[row % BLOCK] = type ?? null;
    finding.depth--;
    if (finding.asked < depth) {
      finding.noteCut(this, row, finding.asked);
      this.open.add(row);
      if (askedBefore < finding.asked) finding.asked = askedBefore;
      return type;
    }
    if (finding.cutCount > cutBefore) finding.forgetCut(cutBefore);
    finding.asked = askedBefore;
    return type;
  }

  forget(row: number): void {
    this.open.delete(row);
    const tries = (this.tries.get(row) ?? 0) + 1;
    this.tries.set(row, tries);
    const block = this.blocks[Math.floor(row / BLOCK)];
    if (block && tries < MAX_TRIES) block[row % BLOCK] = undefined;
  }
}

/** The types of rows of many files. A file's types can be forgotten: they are found again for whoever asks next. */
export class TypesByFile<Row extends number> {
  private readonly memos: (TypeMemo<Row> | undefined)[] = [];

  /**
   * @param rowsOf gives the number of rows of a file
   * @param find finds the type of a row of a file, when it is first asked for
   */
  constructor(
    private readonly finding: Finding,
    private readonly rowsOf: (file: number) => number,
    private readonly find: (file: number, row: Row) => ValueType | undefined,
  ) {}

  of(file: number, row: Row): ValueType | undefined {
    return (this.memos[file] ?? this.create(file)).of(row);
  }

  /** Whether a row's type was asked for before, and not forgotten since. */
  asked(file: number, row: Row): boolean {
    return this.memos[file]?.asked(row) ?? false;
  }

  /** Call it only while no type is being found. */
  forget(file: number): void {
    this.memos[file] = undefined;
  }

  private create(file: number): TypeMemo<Row> {
    const memo = new TypeMemo<Row>(this.rowsOf(file), this.finding, (row) => this.find(file, row));
    this.memos[file] = memo;
    return memo;
  }
}
