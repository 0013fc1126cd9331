/**
 * A memo of types by row. While a row's type is being found, the row counts as unknown; this ends circles. A type that
 * was found inside of a circle, with the help of such an unknown, may be incomplete. It is kept until the row at which
 * the circle was entered is known. Then it is forgotten and found again on the next question, a few times at most.
 */
import type { ValueType } from "./value-type.ts";

/** How many rows one block of memory holds. */
const BLOCK = 1_024;
/** A type that a circle may have cut short is forgotten this often. The last result stays, which bounds the work. */
const MAX_TRIES = 3;
const NEVER = Number.POSITIVE_INFINITY;

interface Forgetful {
  forget(row: number): void;
}

/** The rows that are being found, nested in one another. All memos of an engine share one instance. */
export class Finding {
  depth = 0;
  /** Since the innermost row began: the depth of the outermost row in progress that was asked for. */
  asked = NEVER;
  /**
   * Types found inside of circles that are still open. `entered` is the outermost depth at which one of these circles
   * began.
   */
  private readonly cut: { memo: Forgetful; row: number; entered: number }[] = [];

  /** Records that an unknown was used which may depend on every row in progress. */
  cutShort(): void {
    this.asked = 0;
  }

  get cutCount(): number {
    return this.cut.length;
  }

  /** The outermost depth at which a circle that is still open began. */
  get entered(): number {
    return this.cut.at(-1)?.entered ?? NEVER;
  }

  noteCut(memo: Forgetful, row: number, entered: number): void {
    this.cut.push({ memo, row, entered: Math.min(entered, this.entered) });
  }

  /** Forgets the latest cut types, until only `count` of them are left. */
  forgetCut(count: number): void {
    while (this.cut.length > count) {
      const last = this.cut.pop();
      last?.memo.forget(last.row);
    }
  }
}

export class TypeMemo<Row extends number> implements Forgetful {
  /** States of a row: undefined: not asked yet; null: unknown; a number: being found, at that depth. */
  private readonly blocks: ((ValueType | number | null | undefined)[] | undefined)[] = [];
  /** Rows whose types may be incomplete until their circle is closed. */
  private readonly open = new Set<number>();
  /** How often the type of each row was forgotten. */
  private readonly tries = new Map<number, number>();

  /** @param find finds the type of a row; called when the row is first asked for */
  constructor(
    private readonly rows: number,
    private readonly finding: Finding,
    private readonly find: (row: Row) => ValueType | undefined,
  ) {}

  /** Whether a row's type was asked for before. */
  wasAsked(row: Row): boolean {
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
    // A type that uses an incomplete one may be incomplete as well.
    if (this.open.size > 0 && this.open.has(row))
      this.finding.asked = Math.min(this.finding.asked, this.finding.entered);
    return known ?? undefined;
  }

  private findFirst(row: Row): ValueType | undefined {
    const { finding } = this;
    const at = Math.floor(row / BLOCK);
    // Allocated at full size, because arrays that grow row by row leave twice their memory behind as garbage.
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
  wasAsked(file: number, row: Row): boolean {
    return this.memos[file]?.wasAsked(row) ?? false;
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
