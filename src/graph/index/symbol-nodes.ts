/**
 * The node of each symbol. An edit copies nothing for files that it left unchanged: their nodes keep their order, and
 * move with the first node of their file.
 */
import type { Repository } from "../resolve/repository.ts";

/** The nodes as they were when all files were laid out. */
interface LaidNodes {
  /** First symbol of each file. */
  base: Int32Array;
  /** The node of each symbol; -1 for hidden ones. */
  all: Int32Array;
  /** First symbol node of each file. */
  first: Int32Array;
}

/** What edits have changed since then. */
interface EditedNodes {
  repo: Repository;
  first: Int32Array;
  /**
   * The nodes of edited files' symbols, by file and symbol row. They are counted from the file's first node; -1 if
   * hidden.
   */
  own: ReadonlyMap<number, Int32Array>;
}

export class SymbolNodes {
  constructor(
    private readonly laid: LaidNodes,
    private readonly edited?: EditedNodes,
  ) {}

  /** The node of a symbol; -1 for a hidden one. */
  at(symbol: number): number | undefined {
    const { laid, edited } = this;
    if (!edited) return laid.all[symbol];
    const file = edited.repo.fileOf(symbol);
    const row = symbol - (edited.repo.base[file] ?? 0);
    const own = edited.own.get(file);
    const node = own ? own[row] : laid.all[(laid.base[file] ?? 0) + row];
    if (node === undefined || node < 0) return node;
    return (edited.first[file] ?? 0) + node - (own ? 0 : (laid.first[file] ?? 0));
  }

  /** The nodes after an edit of further files. */
  after({ repo, first, own }: EditedNodes): SymbolNodes {
    return new SymbolNodes(this.laid, { repo, first, own: new Map([...(this.edited?.own ?? []), ...own]) });
  }
}
