/** Expression rows → types. */

import { Expr, SymbolFlag } from "../../language/fact-layout.ts";
import { type ExprRow, exists, isNone, type Rows, type ScopeRow } from "../../rows.ts";
import type { Engine } from "../engine.ts";
import { TypeMemo } from "./type-memo.ts";
import { builtin, EXTERNAL, partsOf, substitute, unionOf, type ValueType } from "./value-type.ts";

const MAX_TUPLE = 8;
const MAX_DEPTH = 150;
const MAX_ITERATORS = 4;

type Expressions = Pick<Engine, "exprType" | "elementType" | "awaited">;

export function createExpressions(engine: Engine): Expressions {
  const { repo } = engine;
  const memo: TypeMemo[] = [];
  const narrowIndexes: (Map<number, number[]> | undefined)[] = [];
  let depth = 0;
  /** Nested iterators under evaluation. */
  let iterators = 0;

  function nameType(file: number, row: ExprRow): ValueType | undefined {
    const facts = repo.facts(file);
    const name = facts.exprs.name(row);
    const scope = facts.exprs.nameScope(row);
    const narrow = narrowed(file, scope, facts.strings[name]!);
    if (narrow) return narrow;
    const entity = engine.lookup(file, scope, name, facts.exprs.called(row) ? "call" : "value");
    if (entity) return seenFrom(engine.entityType(entity), file);
    const global = globalType(file, facts.strings[name]!);
    if (global) return global;
    if (repo.spaceExists(facts.strings[name]!)) return seenFrom({ kind: "space", name: facts.strings[name]! }, file);
    // CommonJS: what a module gives is a value in it. `module` stands for the same, as its member `exports` does.
    const { moduleNames, foreignNames } = repo.rules(file);
    if (moduleNames?.has(facts.strings[name]!)) return { kind: "module", files: [file] };
    return foreignNames ? EXTERNAL : undefined;
  }

  /** A name space as a file that includes others sees it. */
  function seenFrom(type: ValueType | undefined, file: number): ValueType | undefined {
    return type?.kind === "space" && repo.rules(file).includes ? { ...type, key: undefined, from: file } : type;
  }

  /** A variable that is declared for every file, or a variable of a type that is. */
  function globalType(file: number, name: string): ValueType | undefined {
    const { globals } = repo.rules(file);
    if (!globals) return undefined;
    const type = globals.typed.get(name);
    const declared = repo.inSpace(globals.space, type ?? name, file);
    if (declared.length === 0) return undefined;
    if (type !== undefined) return unionOf(declared.map((symbol) => engine.instanceOf(symbol, [])));
    const label = repo.label(declared[0]!);
    if (declared.length > 1 || (label !== "Variable" && label !== "Const")) return undefined;
    return engine.symbolType(declared[0]!);
  }

  /** What the tests around an expression say about a name or path. */
  function narrowed(file: number, scope: ScopeRow, path: string): ValueType | undefined {
    const facts = repo.facts(file);
    if (facts.narrows.length === 0) return undefined;
    let index = narrowIndexes[file];
    if (!index) {
      index = new Map();
      for (let row = 0; row < facts.narrows.length; row++) {
        const key = facts.narrows.scope(row);
        index.set(key, [...(index.get(key) ?? []), row]);
      }
      narrowIndexes[file] = index;
    }
    const name = repo.stringRow(file, path);
    if (isNone(name)) return undefined;
    for (let at = scope; exists(at); at = facts.scopes.parent(at)) {
      for (const row of index.get(at) ?? []) {
        if (facts.narrows.name(row) !== name) continue;
        const type = narrowType(file, row);
        if (type) return type;
      }
      if (repo.bindingsOf(file, at, name).length > 0) return undefined;
    }
    return undefined;
  }

  function narrowType(file: number, row: number): ValueType | undefined {
    const facts = repo.facts(file);
    const type = facts.narrows.type(row);
    if (exists(type)) return engine.typeAt(file, type);
    const expr = facts.narrows.expr(row);
    if (isNone(expr)) return undefined;
    if (facts.exprs.op(expr) !== Expr.Call) {
      const parts = partsOf(exprType(file, expr));
      return unionOf(parts.map((part) => (part.kind === "class" ? engine.instanceOf(part.symbol, []) : undefined)));
    }
    for (const callee of partsOf(exprType(file, facts.exprs.callee(expr)))) {
      if (callee.kind !== "function" || !repo.has(callee.symbol, SymbolFlag.Guard)) continue;
      const type = engine.typeAt(repo.fileOf(callee.symbol), repo.column(callee.symbol, "type"));
      // A guard of a type parameter says nothing by itself.
      if (type && type.kind !== "parameter") return type;
    }
    return undefined;
  }

  /** The written path of a chain of names, "" for anything else, with the scope it is read in. */
  function pathOf(file: number, row: ExprRow): { path: string; scope: ScopeRow } | undefined {
    const facts = repo.facts(file);
    switch (facts.exprs.op(row)) {
      case Expr.Name:
        return { path: facts.strings[facts.exprs.name(row)]!, scope: facts.exprs.nameScope(row) };
      case Expr.This:
        return isNone(facts.exprs.readScope(row)) ? undefined : { path: "this", scope: facts.exprs.readScope(row) };
      case Expr.Member: {
        const object = pathOf(file, facts.exprs.object(row));
        return object && { path: `${object.path}.${facts.strings[facts.exprs.member(row)]!}`, scope: object.scope };
      }
      default:
        return undefined;
    }
  }

  function memberExpr(file: number, row: ExprRow): ValueType | undefined {
    const facts = repo.facts(file);
    if (facts.narrows.length > 0) {
      const chain = pathOf(file, row);
      const narrow = chain && narrowed(file, chain.scope, chain.path);
      if (narrow) return narrow;
    }
    const name = facts.strings[facts.exprs.member(row)]!;
    const payload = /^\d+$/.test(name) ? payloadOf(file, facts.exprs.object(row), name) : undefined;
    if (payload) return payload;
    const object = exprType(file, facts.exprs.object(row));
    return engine.memberType(object, name, facts.exprs.called(row));
  }

  /** What a variant of an enum holds at a place, when an expression names the variant. */
  function payloadOf(file: number, row: ExprRow, place: string): ValueType | undefined {
    const { exprs, strings } = repo.facts(file);
    let symbol = -1;
    if (exprs.op(row) === Expr.Member) {
      const search = engine.members(exprType(file, exprs.object(row)), strings[exprs.member(row)]!);
      symbol = search.members[0]?.symbol ?? -1;
    } else if (exprs.op(row) === Expr.Name) {
      const entity = engine.lookup(file, exprs.nameScope(row), exprs.name(row), "value");
      if (entity?.kind === "symbol") symbol = entity.symbol;
    }
    if (symbol < 0 || !repo.has(symbol, SymbolFlag.EnumMember)) return undefined;
    const [held] = repo.childrenNamed(symbol, place);
    return held === undefined ? undefined : engine.symbolType(held);
  }

  function thisType(file: number, scope: ScopeRow): ValueType | undefined {
    if (isNone(scope)) return undefined;
    const owner = repo.facts(file).scopes.symbol(scope);
    return isNone(owner) ? undefined : engine.instanceOf(repo.base[file]! + owner, []);
  }

  function superType(file: number, scope: ScopeRow): ValueType | undefined {
    if (isNone(scope)) return undefined;
    const owner = repo.facts(file).scopes.symbol(scope);
    return isNone(owner) ? undefined : unionOf(engine.bases(repo.base[file]! + owner, undefined, true));
  }

  function constructed(file: number, row: ExprRow): ValueType | undefined {
    const facts = repo.facts(file);
    const args = Array.from(facts.lists.items(facts.exprs.typeArgs(row)), (arg) => engine.typeAt(file, arg));
    const callee = facts.exprs.callee(row);
    const type = exprType(file, callee);
    if (!type || type.kind === "external") return libraryInstance(file, callee, args, row) ?? type;
    return unionOf(
      partsOf(type).map((part) => {
        if (part.kind === "class")
          return args.length > 0 ? engine.instanceOf(part.symbol, args) : inferred(part.symbol, file, row);
        if (part.kind === "function" && !repo.has(part.symbol, SymbolFlag.Hidden))
          return engine.instanceOf(part.symbol, []);
        if (part.kind === "function") return engine.callResult(part, { file, expr: row });
        if (part.kind === "instance") return engine.callResult(engine.memberType(part, "new()"), { file, expr: row });
        return part.kind === "external" ? part : undefined;
      }),
    );
  }

  function inferred(symbol: number, file: number, row: ExprRow): ValueType {
    return engine.constructResult(symbol, { file, expr: row });
  }

  /** `new Map<K, V>()`: the library's own classes, by their name. */
  function libraryInstance(
    file: number,
    callee: ExprRow,
    args: (ValueType | undefined)[],
    row: ExprRow,
  ): ValueType | undefined {
    const facts = repo.facts(file);
    if (facts.exprs.op(callee) !== Expr.Name) return undefined;
    const name = facts.exprs.name(callee);
    if (engine.lookup(file, facts.exprs.nameScope(callee), name, "value")) return undefined;
    const text = facts.strings[name]!;
    const language = repo.language(file);
    if (args.length > 0) return engine.library.named(language, text, args);
    const [first] = facts.lists.items(facts.exprs.args(row));
    const held = first === undefined ? undefined : exprType(file, first);
    return engine.library.copied(language, text, held) ?? engine.library.named(language, text, args);
  }

  function find(file: number, row: ExprRow): ValueType | undefined {
    const { exprs, lists, strings } = repo.facts(file);
    const symbol = () => repo.base[file]! + exprs.symbol(row);
    switch (exprs.op(row)) {
      case Expr.Name:
        return nameType(file, row);
      case Expr.Member:
        return memberExpr(file, row);
      case Expr.Call:
        return engine.callType(file, row);
      case Expr.New:
        return constructed(file, row);
      case Expr.This:
        return thisType(file, exprs.thisScope(row));
      case Expr.Super:
        return superType(file, exprs.thisScope(row));
      case Expr.Index: {
        const key = exprs.key(row);
        return indexed(exprType(file, exprs.object(row)), isNone(key) ? undefined : strings[key]!);
      }
      case Expr.Iterate:
        return elementType(exprType(file, exprs.operand(row)));
      case Expr.Await:
        return awaited(exprType(file, exprs.operand(row)));
      case Expr.Either:
        return unionOf(Array.from(lists.items(exprs.list(row)), (item) => exprType(file, item)));
      case Expr.Literal:
        return builtin(strings[exprs.name(row)]!);
      case Expr.Array:
        return arrayType(file, lists.items(exprs.list(row)));
      case Expr.Object:
        return { kind: "instance", symbol: symbol(), env: undefined, open: true };
      case Expr.Function:
        return { kind: "function", symbol: symbol(), env: undefined, self: undefined };
      case Expr.Class:
        return { kind: "class", symbol: symbol(), env: undefined };
      case Expr.Typed:
        return engine.typeAt(file, exprs.type(row));
      case Expr.Contextual:
        return engine.contextual(file, exprs.source(row), exprs.argument(row), exprs.parameter(row));
      case Expr.Module:
        return engine.entityType(engine.followImport(file, exprs.importRow(row), "value"));
      case Expr.Assign:
        return exprType(file, exprs.value(row));
      case Expr.Rest:
        return builtin("Array", elementType(exprType(file, exprs.operand(row))));
      default:
        return undefined;
    }
  }

  function arrayType(file: number, rows: Rows<ExprRow>): ValueType {
    const { exprs } = repo.facts(file);
    const items = Array.from(rows, (item) => exprType(file, item));
    const spread = rows.some((item) => exprs.op(item) === Expr.Iterate);
    return items.length > 0 && items.length <= MAX_TUPLE && !spread
      ? builtin("Tuple", ...items)
      : builtin("Array", unionOf(items));
  }

  function exprType(file: number, row: ExprRow): ValueType | undefined {
    if (isNone(row)) return undefined;
    memo[file] ??= new TypeMemo(repo.facts(file).exprs.length);
    // A type that is nested too deeply is not remembered as unknown: asked for directly, it may be found.
    if (depth > MAX_DEPTH && !memo[file].asked(row)) return undefined;
    return memo[file].of(row, () => {
      depth++;
      const type = find(file, row);
      depth--;
      return type;
    });
  }

  function elementType(type: ValueType | undefined): ValueType | undefined {
    return unionOf(
      partsOf(type).map((part) => {
        if (part.kind === "external") return part;
        if (part.kind === "instance") {
          const { iteratorMember } = repo.rules(repo.fileOf(part.symbol));
          const iterated = iteratorMember === undefined ? undefined : engine.memberType(part, iteratorMember);
          if (iterated) return iteratorElement(engine.callResult(iterated, undefined));
          const indexSignature = engine.memberType(part, "[]");
          if (indexSignature) return indexSignature;
          const values = repo.childrenOf(part.symbol);
          if (!part.open || values.size === 0) return inheritedElement(part);
          return unionOf(
            [...values.values()].slice(0, 12).map(([first]) => substitute(engine.symbolType(first!), part.env)),
          );
        }
        return engine.library.element(part);
      }),
    );
  }

  /** What an iterator yields: it may be its own iterator, or another's. */
  function iteratorElement(type: ValueType | undefined): ValueType | undefined {
    if (iterators > MAX_ITERATORS) return undefined;
    iterators++;
    const found = unionOf(
      partsOf(type).map((part) => {
        const member = part.kind === "instance" ? repo.rules(repo.fileOf(part.symbol)).nextMember : undefined;
        const next = member === undefined ? undefined : engine.memberType(part, member);
        return next ? engine.callResult(next, undefined) : elementType(part);
      }),
    );
    iterators--;
    return found;
  }

  /** A class that extends a container of the library: `class Items extends Array<Item>`. */
  function inheritedElement(part: ValueType & { kind: "instance" }): ValueType | undefined {
    return unionOf(
      engine
        .bases(part.symbol, part.env)
        .map((base) => (base.kind === "builtin" ? engine.library.element(base) : undefined)),
    );
  }

  function indexed(type: ValueType | undefined, key: string | undefined): ValueType | undefined {
    return unionOf(
      partsOf(type).map((part) => {
        // `Generic[T]`: the class itself.
        if (part.kind === "class") return part;
        // `f[T](x)`: a function with its type arguments.
        if (part.kind === "function" && repo.rules(repo.fileOf(part.symbol)).strictCalls === "functions") return part;
        if (part.kind === "instance") {
          const named = key?.startsWith("[") ? engine.memberType(part, key) : undefined;
          if (named) return named;
          const { indexMember, includes } = repo.rules(repo.fileOf(part.symbol));
          const item = indexMember === undefined ? undefined : engine.memberType(part, indexMember);
          if (item) return engine.callResult(item, undefined);
          // Where values are reached through pointers, it is a pointer that is indexed.
          if (includes) return part;
        }
        return part.kind === "builtin" ? engine.library.indexed(part, key) : elementType(part);
      }),
    );
  }

  function awaited(type: ValueType | undefined): ValueType | undefined {
    return unionOf(partsOf(type).map((part) => engine.library.awaited(part)));
  }

  return { exprType, elementType, awaited };
}
