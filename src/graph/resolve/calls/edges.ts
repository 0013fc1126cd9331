/**
 * The edges of one file: targets of its calls, imports, uses and inheritance.
 *
 * Precision before recall: a target that is ambiguous, or comes from outside, gives no edge.
 */
import { BindingKind, CallFlag, Expr, SymbolFlag, Type } from "../../language/fact-layout.ts";
import type { EdgeType, Reason, SymbolLabel } from "../../model.ts";
import { type BindingRow, type ExprRow, exists, isNone, NONE, type SymbolRow, type TypeRow } from "../../rows.ts";
import type { CallSite, Engine, Entity, MemberSearch } from "../engine.ts";
import type { UniqueNames } from "../names/unique-names.ts";
import { partsOf, type ValueType } from "../types/value-type.ts";
import { createExtensions } from "./extensions.ts";
import { heritageEdges } from "./heritage-edges.ts";
import { decoratorEdges, importEdges } from "./reference-edges.ts";

/** An edge between symbols; a negative end is a file: `-1 - file`. */
export interface RawEdge {
  type: EdgeType;
  from: number;
  to: number;
  line: number;
  reason: Reason;
}

export interface Target {
  symbol: number;
  reason: Reason;
}

const MAX_TARGETS = 4;
const MAX_ALIASES = 4;

/** Labels that a call can reach in a language that is strict about it. */
function isCalled(label: SymbolLabel, constructing: boolean): boolean {
  if (label === "Function" || label === "Method") return true;
  return constructing && (label === "Class" || label === "Struct" || label === "Enum");
}

interface EdgeFinder {
  /** Appends the edges that leave a file. */
  edgesOf(file: number, into: RawEdge[]): void;
  /** What one call reaches. */
  callTargets(file: number, callRow: number): Target[];
}

export function createEdgeFinder(engine: Engine, unique: UniqueNames): EdgeFinder {
  const { repo } = engine;
  const extensions = createExtensions(engine);
  /** Local names of local names under way. */
  let aliases = 0;

  /** The nearest symbol that is a node, or none. */
  function visible(symbol: number): number {
    let at = symbol;
    while (at >= 0 && repo.has(at, SymbolFlag.Hidden)) {
      const definition = definitionOf(at);
      if (definition >= 0) return definition;
      at = repo.parent(at);
    }
    return at;
  }

  /** The node that stands for a hidden overload signature, or none. */
  function definitionOf(symbol: number): number {
    if (!repo.has(symbol, SymbolFlag.Signature)) return -1;
    const file = repo.fileOf(symbol);
    if (repo.rules(file).includes) return engine.definitionOf(symbol);
    const name = repo.name(symbol);
    const parent = repo.parent(symbol);
    if (name === "" || name === "()" || name === "new()") return -1;
    if (parent >= 0 && repo.label(symbol) === "Method")
      return repo.childrenNamed(parent, name).find((other) => !repo.has(other, SymbolFlag.Hidden)) ?? -1;
    const entity = engine.lookup(file, repo.column(symbol, "scope"), repo.column(symbol, "name"), "value");
    return entity?.kind === "symbol" && !repo.has(entity.symbol, SymbolFlag.Hidden) ? entity.symbol : -1;
  }

  /** Whether a symbol can be the end of a CALLS edge, and which node it is. */
  function callable(symbol: number): number {
    if (!repo.has(symbol, SymbolFlag.Hidden)) return symbol;
    const definition = definitionOf(symbol);
    if (definition >= 0) return definition;
    const holder = repo.parent(symbol);
    if (holder >= 0 && repo.has(symbol, SymbolFlag.Signature) && isTypeOf(holder, symbol)) return holder;
    // A shorthand or plain member of an object literal: what it holds is called.
    const value = repo.column(symbol, "value");
    if (repo.label(symbol) === "Property" && exists(value)) {
      const type = engine.exprType(repo.fileOf(symbol), value);
      if (type?.kind === "function" && !repo.has(type.symbol, SymbolFlag.Hidden)) return type.symbol;
      if (type?.kind === "function") return namedValue(repo.fileOf(symbol), value);
    }
    return -1;
  }

  /** The constant or variable that an expression names, or none. */
  function namedValue(file: number, value: ExprRow): number {
    const { exprs } = repo.facts(file);
    if (exprs.op(value) !== Expr.Name) return -1;
    const entity = engine.lookup(file, exprs.nameScope(value), exprs.name(value), "value");
    return entity?.kind === "symbol" && !repo.has(entity.symbol, SymbolFlag.Hidden) ? entity.symbol : -1;
  }

  /** Whether a property is declared to be the function that a hidden signature describes. */
  function isTypeOf(property: number, signature: number): boolean {
    if (repo.label(property) !== "Property" || repo.has(property, SymbolFlag.Hidden)) return false;
    const declared = engine.symbolType(property);
    return declared?.kind === "function" && declared.symbol === signature;
  }

  function reasonOf(file: number, entity: Entity & { kind: "symbol" }): Reason {
    if (entity.via === "import") return "import";
    return repo.fileOf(entity.symbol) === file ? "same_scope" : "import";
  }

  /** Targets named by a plain name. */
  function nameTargets(file: number, expr: ExprRow, site: CallSite): Target[] {
    const { exprs } = repo.facts(file);
    const space = exprs.called(expr) ? "call" : "value";
    const entity = engine.lookup(file, exprs.nameScope(expr), exprs.name(expr), space);
    if (!entity) return unique.forName(file, repo.facts(file).strings[exprs.name(expr)]!);
    if (entity.kind === "symbol") return symbolTargets(entity.symbol, reasonOf(file, entity), site);
    if (entity.kind === "external") return [];
    const held = typeTargets(engine.entityType(entity), "receiver_type");
    return held.length > 0 || entity.kind !== "binding" ? held : aliasTargets(entity.file, entity.binding, site);
  }

  /** A local name of something that is a node though the function it holds is none: `const { start } = hooks`. */
  function aliasTargets(file: number, binding: BindingRow, site: CallSite): Target[] {
    const { bindings, exprs } = repo.facts(file);
    if (bindings.kind(binding) !== BindingKind.Local || aliases > MAX_ALIASES) return [];
    const value = bindings.value(binding);
    const op = isNone(value) ? -1 : exprs.op(value);
    if (op !== Expr.Name && op !== Expr.Member) return [];
    aliases++;
    const targets = calleeTargets(file, value, site.expr).filter(({ reason }) => reason !== "unique_name");
    aliases--;
    return targets;
  }

  /** A called symbol; a constant that holds a known function stands for that function. */
  function symbolTargets(found: number, reason: Reason, site: CallSite): Target[] {
    const symbol = repo.rules(repo.fileOf(found)).overloads ? engine.overloadFor(found, site) : found;
    if (symbol < 0) return [];
    const label = repo.label(symbol);
    if (label === "TypeAlias") return typeTargets(engine.symbolType(symbol), reason);
    if (label === "Const" || label === "Variable" || label === "Property") {
      const type = engine.symbolType(symbol);
      const held = typeTargets(type, reason);
      if (held.length > 0 && (label !== "Property" || repo.has(symbol, SymbolFlag.Hidden) || isAlias(type)))
        return held;
      if (type?.kind === "external" && isModule(symbol)) return [];
    }
    const node = callable(symbol);
    return node < 0 ? [] : [{ symbol: node, reason }];
  }

  /** Whether a property is another name of one function: `size = this.length`, `run: typeof run`. */
  function isAlias(type: ReturnType<Engine["exprType"]>): boolean {
    return type?.kind === "function" && !repo.has(type.symbol, SymbolFlag.Hidden);
  }

  /** Whether a name stands for a module, or for something in it: `const assert = require("assert")`. */
  function isModule(symbol: number): boolean {
    const { exprs } = repo.facts(repo.fileOf(symbol));
    let row = repo.column(symbol, "value");
    while (exists(row) && exprs.op(row) === Expr.Member) row = exprs.object(row);
    return exists(row) && exprs.op(row) === Expr.Module;
  }

  /** Functions and classes that a value is known to be. */
  function typeTargets(type: ReturnType<Engine["exprType"]>, reason: Reason): Target[] {
    const targets: Target[] = [];
    for (const part of partsOf(type)) {
      const member = part.kind === "instance" ? repo.rules(repo.fileOf(part.symbol)).callMember : undefined;
      if (member !== undefined) {
        const [called] = engine.members(part, member).members;
        if (called) targets.push({ symbol: called.symbol, reason });
      }
      if (part.kind !== "function" && part.kind !== "class") continue;
      const node = callable(part.symbol);
      if (node >= 0) targets.push({ symbol: node, reason });
    }
    return targets;
  }

  /** Whether a receiver of unknown type certainly comes from outside, so that guessing its member would be wrong. */
  function isForeign(file: number, object: ExprRow): boolean {
    const { exprs, strings } = repo.facts(file);
    const op = exprs.op(object);
    // The parent of a class whose bases are not known may be anything.
    if (op === Expr.Super) return true;
    // What such a thing holds or gives is foreign too: `System.out.println()`.
    if (op === Expr.Member || op === Expr.Call) {
      const inner = op === Expr.Member ? exprs.object(object) : exprs.callee(object);
      const type = isNone(inner) ? undefined : engine.exprType(file, inner);
      if (type) return type.kind === "builtin" && !engine.library.holdsOthers(type);
      return exists(inner) && isForeign(file, inner);
    }
    if (op !== Expr.Name || !/^\p{Lu}/u.test(strings[exprs.name(object)]!)) return false;
    // A class, by its look, that nothing here declares.
    return engine.lookup(file, exprs.nameScope(object), exprs.name(object), "value") === undefined;
  }

  function isSuper(file: number, object: ExprRow): boolean {
    return repo.facts(file).exprs.op(object) === Expr.Super;
  }

  /** What `super.name` means: the first parent that has it. */
  function fromParents(parents: ValueType, name: string, called: boolean | undefined): MemberSearch {
    let search: MemberSearch = { members: [], known: true };
    for (const parent of partsOf(parents)) {
      search = engine.members(parent, name, 0, called);
      if (search.members.length > 0) break;
    }
    return search;
  }

  function memberTargets(file: number, callee: ExprRow, site: CallSite): Target[] {
    const facts = repo.facts(file);
    const object = facts.exprs.object(callee);
    const name = facts.strings[facts.exprs.member(callee)]!;
    const receiver = engine.exprType(file, object);
    if (!receiver) {
      const guessed = isForeign(file, object) ? [] : unique.forMember(file, name);
      return guessed.length > 0 ? guessed : extensions(receiver, name, site);
    }
    const calls = repo.language(file).library.functions?.get(name) === "called";
    if (receiver.kind === "function" && calls) return typeTargets(receiver, "receiver_type");
    // A constant that holds a function from outside: `toString.call(x)`.
    if (receiver.kind === "external" && calls && facts.exprs.op(object) === Expr.Name)
      return distinct(nameTargets(file, object, site));
    const called = facts.exprs.called(callee) || undefined;
    const search = isSuper(file, object)
      ? fromParents(receiver, name, called)
      : engine.members(receiver, name, 0, called);
    if (search.members.length === 0 && repo.rules(file).openValues)
      return distinct(typeTargets(engine.memberType(receiver, name), "receiver_type"));
    const direct = facts.exprs.op(object) === Expr.This;
    const targets = search.members.flatMap((member) => {
      const own: Reason = receiver.kind === "module" ? "import" : "receiver_type";
      const reason: Reason = member.inherited ? "inheritance" : direct ? "same_scope" : own;
      return symbolTargets(member.symbol, reason, site);
    });
    return targets.length > 0 ? distinct(targets) : extensions(receiver, name, site);
  }

  function distinct(targets: Target[]): Target[] {
    const seen = new Map(targets.map((target) => [target.symbol, target]));
    return seen.size > MAX_TARGETS ? [] : [...seen.values()];
  }

  function superTargets(file: number, callee: ExprRow): Target[] {
    const { exprs, scopes } = repo.facts(file);
    const scope = exprs.thisScope(callee);
    const owner = isNone(scope) ? NONE : scopes.symbol(scope);
    if (isNone(owner)) return [];
    return engine
      .bases(repo.base[file]! + owner, undefined, true)
      .flatMap((base): Target[] =>
        base.kind === "instance" && !repo.has(base.symbol, SymbolFlag.Hidden)
          ? [{ symbol: base.symbol, reason: "inheritance" }]
          : [],
      );
  }

  function callTargets(file: number, callRow: number): Target[] {
    const { exprs, calls } = repo.facts(file);
    const row = calls.expr(callRow);
    return calleeTargets(file, exprs.callee(row), row);
  }

  function calleeTargets(file: number, callee: ExprRow, row: ExprRow): Target[] {
    if (isNone(callee)) return [];
    const { exprs } = repo.facts(file);
    switch (exprs.op(callee)) {
      case Expr.Name:
        return distinct(nameTargets(file, callee, { file, expr: row }));
      case Expr.Member:
        return memberTargets(file, callee, { file, expr: row });
      case Expr.Super:
        return superTargets(file, callee);
      case Expr.Index:
        return indexTargets(file, callee, { file, expr: row });
      case Expr.Typed: {
        // A cast changes what is known of a function, not which one is called.
        const uncast = calleeTargets(file, exprs.value(callee), row);
        if (uncast.length > 0) return uncast;
        return distinct(typeTargets(engine.exprType(file, callee), "receiver_type"));
      }
      default:
        return distinct(typeTargets(engine.exprType(file, callee), "receiver_type"));
    }
  }

  /** `object[key]()`: the member of that computed name, or what the value is known to hold. */
  function indexTargets(file: number, callee: ExprRow, site: CallSite): Target[] {
    const { exprs, strings } = repo.facts(file);
    const key = exprs.key(callee);
    const name = isNone(key) ? "" : strings[key]!;
    if (name.startsWith("[")) {
      const { members } = engine.members(engine.exprType(file, exprs.object(callee)), name);
      const targets = members.flatMap(({ symbol, inherited }) =>
        symbolTargets(symbol, inherited ? "inheritance" : "receiver_type", site),
      );
      if (targets.length > 0) return distinct(targets);
    }
    return distinct(typeTargets(engine.exprType(file, callee), "receiver_type"));
  }

  function ownerOf(file: number, row: SymbolRow): number {
    if (isNone(row)) return -1 - file;
    const node = visible(repo.base[file]! + row);
    return node < 0 ? -1 - file : node;
  }

  /** `super(…)`, `base(…)`: the parent's constructor. */
  function callsParent(file: number, callRow: number): boolean {
    const { exprs, calls } = repo.facts(file);
    const callee = exprs.callee(calls.expr(callRow));
    return exists(callee) && exprs.op(callee) === Expr.Super;
  }

  function callEdges(file: number, into: RawEdge[]): void {
    const { calls } = repo.facts(file);
    const strict = repo.rules(file).strictCalls;
    for (let row = 0; row < calls.length; row++) {
      const from = ownerOf(file, calls.symbol(row));
      const targets = callTargets(file, row);
      if (targets.length === 0) {
        for (const to of mayCall(file, row))
          into.push({ type: "MAY_CALL", from, to, line: calls.line(row), reason: "same_name" });
        continue;
      }
      for (const target of targets) {
        const label = repo.label(target.symbol);
        const isNew = (calls.flags(row) & CallFlag.New) !== 0;
        if (label === "Interface" || label === "TypeAlias" || label === "Namespace") continue;
        if (strict && !isCalled(label, isNew || strict === "constructors" || callsParent(file, row))) continue;
        into.push({ type: "CALLS", from, to: target.symbol, line: calls.line(row), reason: target.reason });
      }
    }
  }

  /** Methods of the name that is called on a value of which nothing is known, where they are several. */
  function mayCall(file: number, callRow: number): readonly number[] {
    const { calls, exprs, strings } = repo.facts(file);
    const callee = exprs.callee(calls.expr(callRow));
    if (isNone(callee) || exprs.op(callee) !== Expr.Member) return [];
    const candidates = unique.candidates(file, strings[exprs.member(callee)]!);
    if (candidates.length === 0) return candidates;
    const object = exprs.object(callee);
    return engine.exprType(file, object) || isForeign(file, object) ? [] : candidates;
  }

  function useEdges(file: number, into: RawEdge[]): void {
    const facts = repo.facts(file);
    const seen = new Set<string>();
    for (let row = 0; row < facts.uses.length; row++) {
      const type = facts.uses.type(row);
      const expr = facts.uses.expr(row);
      const entity = exists(type) ? usedType(file, type) : usedValue(file, expr);
      if (entity?.kind !== "symbol" || repo.has(entity.symbol, SymbolFlag.Hidden)) continue;
      const from = ownerOf(file, facts.uses.symbol(row));
      const key = `${from} ${entity.symbol}`;
      if (from === entity.symbol || seen.has(key)) continue;
      seen.add(key);
      into.push({
        type: "USES",
        from,
        to: entity.symbol,
        line: facts.uses.line(row),
        reason: reasonOf(file, entity),
      });
    }
  }

  function usedType(file: number, row: TypeRow): Entity | undefined {
    const { types } = repo.facts(file);
    if (types.op(row) === Type.Ref) return engine.lookup(file, types.scope(row), types.name(row), "type");
    const [part] = partsOf(engine.typeAt(file, row));
    return part?.kind === "instance" ? { kind: "symbol", symbol: part.symbol, via: "import" } : undefined;
  }

  function usedValue(file: number, row: ExprRow): Entity | undefined {
    const { exprs } = repo.facts(file);
    if (exprs.op(row) !== Expr.Name) return undefined;
    return engine.lookup(file, exprs.nameScope(row), exprs.name(row), "value");
  }

  return {
    callTargets,
    edgesOf(file, into) {
      importEdges(engine, file, into);
      callEdges(file, into);
      useEdges(file, into);
      decoratorEdges(repo, file, { calleeTargets, usedType }, into);
      heritageEdges(engine, file, into);
    },
  };
}
