/** Base types, and members that are declared outside their type. */
import { BindingKind, HeritageKind, SymbolFlag } from "../../language/fact-layout.ts";
import { type BindingRow, exists, isNone, NOTHING, type TypeRow } from "../../rows.ts";
import type { Engine } from "../engine.ts";
import { FileIndex } from "../file-index.ts";
import { pushTo, type Repository } from "../repository.ts";
import { partsOf, substitute, type TypeEnv, unionOf, type ValueType } from "./value-type.ts";

interface OutsideIndex {
  isComplete: boolean;
  bases: Map<number, { file: number; row: number }[]>;
  members: Map<number, Map<string, number[]>>;
}

/** The type has only one declaration. */
const ALONE = 1;
/** The type has no bases. */
const BASELESS = 2;

export class Bases {
  private readonly repo: Repository;
  /** Heritage rows of each symbol, by file. */
  private readonly heritage = new FileIndex((file) => this.indexHeritage(file));
  /** Bases and members that are declared outside their type. They are found once for the whole repository. */
  private outside: OutsideIndex | undefined;
  /** What is known of each symbol, as bits: `ALONE`, `BASELESS`. */
  private readonly known: Uint8Array;

  constructor(private readonly engine: Engine) {
    this.repo = engine.repo;
    this.known = new Uint8Array(this.repo.symbolTotal);
  }

  private indexHeritage(file: number): Map<number, number[]> {
    const index = new Map<number, number[]>();
    const { heritage } = this.repo.facts(file);
    for (let row = 0; row < heritage.length; row++) {
      const symbol = heritage.symbol(row);
      if (exists(symbol)) pushTo(index, symbol, row);
    }
    return index;
  }

  /** Members that are declared outside a type, by name. */
  attachedTo(symbol: number): ReadonlyMap<string, readonly number[]> | undefined {
    return this.indexOutside().members.get(symbol);
  }

  private indexOutside(): OutsideIndex {
    const { repo } = this;
    if (this.outside) return this.outside;
    // Assigned before it is filled: finding the owners evaluates types, which may ask for members again.
    const index: OutsideIndex = { isComplete: false, bases: new Map(), members: new Map() };
    this.outside = index;
    for (const [file, { facts }] of repo.files.entries()) {
      if (!facts.has("attaches") && !facts.has("heritage")) continue;
      const [attaches, heritage] = [facts.table("attaches"), facts.table("heritage")];
      for (let row = 0; row < attaches.length; row++) {
        const symbol = repo.symbolAt(file, attaches.symbol(row));
        for (const owner of this.subjectsOf(file, attaches.type(row))) {
          let names = index.members.get(owner);
          if (!names) {
            names = new Map();
            index.members.set(owner, names);
          }
          pushTo(names, repo.rules(file).ignoreCase ? repo.name(symbol).toLowerCase() : repo.name(symbol), symbol);
        }
      }
      for (let row = 0; row < heritage.length; row++) {
        if (exists(heritage.symbol(row))) continue;
        for (const owner of this.subjectsOf(file, heritage.subject(row))) pushTo(index.bases, owner, { file, row });
      }
    }
    index.isComplete = true;
    return index;
  }

  /** The symbols that a type row names. */
  private subjectsOf(file: number, row: TypeRow): number[] {
    const parts = partsOf(this.engine.types.typeAt(file, row));
    return parts.flatMap((part) => (part.kind === "instance" ? [part.symbol] : []));
  }

  private resolveHeritage(file: number, row: number): ValueType | undefined {
    const { engine, repo } = this;
    const { heritage, exprs } = repo.facts(file);
    const type = exists(heritage.type(row)) ? engine.types.typeAt(file, heritage.type(row)) : undefined;
    if (type && type.kind === "instance") return type;
    const expr = heritage.expr(row);
    if (isNone(expr) || exprs.length <= expr) return type;
    const value = unionOf(
      partsOf(engine.expressions.typeAt(file, expr)).map((part) => {
        if (part.kind === "class") return engine.types.instanceOf(part.symbol, []);
        if (part.kind === "function" && !repo.has(part.symbol, SymbolFlag.Hidden))
          return engine.types.instanceOf(part.symbol, []);
        // A constructor type yields the type that it makes: `abstract new () => Base`.
        if (part.kind === "function" && repo.has(part.symbol, SymbolFlag.Constructor))
          return substitute(engine.calls.returnTypeOf(part.symbol), part.env);
        return part;
      }),
    );
    return value && value.kind !== "external" ? value : (type ?? value);
  }

  /**
   * The bases of a class-like symbol, in the order in which members are searched: mixins, extended types, implemented
   * types.
   * @param env the type arguments of the instance from which the bases are seen
   * @param parents whether to return only the types that `super` may mean
   */
  basesOf(symbol: number, env: TypeEnv | undefined, parents = false): readonly ValueType[] {
    const { known, repo } = this;
    if (known[symbol]! & BASELESS) return NOTHING;
    const file = repo.fileOf(symbol);
    // While the outside index is still being built, finding no base in it proves nothing.
    const isComplete = this.outside?.isComplete;
    let byKind: ValueType[][] | undefined;
    const { partialTypes, mergedTypes } = repo.rules(file);
    for (const part of partialTypes || mergedTypes ? this.declarationsOf(symbol) : [symbol]) {
      const home = part === symbol ? file : repo.fileOf(part);
      for (const row of this.heritage.of(home).get(part - repo.base[home]!) ?? NOTHING) {
        // A TypeScript class inherits no member from an interface that it implements.
        if (mergedTypes && repo.facts(home).heritage.kind(row) === HeritageKind.Implements) continue;
        byKind ??= [[], [], []];
        this.addBases(home, row, env, byKind);
      }
    }
    for (const { file: other, row } of this.indexOutside().bases.get(symbol) ?? NOTHING) {
      byKind ??= [[], [], []];
      this.addBases(other, row, env, byKind);
    }
    if (!byKind) {
      if (isComplete) known[symbol]! |= BASELESS;
      return NOTHING;
    }
    const extended = byKind[HeritageKind.Extends]!;
    if (parents && extended.length > 0) return extended;
    return [...byKind[HeritageKind.Mixin]!, ...extended, ...byKind[HeritageKind.Implements]!];
  }

  private addBases(file: number, row: number, env: TypeEnv | undefined, byKind: ValueType[][]): void {
    const found = byKind[this.repo.facts(file).heritage.kind(row)]!;
    for (const part of partsOf(substitute(this.resolveHeritage(file, row), env))) found.push(part);
  }

  /** All declarations of the same type under one name: merged interfaces, partial classes. */
  declarationsOf(symbol: number): readonly number[] {
    if (this.known[symbol]! & ALONE) return [symbol];
    const found = this.findDeclarations(symbol);
    if (found.length === 1) this.known[symbol]! |= ALONE;
    return found;
  }

  private findDeclarations(symbol: number): readonly number[] {
    const { repo } = this;
    const file = repo.fileOf(symbol);
    if (repo.rules(file).partialTypes && repo.isTopLevel(symbol)) return this.partsOfType(file, symbol);
    const rows = repo.bindingsOf(file, repo.column(symbol, "scope"), repo.column(symbol, "name"));
    return rows.length < 2 ? [symbol] : this.findMerged(file, symbol, rows);
  }

  private findMerged(file: number, symbol: number, rows: readonly BindingRow[]): readonly number[] {
    const { repo } = this;
    const { bindings } = repo.facts(file);
    const merged = rows.flatMap((row) => {
      if (bindings.kind(row) !== BindingKind.Symbol) return [];
      const other = repo.symbolAt(file, bindings.symbol(row));
      return other !== symbol && exists(repo.column(other, "inner")) ? [other] : [];
    });
    return [symbol, ...merged];
  }

  /**
   * The parts of a partial type: declarations of the same name in the same name spaces, with as many type parameters.
   */
  private partsOfType(file: number, symbol: number): readonly number[] {
    const { repo } = this;
    const found = [symbol];
    const count = (one: number) => repo.facts(repo.fileOf(one)).lists.items(repo.column(one, "typeParameters")).length;
    for (const space of repo.spacesAt(file, repo.column(symbol, "scope")))
      for (const one of repo.inSpace(space, repo.name(symbol), file))
        if (one !== symbol && exists(repo.column(one, "inner")) && count(one) === count(symbol)) found.push(one);
    return found;
  }
}
