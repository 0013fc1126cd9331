/**
 * Chooses between functions of one name by the arguments of a call: first by their number, then by their known types.
 * If several functions still fit, there is no answer.
 */

import { BindingKind, Expr, fewestArguments, mostArguments, SymbolFlag } from "../../language/fact-layout.ts";
import type { Conversions } from "../../language/library.ts";
import { type ExprRow, exists, isNone, mapRows, type Rows } from "../../rows.ts";
import type { CallSite, Engine } from "../engine.ts";
import { pushTo, type Repository } from "../repository.ts";
import { isClosed, libraryFit } from "../types/library-fit.ts";
import { partsOf, typeKey, type ValueType } from "../types/value-type.ts";

const MAX_BASES = 40;

/** A candidate, and how many steps up the inheritance it was found. */
interface Candidate {
  symbol: number;
  depth: number;
}

type Builtin = ValueType & { kind: "builtin" };

/** Whether a value of this library type is certainly not a function. */
const isNoFunction = (by: Conversions, name: string): boolean =>
  isClosed(by, name) || by.roots.has(name) || by.containers.has(name);

const isRoot = (by: Conversions, type: ValueType): boolean => type.kind === "builtin" && by.roots.has(type.name);

export class Overloads {
  private readonly repo: Repository;
  /** For a function, all functions that its name may mean. */
  private readonly memo = new Map<number, readonly Candidate[]>();
  /** The type that a member declared outside it belongs to, by member. */
  private attachedTo: Map<number, number> | undefined;
  /** The members declared outside their type, by type. */
  private attached: Map<number, number[]> | undefined;

  constructor(private readonly engine: Engine) {
    this.repo = engine.repo;
  }

  /** Builds both indexes of members that are declared outside their type. */
  private indexOutside(): { owners: Map<number, number>; members: Map<number, number[]> } {
    const { repo } = this;
    if (!this.attachedTo || !this.attached) {
      this.attachedTo = new Map();
      this.attached = new Map();
      for (const [file, { facts }] of repo.files.entries()) {
        if (!repo.rules(file).overloads) continue;
        const attaches = facts.table("attaches");
        for (let row = 0; row < attaches.length; row++) {
          const symbol = repo.symbolAt(file, attaches.symbol(row));
          for (const part of partsOf(this.engine.types.typeAt(file, attaches.type(row)))) {
            if (part.kind !== "instance") continue;
            if (!repo.has(symbol, SymbolFlag.Extension)) this.attachedTo.set(symbol, part.symbol);
            pushTo(this.attached, part.symbol, symbol);
          }
        }
      }
    }
    return { owners: this.attachedTo, members: this.attached };
  }

  private isFunctionLike(symbol: number): boolean {
    const label = this.repo.label(symbol);
    return label === "Function" || label === "Method";
  }

  /** All functions that the name of this one may mean in the place where this one was found. */
  private candidatesOf(symbol: number): readonly Candidate[] {
    const { repo } = this;
    const known = this.memo.get(symbol);
    if (known) return known;
    const found: Candidate[] = [];
    const { owners } = this.indexOutside();
    const owner = owners.get(symbol) ?? repo.parent(symbol);
    const label = owner < 0 ? "" : repo.label(owner);
    if (owner >= 0 && label !== "Namespace" && label !== "Function" && label !== "Method")
      this.searchType(owner, repo.name(symbol), found);
    else for (const other of this.searchScope(symbol)) found.push({ symbol: other, depth: 0 });
    const kept = found.filter((one) => this.isFunctionLike(one.symbol));
    const all = kept.some((one) => one.symbol === symbol) ? kept : [{ symbol, depth: 0 }, ...kept];
    this.memo.set(symbol, all);
    return all;
  }

  private searchType(owner: number, name: string, into: Candidate[]): void {
    const { engine } = this;
    const { members } = this.indexOutside();
    const queue: { type: ValueType; depth: number }[] = [{ type: engine.types.instanceOf(owner, []), depth: 0 }];
    const seen = new Set<number>();
    for (let next = queue.shift(); next && seen.size < MAX_BASES; next = queue.shift()) {
      if (next.type.kind !== "instance" || seen.has(next.type.symbol)) continue;
      const { symbol, env } = next.type;
      seen.add(symbol);
      for (const own of this.findOwn(symbol, name)) into.push({ symbol: own, depth: next.depth });
      for (const other of members.get(symbol) ?? [])
        if (this.repo.name(other) === name) into.push({ symbol: other, depth: next.depth });
      for (const base of engine.bases.basesOf(symbol, env)) queue.push({ type: base, depth: next.depth + 1 });
    }
  }

  /** The type's own members of a name, including those of its other parts (partial types). */
  private findOwn(symbol: number, name: string): readonly number[] {
    const { repo } = this;
    const file = repo.fileOf(symbol);
    const own = repo.childrenNamed(symbol, name);
    if (!repo.rules(file).partialTypes || !repo.isTopLevel(symbol)) return own;
    const all = [...own];
    for (const space of repo.spacesAt(file, repo.column(symbol, "scope")))
      for (const part of repo.inSpace(space, repo.name(symbol), file))
        if (part !== symbol) all.push(...repo.childrenNamed(part, name));
    return all;
  }

  private searchScope(symbol: number): readonly number[] {
    const { repo } = this;
    const file = repo.fileOf(symbol);
    const scope = repo.column(symbol, "scope");
    const facts = repo.facts(file);
    const found = new Set<number>();
    for (const row of repo.bindingsOf(file, scope, repo.column(symbol, "name")))
      if (facts.bindings.kind(row) === BindingKind.Symbol) found.add(repo.symbolAt(file, facts.bindings.symbol(row)));
    for (const space of repo.spacesAt(file, scope))
      for (const other of repo.inSpace(space, repo.name(symbol), file)) found.add(other);
    return [...found];
  }

  private fitsCount(symbol: number, count: number): boolean {
    const known = this.repo.column(symbol, "arity");
    if (known < 0) return true;
    return count >= fewestArguments(known) && count <= mostArguments(known);
  }

  /** Rates how well arguments fit the parameters: -1 if they certainly do not, otherwise the sum of `rateArgument`. */
  private rateTypes(symbol: number, site: CallSite, args: Rows<ExprRow>, skip: number): number {
    const { repo } = this;
    const file = repo.fileOf(symbol);
    const conversions = repo.rules(file).overloads;
    if (!conversions) return 0;
    const { bindings } = repo.facts(file);
    const rows = repo.facts(file).lists.items(repo.column(symbol, "parameters"));
    const variadic =
      mostArguments(repo.column(symbol, "arity")) === Number.POSITIVE_INFINITY && !repo.rules(file).includes;
    let sure = 0;
    for (let i = 0; i < args.length; i++) {
      const row = rows[Math.min(i + skip, rows.length - 1)];
      if (row === undefined) break;
      // A parameter that takes any number of arguments is not compared.
      if (i + skip >= rows.length || (variadic && i + skip === rows.length - 1)) break;
      const wanted = this.engine.types.typeAt(file, bindings.type(row));
      const fit = this.rateArgument(conversions, wanted, site.file, args[i]!);
      if (fit < 0) return -1;
      sure += fit;
    }
    return sure;
  }

  /** Rates one argument: -1 certainly does not fit, 0 may fit, higher the nearer its type is to the declared one. */
  private rateArgument(by: Conversions, wanted: ValueType | undefined, file: number, argument: ExprRow): number {
    const { repo } = this;
    const { exprs } = repo.facts(file);
    const loose = repo.rules(file).includes === true;
    if (!wanted || wanted.kind === "parameter" || wanted.kind === "union") return 0;
    if (exprs.op(argument) === Expr.Function)
      return wanted.kind === "builtin" && isNoFunction(by, wanted.name) ? -1 : 0;
    const given = this.engine.expressions.typeAt(file, argument);
    if (!given || given.kind === "union") return 0;
    if (given.kind === "parameter") return loose || this.isBound(given) ? 0 : isRoot(by, wanted) ? 1 : -1;
    if (given.kind === "builtin") {
      if (wanted.kind === "builtin") return this.rateBuiltin(by, given, wanted, loose);
      if (given.name === "null") return wanted.kind === "instance" ? 1 : 0;
      // A library's type cannot derive from a type of the repository. In C++, it may be what a constructor takes.
      return wanted.kind !== "instance" || loose ? 0 : -1;
    }
    if (given.kind !== "instance") return 0;
    if (wanted.kind === "instance") return this.rateDerivation(given, wanted.symbol);
    if (wanted.kind !== "builtin" || isRoot(by, wanted)) return 0;
    return isClosed(by, wanted.name) || (!loose && this.rateDerivation(given, -1) < 0) ? -1 : 0;
  }

  /** Rates two library types. Arrays of scalars only fit arrays of the same scalars. */
  private rateBuiltin(by: Conversions, given: Builtin, wanted: Builtin, loose: boolean): number {
    const [from, to] = [given.args[0], wanted.args[0]];
    if (given.name !== "Array" || wanted.name !== "Array" || !from || !to || loose)
      return libraryFit(by, given.name, wanted.name);
    const plain = [from, to].map((type) => (type.kind === "builtin" && by.scalars.has(type.name) ? type.name : ""));
    if (plain[0] !== plain[1]) return -1;
    if (plain[0] !== "" || from.kind !== "builtin" || to.kind !== "builtin") return 10;
    return libraryFit(by, from.name, to.name);
  }

  private isBound(type: ValueType & { kind: "parameter" }): boolean {
    return isNone(type.binding) || exists(this.repo.facts(type.file).bindings.constraint(type.binding));
  }

  /**
   * Rates a derivation: 10 for the same type, less for each step away from it, -1 if all bases are known and none is
   * the wanted type, otherwise 0.
   */
  private rateDerivation(given: ValueType & { kind: "instance" }, wanted: number): number {
    if (given.symbol === wanted) return 10;
    const seen = new Set<number>();
    const queue: ValueType[] = [given];
    let unknown = false;
    for (let next = queue.shift(); next && seen.size < MAX_BASES; next = queue.shift()) {
      if (next.kind !== "instance") {
        unknown = true;
        continue;
      }
      if (next.symbol === wanted) return Math.max(2, 9 - seen.size);
      if (seen.has(next.symbol)) continue;
      seen.add(next.symbol);
      queue.push(...this.engine.bases.basesOf(next.symbol, next.env));
    }
    return unknown ? 0 : -1;
  }

  /** The overload that fits a call; -1 if none fits or several do. A symbol without overloads is returned itself. */
  choose(symbol: number, site: CallSite | undefined): number {
    const { repo } = this;
    if (!this.isFunctionLike(symbol)) return symbol;
    const all = this.candidatesOf(symbol);
    if (all.length < 2 || !site) return this.toDefinition(symbol);
    const first = this.toDefinition(all[0]!.symbol);
    if (all.every((one) => this.toDefinition(one.symbol) === first)) return first;
    const facts = repo.facts(site.file);
    const args = facts.lists.items(facts.exprs.args(site.expr));
    const callee = facts.exprs.callee(site.expr);
    const receiver =
      facts.exprs.op(callee) === Expr.Member
        ? this.engine.expressions.typeAt(site.file, facts.exprs.object(callee))
        : undefined;
    const skipOf = (one: number) => (repo.has(one, SymbolFlag.Extension) && receiver?.kind !== "class" ? 1 : 0);
    const fitting = all.filter((one) => this.fitsCount(one.symbol, args.length + skipOf(one.symbol)));
    const counted = fitting.filter((one) => this.bodyOf(one, fitting) === one);
    if (counted.length < 2) return counted[0] ? this.toDefinition(this.bodyOf(counted[0], all).symbol) : -1;
    const scored = counted
      .map((one) => ({ ...one, sure: this.rateTypes(one.symbol, site, args, skipOf(one.symbol)) }))
      .filter((one) => one.sure >= 0);
    const most = Math.max(...scored.map((one) => one.sure));
    const best = scored.filter((one) => one.sure === most);
    const depth = Math.min(...best.map((one) => one.depth));
    const nearest = new Set(best.filter((one) => one.depth === depth).map((one) => this.toDefinition(one.symbol)));
    if (nearest.size !== 1) {
      // A function with a fixed number of parameters takes precedence over a variadic one.
      const exact = best.filter(
        (one) => one.depth === depth && Number.isFinite(mostArguments(repo.column(one.symbol, "arity"))),
      );
      const named = new Set(exact.map((one) => this.toDefinition(one.symbol)));
      return named.size === 1 ? [...named][0]! : this.choosePreferred([...nearest]);
    }
    return [...nearest][0]!;
  }

  /** The definition of a declared member among the candidates. A definition may leave out the default values. */
  private bodyOf(one: Candidate, all: readonly Candidate[]): Candidate {
    const { repo } = this;
    if (!repo.has(one.symbol, SymbolFlag.Signature) || !repo.rules(repo.fileOf(one.symbol)).includes) return one;
    const most = mostArguments(repo.column(one.symbol, "arity"));
    const alike = all.filter(
      (other) => other.depth === one.depth && mostArguments(repo.column(other.symbol, "arity")) === most,
    );
    const bodies = alike.filter((other) => !repo.has(other.symbol, SymbolFlag.Signature));
    const declarations = alike.length - bodies.length;
    return bodies.length === 1 && declarations === 1 ? bodies[0]! : one;
  }

  /**
   * The only candidate that is not hidden, or the first if all are alternatives of it; -1 if there is no such
   * candidate.
   */
  private choosePreferred(symbols: readonly number[]): number {
    const bodies = symbols.filter((symbol) => !this.repo.has(symbol, SymbolFlag.Hidden));
    return bodies.length === 1 || bodies.every((symbol) => this.isAlternative(symbol, bodies[0]!))
      ? (bodies[0] ?? -1)
      : -1;
  }

  /**
   * Whether two definitions are the same function to a caller: equal parameters, under different conditions (`#if`).
   */
  private isAlternative(one: number, other: number): boolean {
    const { repo } = this;
    if (!repo.rules(repo.fileOf(one)).includes || repo.column(one, "arity") !== repo.column(other, "arity"))
      return false;
    const joinTypeKeys = (symbol: number) => {
      const file = repo.fileOf(symbol);
      const { bindings } = repo.facts(file);
      const rows = repo.facts(file).lists.items(repo.column(symbol, "parameters"));
      return mapRows(rows, (row) => typeKey(this.engine.types.typeAt(file, bindings.type(row)))).join();
    };
    return one === other || joinTypeKeys(one) === joinTypeKeys(other);
  }

  private toDefinition(symbol: number): number {
    const definition = this.engine.includes.definitionOf(symbol);
    return definition >= 0 ? definition : symbol;
  }
}
