/** Finds the types of expressions. */

import { Expr, SymbolFlag } from "../../language/fact-layout.ts";
import { type ExprRow, exists, isNone, mapRows, type NameRow, NOTHING, type Rows, type ScopeRow } from "../../rows.ts";
import type { Engine } from "../engine.ts";
import { FileIndex } from "../file-index.ts";
import { pushTo, type Repository } from "../repository.ts";
import { TypesByFile } from "./type-memo.ts";
import { createBuiltin, EXTERNAL, partsOf, substitute, unionOf, type ValueType } from "./value-type.ts";

const MAX_TUPLE = 8;
const MAX_DEPTH = 150;
const MAX_ITERATORS = 4;

/** Rows that narrow one name, by scope. */
type NarrowedScopes = Map<ScopeRow, number[]>;

export class Expressions {
  private readonly repo: Repository;
  /** Types of expression rows, by file. */
  private readonly memo: TypesByFile<ExprRow>;
  /** Narrowings of each file, by the narrowed name or path. */
  private readonly narrowings = new FileIndex((file) => this.indexNarrowings(file));
  /** How many expressions are being evaluated, one inside another. */
  private depth = 0;
  /** How many iterators are being evaluated, one inside another. */
  private iterators = 0;

  constructor(private readonly engine: Engine) {
    const { repo, finding } = engine;
    this.repo = repo;
    this.memo = new TypesByFile(
      finding,
      (file) => repo.facts(file).exprs.length,
      (file, row) => this.findType(file, row),
    );
  }

  private evaluateName(file: number, row: ExprRow): ValueType | undefined {
    const { engine, repo } = this;
    const facts = repo.facts(file);
    const name = facts.exprs.name(row);
    const scope = facts.exprs.nameScope(row);
    const narrow = this.narrow(file, scope, name);
    if (narrow) return narrow;
    const entity = engine.names.lookUp(file, scope, name, facts.exprs.isCalled(row) ? "call" : "value");
    if (entity) return this.seenFrom(engine.types.typeOfEntity(entity), file);
    const global = this.evaluateGlobal(file, facts.strings[name]!);
    if (global) return global;
    if (repo.spaceExists(facts.strings[name]!))
      return this.seenFrom({ kind: "space", name: facts.strings[name]! }, file);
    // CommonJS: a name such as `exports` or `module` stands for the file's own module.
    const { moduleNames, foreignNames } = repo.rules(file);
    if (moduleNames?.has(facts.strings[name]!)) return { kind: "module", files: [file] };
    return foreignNames ? EXTERNAL : undefined;
  }

  /** In a language with includes, records on a name space which file names it. */
  private seenFrom(type: ValueType | undefined, file: number): ValueType | undefined {
    return type?.kind === "space" && this.repo.rules(file).includes ? { ...type, key: undefined, from: file } : type;
  }

  /** A variable that is declared for every file, or one whose type is. */
  private evaluateGlobal(file: number, name: string): ValueType | undefined {
    const { engine, repo } = this;
    const { globals } = repo.rules(file);
    if (!globals) return undefined;
    const type = globals.typed.get(name);
    const declared = repo.inSpace(globals.space, type ?? name, file);
    if (declared.length === 0) return undefined;
    if (type !== undefined) return unionOf(declared.map((symbol) => engine.types.instanceOf(symbol, [])));
    const label = repo.label(declared[0]!);
    if (declared.length > 1 || (label !== "Variable" && label !== "Const")) return undefined;
    return engine.types.typeOfSymbol(declared[0]!);
  }

  private indexNarrowings(file: number): Map<NameRow, NarrowedScopes> {
    const { narrows } = this.repo.facts(file);
    const index = new Map<NameRow, NarrowedScopes>();
    for (let row = 0; row < narrows.length; row++) {
      const scopes = index.get(narrows.name(row)) ?? new Map<ScopeRow, number[]>();
      index.set(narrows.name(row), scopes);
      pushTo(scopes, narrows.scope(row), row);
    }
    return index;
  }

  /** The type to which the tests around an expression narrow a name, or a path of names. */
  private narrow(file: number, scope: ScopeRow, name: NameRow): ValueType | undefined {
    const { repo } = this;
    const facts = repo.facts(file);
    const narrowed = facts.narrows.length > 0 ? this.narrowings.of(file).get(name) : undefined;
    if (!narrowed) return undefined;
    for (let at = scope; exists(at); at = facts.scopes.parent(at)) {
      for (const row of narrowed.get(at) ?? NOTHING) {
        const type = this.readNarrowing(file, row);
        if (type) return type;
      }
      if (repo.bindingsOf(file, at, name).length > 0) return undefined;
    }
    return undefined;
  }

  private readNarrowing(file: number, row: number): ValueType | undefined {
    const { engine, repo } = this;
    const facts = repo.facts(file);
    const type = facts.narrows.type(row);
    if (exists(type)) return engine.types.typeAt(file, type);
    const expr = facts.narrows.expr(row);
    if (isNone(expr)) return undefined;
    if (facts.exprs.op(expr) !== Expr.Call) {
      const parts = partsOf(this.typeAt(file, expr));
      return unionOf(
        parts.map((part) => (part.kind === "class" ? engine.types.instanceOf(part.symbol, []) : undefined)),
      );
    }
    for (const callee of partsOf(this.typeAt(file, facts.exprs.callee(expr)))) {
      if (callee.kind !== "function" || !repo.has(callee.symbol, SymbolFlag.Guard)) continue;
      const type = engine.types.typeAt(repo.fileOf(callee.symbol), repo.column(callee.symbol, "type"));
      // A guard whose type is a type parameter says nothing by itself.
      if (type && type.kind !== "parameter") return type;
    }
    return undefined;
  }

  /** A chain of names as it is written, with the scope in which it is read. Undefined for any other expression. */
  private pathOf(file: number, row: ExprRow): { path: string; scope: ScopeRow } | undefined {
    const facts = this.repo.facts(file);
    switch (facts.exprs.op(row)) {
      case Expr.Name:
        return { path: facts.strings[facts.exprs.name(row)]!, scope: facts.exprs.nameScope(row) };
      case Expr.This:
        return isNone(facts.exprs.readScope(row)) ? undefined : { path: "this", scope: facts.exprs.readScope(row) };
      case Expr.Member: {
        const object = this.pathOf(file, facts.exprs.object(row));
        return object && { path: `${object.path}.${facts.strings[facts.exprs.member(row)]!}`, scope: object.scope };
      }
      default:
        return undefined;
    }
  }

  private evaluateMember(file: number, row: ExprRow): ValueType | undefined {
    const facts = this.repo.facts(file);
    if (facts.narrows.length > 0) {
      const chain = this.pathOf(file, row);
      const narrow = chain && this.narrow(file, chain.scope, this.repo.stringRow(file, chain.path));
      if (narrow) return narrow;
    }
    const name = facts.strings[facts.exprs.member(row)]!;
    const payload = /^\d+$/.test(name) ? this.payloadOf(file, facts.exprs.object(row), name) : undefined;
    if (payload) return payload;
    const object = this.typeAt(file, facts.exprs.object(row));
    return this.engine.members.typeOfMember(object, name, facts.exprs.isCalled(row));
  }

  /** The type that a variant of an enum holds at a position, if an expression names the variant. */
  private payloadOf(file: number, row: ExprRow, place: string): ValueType | undefined {
    const { engine, repo } = this;
    const { exprs, strings } = repo.facts(file);
    let symbol = -1;
    if (exprs.op(row) === Expr.Member) {
      const search = engine.members.find(this.typeAt(file, exprs.object(row)), strings[exprs.member(row)]!);
      symbol = search.members[0]?.symbol ?? -1;
    } else if (exprs.op(row) === Expr.Name) {
      const entity = engine.names.lookUp(file, exprs.nameScope(row), exprs.name(row), "value");
      if (entity?.kind === "symbol") symbol = entity.symbol;
    }
    if (symbol < 0 || !repo.has(symbol, SymbolFlag.EnumMember)) return undefined;
    const [held] = repo.childrenNamed(symbol, place);
    return held === undefined ? undefined : engine.types.typeOfSymbol(held);
  }

  private evaluateThis(file: number, scope: ScopeRow): ValueType | undefined {
    const { repo } = this;
    if (isNone(scope)) return undefined;
    const owner = repo.facts(file).scopes.symbol(scope);
    return isNone(owner) ? undefined : this.engine.types.instanceOf(repo.symbolAt(file, owner), []);
  }

  private evaluateSuper(file: number, scope: ScopeRow): ValueType | undefined {
    const { repo } = this;
    if (isNone(scope)) return undefined;
    const owner = repo.facts(file).scopes.symbol(scope);
    return isNone(owner) ? undefined : unionOf(this.engine.bases.basesOf(repo.symbolAt(file, owner), undefined, true));
  }

  private evaluateNew(file: number, row: ExprRow): ValueType | undefined {
    const { engine, repo } = this;
    const facts = repo.facts(file);
    const args = mapRows(facts.lists.items(facts.exprs.typeArgs(row)), (arg) => engine.types.typeAt(file, arg));
    const callee = facts.exprs.callee(row);
    const type = this.typeAt(file, callee);
    if (!type || type.kind === "external") return this.evaluateLibraryNew(file, callee, args, row) ?? type;
    return unionOf(
      partsOf(type).map((part) => {
        if (part.kind === "class")
          return args.length > 0
            ? engine.types.instanceOf(part.symbol, args)
            : this.inferInstance(part.symbol, file, row);
        if (part.kind === "function" && !repo.has(part.symbol, SymbolFlag.Hidden))
          return engine.types.instanceOf(part.symbol, []);
        if (part.kind === "function") return engine.calls.resultOf(part, { file, expr: row });
        if (part.kind === "instance")
          return engine.calls.resultOf(engine.members.typeOfMember(part, "new()"), { file, expr: row });
        return part.kind === "external" ? part : undefined;
      }),
    );
  }

  private inferInstance(symbol: number, file: number, row: ExprRow): ValueType {
    return this.engine.calls.construct(symbol, { file, expr: row });
  }

  /** The type of `new Map<K, V>()`: a class of the library, found by its name. */
  private evaluateLibraryNew(
    file: number,
    callee: ExprRow,
    args: (ValueType | undefined)[],
    row: ExprRow,
  ): ValueType | undefined {
    const { engine, repo } = this;
    const facts = repo.facts(file);
    if (facts.exprs.op(callee) !== Expr.Name) return undefined;
    const name = facts.exprs.name(callee);
    if (engine.names.lookUp(file, facts.exprs.nameScope(callee), name, "value")) return undefined;
    const text = facts.strings[name]!;
    const language = repo.language(file);
    if (args.length > 0) return engine.library.typeNamed(language, text, args);
    const [first] = facts.lists.items(facts.exprs.args(row));
    const held = first === undefined ? undefined : this.typeAt(file, first);
    return engine.library.copy(language, text, held) ?? engine.library.typeNamed(language, text, args);
  }

  private evaluate(file: number, row: ExprRow): ValueType | undefined {
    const { engine, repo } = this;
    const { exprs, lists, strings } = repo.facts(file);
    switch (exprs.op(row)) {
      case Expr.Name:
        return this.evaluateName(file, row);
      case Expr.Member:
        return this.evaluateMember(file, row);
      case Expr.Call:
        return engine.calls.typeOfCall(file, row);
      case Expr.New:
        return this.evaluateNew(file, row);
      case Expr.This:
        return this.evaluateThis(file, exprs.thisScope(row));
      case Expr.Super:
        return this.evaluateSuper(file, exprs.thisScope(row));
      case Expr.Index: {
        const key = exprs.key(row);
        return this.indexInto(this.typeAt(file, exprs.object(row)), isNone(key) ? undefined : strings[key]!);
      }
      case Expr.Iterate:
        return this.elementOf(this.typeAt(file, exprs.operand(row)));
      case Expr.Await:
        return this.awaitType(this.typeAt(file, exprs.operand(row)));
      case Expr.Either:
        return unionOf(this.typesAt(file, lists.items(exprs.list(row))));
      case Expr.Literal:
        return createBuiltin(strings[exprs.name(row)]!);
      case Expr.Array:
        return this.evaluateArray(file, lists.items(exprs.list(row)));
      case Expr.Object:
        return { kind: "instance", symbol: repo.symbolAt(file, exprs.symbol(row)), env: undefined, open: true };
      case Expr.Function:
        return { kind: "function", symbol: repo.symbolAt(file, exprs.symbol(row)), env: undefined, self: undefined };
      case Expr.Class:
        return { kind: "class", symbol: repo.symbolAt(file, exprs.symbol(row)), env: undefined };
      case Expr.Typed:
        return engine.types.typeAt(file, exprs.type(row));
      case Expr.Contextual:
        return engine.calls.typeFromContext(file, exprs.source(row), exprs.argument(row), exprs.parameter(row));
      case Expr.Module:
        return engine.types.typeOfEntity(engine.names.followImport(file, exprs.importRow(row), "value"));
      case Expr.Assign:
        return this.typeAt(file, exprs.value(row));
      case Expr.Rest:
        return createBuiltin("Array", this.elementOf(this.typeAt(file, exprs.operand(row))));
      default:
        return undefined;
    }
  }

  private evaluateArray(file: number, rows: Rows<ExprRow>): ValueType {
    const { exprs } = this.repo.facts(file);
    const items = this.typesAt(file, rows);
    const spread = rows.some((item) => exprs.op(item) === Expr.Iterate);
    return items.length > 0 && items.length <= MAX_TUPLE && !spread
      ? createBuiltin("Tuple", ...items)
      : createBuiltin("Array", unionOf(items));
  }

  private typesAt(file: number, rows: Rows<ExprRow>): (ValueType | undefined)[] {
    return mapRows(rows, (row) => this.typeAt(file, row));
  }

  /** The type of an expression row. */
  typeAt(file: number, row: ExprRow): ValueType | undefined {
    if (isNone(row)) return undefined;
    // Cut short because of the depth. The type is not stored as unknown, because a direct question may find it.
    if (this.depth > MAX_DEPTH && !this.memo.wasAsked(file, row)) {
      this.engine.finding.cutShort();
      return undefined;
    }
    return this.memo.of(file, row);
  }

  private findType(file: number, row: ExprRow): ValueType | undefined {
    this.depth++;
    const type = this.evaluate(file, row);
    this.depth--;
    return type;
  }

  /** Forgets the types of a file's expressions. */
  forgetFile(file: number): void {
    this.memo.forget(file);
  }

  /** The type of the elements that a value yields when it is iterated or indexed. */
  elementOf(type: ValueType | undefined): ValueType | undefined {
    const { engine, repo } = this;
    return unionOf(
      partsOf(type).map((part) => {
        if (part.kind === "external") return part;
        if (part.kind === "instance") {
          const { iteratorMember } = repo.rules(repo.fileOf(part.symbol));
          const iterated = iteratorMember === undefined ? undefined : engine.members.typeOfMember(part, iteratorMember);
          if (iterated) return this.elementOfIterator(engine.calls.resultOf(iterated, undefined));
          const indexSignature = engine.members.typeOfMember(part, "[]");
          if (indexSignature) return indexSignature;
          const values = repo.childrenOf(part.symbol);
          if (!part.open || values.size === 0) return this.elementOfBases(part);
          return unionOf(
            [...values.values()].slice(0, 12).map(([first]) => substitute(engine.types.typeOfSymbol(first!), part.env)),
          );
        }
        return engine.library.elementOf(part);
      }),
    );
  }

  /** The type that an iterator yields. The iterator may itself be iterable. */
  private elementOfIterator(type: ValueType | undefined): ValueType | undefined {
    const { engine, repo } = this;
    if (this.iterators > MAX_ITERATORS) return undefined;
    this.iterators++;
    const found = unionOf(
      partsOf(type).map((part) => {
        const member = part.kind === "instance" ? repo.rules(repo.fileOf(part.symbol)).nextMember : undefined;
        const next = member === undefined ? undefined : engine.members.typeOfMember(part, member);
        return next ? engine.calls.resultOf(next, undefined) : this.elementOf(part);
      }),
    );
    this.iterators--;
    return found;
  }

  /** For a class that extends a container of the library: `class Items extends Array<Item>`. */
  private elementOfBases(part: ValueType & { kind: "instance" }): ValueType | undefined {
    const { engine } = this;
    return unionOf(
      engine.bases
        .basesOf(part.symbol, part.env)
        .map((base) => (base.kind === "builtin" ? engine.library.elementOf(base) : undefined)),
    );
  }

  private indexInto(type: ValueType | undefined, key: string | undefined): ValueType | undefined {
    const { engine, repo } = this;
    return unionOf(
      partsOf(type).map((part) => {
        // `Generic[T]` is the class itself.
        if (part.kind === "class") return part;
        // `f[T](x)` calls a function with explicit type arguments.
        if (part.kind === "function" && repo.rules(repo.fileOf(part.symbol)).strictCalls === "functions") return part;
        if (part.kind === "instance") {
          const named = key?.startsWith("[") ? engine.members.typeOfMember(part, key) : undefined;
          if (named) return named;
          const { indexMember, includes } = repo.rules(repo.fileOf(part.symbol));
          const item = indexMember === undefined ? undefined : engine.members.typeOfMember(part, indexMember);
          if (item) return engine.calls.resultOf(item, undefined);
          // In C and C++, the indexed value is a pointer to its type.
          if (includes) return part;
        }
        return part.kind === "builtin" ? engine.library.indexInto(part, key) : this.elementOf(part);
      }),
    );
  }

  awaitType(type: ValueType | undefined): ValueType | undefined {
    return unionOf(partsOf(type).map((part) => this.engine.library.awaitType(part)));
  }
}
