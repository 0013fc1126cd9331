/** Finds what a call reaches. Precision goes before recall: an ambiguous target, or one from outside, is left out. */
import { BindingKind, Expr, SymbolFlag } from "../../language/fact-layout.ts";
import type { Reason } from "../../model.ts";
import { type BindingRow, type ExprRow, exists, isNone, NONE } from "../../rows.ts";
import type { CallSite, Engine, Entity, MemberSearch } from "../engine.ts";
import type { UniqueNames } from "../names/unique-names.ts";
import type { Repository } from "../repository.ts";
import { partsOf, type ValueType } from "../types/value-type.ts";
import { Extensions } from "./extensions.ts";

export interface Target {
  symbol: number;
  reason: Reason;
}

const MAX_TARGETS = 4;
const MAX_ALIASES = 4;

/** The reason for an edge to a symbol that was found by name. */
export function reasonOf(repo: Repository, file: number, entity: Entity & { kind: "symbol" }): Reason {
  if (entity.via === "import") return "import";
  return repo.fileOf(entity.symbol) === file ? "same_scope" : "import";
}

export class CallTargets {
  private readonly repo: Repository;
  private readonly unique: UniqueNames;
  private readonly extensions: Extensions;
  /** How many local names for other local names are being followed. */
  private aliases = 0;

  constructor(
    private readonly engine: Engine,
    unique: UniqueNames,
  ) {
    this.repo = engine.repo;
    this.unique = unique;
    this.extensions = new Extensions(engine);
  }

  /** The node that stands for a hidden overload signature; -1 if there is none. */
  findDefinition(symbol: number): number {
    const { engine, repo } = this;
    if (!repo.has(symbol, SymbolFlag.Signature)) return -1;
    const file = repo.fileOf(symbol);
    if (repo.rules(file).includes) return engine.includes.definitionOf(symbol);
    const name = repo.name(symbol);
    const parent = repo.parent(symbol);
    if (name === "" || name === "()" || name === "new()") return -1;
    if (parent >= 0 && repo.label(symbol) === "Method")
      return repo.childrenNamed(parent, name).find((other) => !repo.has(other, SymbolFlag.Hidden)) ?? -1;
    const entity = engine.names.lookUp(file, repo.column(symbol, "scope"), repo.column(symbol, "name"), "value");
    return entity?.kind === "symbol" && !repo.has(entity.symbol, SymbolFlag.Hidden) ? entity.symbol : -1;
  }

  /** The node that a CALLS edge to this symbol ends at; -1 if the symbol cannot be called. */
  private toCallable(symbol: number): number {
    const { repo } = this;
    if (!repo.has(symbol, SymbolFlag.Hidden)) return symbol;
    const definition = this.findDefinition(symbol);
    if (definition >= 0) return definition;
    const holder = repo.parent(symbol);
    if (holder >= 0 && repo.has(symbol, SymbolFlag.Signature) && this.isTypeOf(holder, symbol)) return holder;
    // For a shorthand or plain property of an object literal, the function that it holds is called.
    const value = repo.column(symbol, "value");
    if (repo.label(symbol) === "Property" && exists(value)) {
      const type = this.engine.expressions.typeAt(repo.fileOf(symbol), value);
      if (type?.kind === "function" && !repo.has(type.symbol, SymbolFlag.Hidden)) return type.symbol;
      if (type?.kind === "function") return this.findNamedValue(repo.fileOf(symbol), value);
    }
    return -1;
  }

  /** The constant or variable that an expression names; -1 if there is none. */
  private findNamedValue(file: number, value: ExprRow): number {
    const { repo } = this;
    const { exprs } = repo.facts(file);
    if (exprs.op(value) !== Expr.Name) return -1;
    const entity = this.engine.names.lookUp(file, exprs.nameScope(value), exprs.name(value), "value");
    return entity?.kind === "symbol" && !repo.has(entity.symbol, SymbolFlag.Hidden) ? entity.symbol : -1;
  }

  /** Whether a hidden signature is the declared function type of a property. */
  private isTypeOf(property: number, signature: number): boolean {
    const { repo } = this;
    if (repo.label(property) !== "Property" || repo.has(property, SymbolFlag.Hidden)) return false;
    const declared = this.engine.types.typeOfSymbol(property);
    return declared?.kind === "function" && declared.symbol === signature;
  }

  /** Targets of a call by a plain name. */
  private findByName(file: number, expr: ExprRow, site: CallSite): Target[] {
    const { engine, repo } = this;
    const { exprs } = repo.facts(file);
    const space = exprs.isCalled(expr) ? "call" : "value";
    const entity = engine.names.lookUp(file, exprs.nameScope(expr), exprs.name(expr), space);
    if (!entity) return this.unique.findFunction(file, repo.facts(file).strings[exprs.name(expr)]!);
    if (entity.kind === "symbol") return this.findBySymbol(entity.symbol, reasonOf(this.repo, file, entity), site);
    if (entity.kind === "external") return [];
    const held = this.findByType(engine.types.typeOfEntity(entity), "receiver_type");
    return held.length > 0 || entity.kind !== "binding" ? held : this.findByAlias(entity.file, entity.binding, site);
  }

  /**
   * Follows a local name to a node that is called through it, although the held function is no node: `const { start } =
   * hooks`.
   */
  private findByAlias(file: number, binding: BindingRow, site: CallSite): Target[] {
    const { bindings, exprs } = this.repo.facts(file);
    if (bindings.kind(binding) !== BindingKind.Local || this.aliases > MAX_ALIASES) return [];
    const value = bindings.value(binding);
    const op = isNone(value) ? -1 : exprs.op(value);
    if (op !== Expr.Name && op !== Expr.Member) return [];
    this.aliases++;
    const targets = this.findCalleeTargets(file, value, site.expr).filter(({ reason }) => reason !== "unique_name");
    this.aliases--;
    return targets;
  }

  /** Targets of a call of a symbol. A constant that holds a known function stands for that function. */
  private findBySymbol(found: number, reason: Reason, site: CallSite): Target[] {
    const { engine, repo } = this;
    const symbol = repo.rules(repo.fileOf(found)).overloads ? engine.overloads.choose(found, site) : found;
    if (symbol < 0) return [];
    const label = repo.label(symbol);
    if (label === "TypeAlias") return this.findByType(engine.types.typeOfSymbol(symbol), reason);
    if (label === "Const" || label === "Variable" || label === "Property") {
      const type = engine.types.typeOfSymbol(symbol);
      const held = this.findByType(type, reason);
      if (held.length > 0 && (label !== "Property" || repo.has(symbol, SymbolFlag.Hidden) || this.isAlias(type)))
        return held;
      if (type?.kind === "external" && this.isModule(symbol)) return [];
    }
    const node = this.toCallable(symbol);
    return node < 0 ? [] : [{ symbol: node, reason }];
  }

  /** Whether a property is only another name of a function: `size = this.length`, `run: typeof run`. */
  private isAlias(type: ValueType | undefined): boolean {
    return type?.kind === "function" && !this.repo.has(type.symbol, SymbolFlag.Hidden);
  }

  /** Whether a symbol stands for a module, or for something in one: `const assert = require("assert")`. */
  private isModule(symbol: number): boolean {
    const { repo } = this;
    const { exprs } = repo.facts(repo.fileOf(symbol));
    let row = repo.column(symbol, "value");
    while (exists(row) && exprs.op(row) === Expr.Member) row = exprs.object(row);
    return exists(row) && exprs.op(row) === Expr.Module;
  }

  /** The functions and classes that a value of this type can be. */
  private findByType(type: ValueType | undefined, reason: Reason): Target[] {
    const { repo } = this;
    const targets: Target[] = [];
    for (const part of partsOf(type)) {
      const member = part.kind === "instance" ? repo.rules(repo.fileOf(part.symbol)).callMember : undefined;
      if (member !== undefined) {
        const [called] = this.engine.members.find(part, member).members;
        if (called) targets.push({ symbol: called.symbol, reason });
      }
      if (part.kind !== "function" && part.kind !== "class") continue;
      const node = this.toCallable(part.symbol);
      if (node >= 0) targets.push({ symbol: node, reason });
    }
    return targets;
  }

  /** Whether a receiver of unknown type certainly comes from outside. Guessing its member would then be wrong. */
  isForeign(file: number, object: ExprRow): boolean {
    const { engine } = this;
    const { exprs, strings } = this.repo.facts(file);
    const op = exprs.op(object);
    // The class's bases are unknown, so its parent may be anything.
    if (op === Expr.Super) return true;
    // A member or result of something foreign is foreign too: `System.out.println()`.
    if (op === Expr.Member || op === Expr.Call) {
      const inner = op === Expr.Member ? exprs.object(object) : exprs.callee(object);
      const type = isNone(inner) ? undefined : engine.expressions.typeAt(file, inner);
      if (type) return type.kind === "builtin" && !engine.library.holdsOthers(type);
      return exists(inner) && this.isForeign(file, inner);
    }
    if (op !== Expr.Name || !/^\p{Lu}/u.test(strings[exprs.name(object)]!)) return false;
    // A capitalized name looks like a class; nothing here declares it.
    return engine.names.lookUp(file, exprs.nameScope(object), exprs.name(object), "value") === undefined;
  }

  private isSuper(file: number, object: ExprRow): boolean {
    return this.repo.facts(file).exprs.op(object) === Expr.Super;
  }

  /** The member that `super.name` means: that of the first parent which has it. */
  private searchParents(parents: ValueType, name: string, called: boolean | undefined): MemberSearch {
    let search: MemberSearch = { members: [], known: true };
    for (const parent of partsOf(parents)) {
      search = this.engine.members.find(parent, name, 0, called);
      if (search.members.length > 0) break;
    }
    return search;
  }

  private findByMember(file: number, callee: ExprRow, site: CallSite): Target[] {
    const { engine, repo } = this;
    const facts = repo.facts(file);
    const object = facts.exprs.object(callee);
    const name = facts.strings[facts.exprs.member(callee)]!;
    const receiver = engine.expressions.typeAt(file, object);
    if (!receiver) {
      const guessed = this.isForeign(file, object) ? [] : this.unique.findMethod(file, name);
      return guessed.length > 0 ? guessed : this.extensions.find(receiver, name, site);
    }
    const calls = repo.language(file).library.functions?.get(name) === "called";
    if (receiver.kind === "function" && calls) return this.findByType(receiver, "receiver_type");
    // A constant that holds a function from outside is called: `toString.call(x)`.
    if (receiver.kind === "external" && calls && facts.exprs.op(object) === Expr.Name)
      return this.dropRepeated(this.findByName(file, object, site));
    const called = facts.exprs.isCalled(callee) || undefined;
    const search = this.isSuper(file, object)
      ? this.searchParents(receiver, name, called)
      : engine.members.find(receiver, name, 0, called);
    if (search.members.length === 0 && repo.rules(file).openValues)
      return this.dropRepeated(this.findByType(engine.members.typeOfMember(receiver, name), "receiver_type"));
    const direct = facts.exprs.op(object) === Expr.This;
    const own: Reason = receiver.kind === "module" ? "import" : "receiver_type";
    const targets: Target[] = [];
    for (const { symbol, inherited } of search.members)
      targets.push(...this.findBySymbol(symbol, inherited ? "inheritance" : direct ? "same_scope" : own, site));
    return targets.length > 0 ? this.dropRepeated(targets) : this.extensions.find(receiver, name, site);
  }

  private dropRepeated(targets: Target[]): Target[] {
    if (targets.length < 2) return targets;
    const seen = new Map(targets.map((target) => [target.symbol, target]));
    return seen.size > MAX_TARGETS ? [] : [...seen.values()];
  }

  private findBySuper(file: number, callee: ExprRow): Target[] {
    const { repo } = this;
    const { exprs, scopes } = repo.facts(file);
    const scope = exprs.thisScope(callee);
    const owner = isNone(scope) ? NONE : scopes.symbol(scope);
    if (isNone(owner)) return [];
    return this.engine.bases
      .basesOf(repo.symbolAt(file, owner), undefined, true)
      .flatMap((base): Target[] =>
        base.kind === "instance" && !repo.has(base.symbol, SymbolFlag.Hidden)
          ? [{ symbol: base.symbol, reason: "inheritance" }]
          : [],
      );
  }

  /** The targets of a call. */
  findCallTargets(file: number, callRow: number): Target[] {
    const { exprs, calls } = this.repo.facts(file);
    const row = calls.expr(callRow);
    return this.findCalleeTargets(file, exprs.callee(row), row);
  }

  /** The targets of a callee. `row` is the call, or another expression that names the callee. */
  findCalleeTargets(file: number, callee: ExprRow, row: ExprRow): Target[] {
    const { engine } = this;
    if (isNone(callee)) return [];
    const { exprs } = this.repo.facts(file);
    switch (exprs.op(callee)) {
      case Expr.Name:
        return this.dropRepeated(this.findByName(file, callee, { file, expr: row }));
      case Expr.Member:
        return this.findByMember(file, callee, { file, expr: row });
      case Expr.Super:
        return this.findBySuper(file, callee);
      case Expr.Index:
        return this.findByIndex(file, callee, { file, expr: row });
      case Expr.Typed: {
        // A cast changes the type of a function, but not which function is called.
        const uncast = this.findCalleeTargets(file, exprs.value(callee), row);
        if (uncast.length > 0) return uncast;
        return this.dropRepeated(this.findByType(engine.expressions.typeAt(file, callee), "receiver_type"));
      }
      default:
        return this.dropRepeated(this.findByType(engine.expressions.typeAt(file, callee), "receiver_type"));
    }
  }

  /**
   * Targets of `object[key]()`: the member with that computed name, or the functions that the value is known to hold.
   */
  private findByIndex(file: number, callee: ExprRow, site: CallSite): Target[] {
    const { engine } = this;
    const { exprs, strings } = this.repo.facts(file);
    const key = exprs.key(callee);
    const name = isNone(key) ? "" : strings[key]!;
    if (name.startsWith("[")) {
      const { members } = engine.members.find(engine.expressions.typeAt(file, exprs.object(callee)), name);
      const targets = members.flatMap(({ symbol, inherited }) =>
        this.findBySymbol(symbol, inherited ? "inheritance" : "receiver_type", site),
      );
      if (targets.length > 0) return this.dropRepeated(targets);
    }
    return this.dropRepeated(this.findByType(engine.expressions.typeAt(file, callee), "receiver_type"));
  }
}
