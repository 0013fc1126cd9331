/** Results of calls: return types, inferred type parameters, and the types of lambdas' parameters by context. */

import { Expr, SymbolFlag } from "../../language/fact-layout.ts";
import { type ExprRow, exists, isNone, mapRows, NONE } from "../../rows.ts";
import type { CallSite, Engine } from "../engine.ts";
import type { Repository } from "../repository.ts";
import { TypeBindings } from "../types/type-bindings.ts";
import { TypeMemo } from "../types/type-memo.ts";
import {
  createBuiltin,
  EXTERNAL,
  isClosed,
  mergeEnv,
  parameterId,
  partsOf,
  substitute,
  THIS_ID,
  type TypeEnv,
  unionOf,
  type ValueType,
  withSelf,
} from "../types/value-type.ts";

const MAX_CALL_DEPTH = 40;
/** How many steps are followed from a type parameter to its bound, or from an interface to its call signature. */
const MAX_BOUNDS = 4;

export class Calls {
  private readonly repo: Repository;
  /** The return types of functions, by symbol. */
  private readonly returnMemo: TypeMemo<number>;
  /** How many calls are being evaluated, one inside another. */
  private depth = 0;

  constructor(private readonly engine: Engine) {
    this.repo = engine.repo;
    this.returnMemo = new TypeMemo(this.repo.symbolTotal, engine.finding, (symbol) => this.findReturnType(symbol));
  }

  /**
   * The functions that calling a value may reach: the value itself, its type's call signatures, and those of a type
   * parameter's bound.
   */
  private callablesOf(type: ValueType | undefined, depth = 0): (ValueType & { kind: "function" })[] {
    return partsOf(type).flatMap((part) => {
      if (part.kind === "function") return [part];
      if (depth > MAX_BOUNDS) return [];
      if (part.kind === "instance") return this.callablesOf(this.engine.members.typeOfMember(part, "()"), depth + 1);
      return part.kind === "parameter" ? this.callablesOf(this.engine.signatures.constraintOf(part), depth + 1) : [];
    });
  }

  /** The type arguments of a call: those written in `<…>`, otherwise those inferred from the arguments. */
  private inferEnv(symbol: number, typeParameterOwner: number, site: CallSite, lambdas: boolean): TypeEnv | undefined {
    const { engine, repo } = this;
    const file = repo.fileOf(typeParameterOwner);
    const rows = repo.facts(file).lists.items(repo.column(typeParameterOwner, "typeParameters"));
    if (rows.length === 0) return undefined;
    const ids = mapRows(rows, (row) => parameterId(file, row));
    const env = new TypeBindings();
    const siteFacts = repo.facts(site.file);
    const written = siteFacts.lists.items(siteFacts.exprs.typeArgs(site.expr));
    for (const [i, id] of ids.entries()) {
      const type = written[i] === undefined ? undefined : engine.types.typeAt(site.file, written[i]!);
      if (type) env.bindType(id, type);
    }
    if (written.length === 0) {
      const idSet = new Set(ids);
      for (const lambdaTurn of lambdas ? [false, true] : [false]) {
        for (const [i, argument] of this.engine.signatures.argumentsOf(site).entries()) {
          if (this.engine.signatures.isLambda(site.file, argument) !== lambdaTurn) continue;
          const declared = this.engine.signatures.declaredTypeOf(symbol, i);
          if (env.size === idSet.size || engine.unifier.namesNothing(declared)) continue;
          engine.unifier.unify(declared, engine.expressions.typeAt(site.file, argument), env, idSet, lambdas);
        }
      }
    }
    for (const [i, id] of ids.entries()) {
      if (env.has(id)) continue;
      const row = rows[i]!;
      const facts = repo.facts(file);
      const fallback =
        engine.types.typeAt(file, facts.bindings.fallback(row)) ??
        engine.types.typeAt(file, facts.bindings.constraint(row));
      if (fallback && lambdas) env.bindType(id, substitute(fallback, env) ?? fallback);
    }
    return env;
  }

  returnTypeOf(symbol: number): ValueType | undefined {
    return this.returnMemo.of(symbol);
  }

  private findReturnType(symbol: number): ValueType | undefined {
    const { engine, repo } = this;
    const file = repo.fileOf(symbol);
    const flags = repo.flags(symbol);
    const declared = repo.column(symbol, "type");
    if (exists(declared))
      return flags & SymbolFlag.Guard ? createBuiltin("boolean") : engine.types.typeAt(file, declared);
    const context = repo.column(symbol, "value");
    if (exists(context)) {
      const typed = engine.calls.resultOf(engine.expressions.typeAt(file, context), undefined);
      if (typed && typed.kind !== "external") return typed;
    }
    const facts = repo.facts(file);
    const types = mapRows(facts.lists.items(repo.column(symbol, "returns")), (row) => {
      if (exists(row) && facts.exprs.op(row) === Expr.This) {
        const scope = facts.exprs.thisScope(row);
        const owner = isNone(scope) ? NONE : facts.scopes.symbol(scope);
        if (exists(owner))
          return {
            kind: "parameter",
            id: THIS_ID,
            file: repo.symbolAt(file, owner),
            binding: NONE,
          } satisfies ValueType;
      }
      return engine.expressions.typeAt(file, row);
    });
    const result = unionOf(types);
    if (flags & SymbolFlag.Generator) return createBuiltin("Generator", result);
    return flags & SymbolFlag.Async ? createBuiltin("Promise", engine.expressions.awaitType(result)) : result;
  }

  /** The type that calling a value yields. `site` gives the arguments. */
  resultOf(type: ValueType | undefined, site: CallSite | undefined): ValueType | undefined {
    if (!type || this.depth > MAX_CALL_DEPTH) return undefined;
    this.depth++;
    const result = this.resultOfEach(type, site);
    this.depth--;
    return result;
  }

  private resultOfEach(type: ValueType, site: CallSite | undefined): ValueType | undefined {
    const { engine, repo } = this;
    return unionOf(
      partsOf(type).map((part) => {
        switch (part.kind) {
          case "function": {
            const chosen = this.engine.signatures.choose(part.symbol, site);
            const returned = this.returnTypeOf(chosen);
            // The return type depends on no type parameter, so the arguments need not be evaluated.
            if (isClosed(returned)) return returned;
            const inferred = site ? this.inferEnv(chosen, chosen, site, true) : undefined;
            const env = withSelf(mergeEnv(inferred, part.env), part.self);
            return substitute(returned, env);
          }
          case "instance": {
            const member = repo.rules(repo.fileOf(part.symbol)).callMember;
            const callable =
              engine.members.typeOfMember(part, "()") ??
              (member === undefined ? undefined : engine.members.typeOfMember(part, member));
            if (callable) return this.resultOf(callable, site);
            // In Rust, `Enum::Variant(payload)` makes a value of the enum.
            return repo.label(part.symbol) === "Enum" && repo.rules(repo.fileOf(part.symbol)).callConstructs
              ? part
              : undefined;
          }
          case "class":
            return site && repo.rules(repo.fileOf(part.symbol)).callConstructs
              ? this.construct(part.symbol, site)
              : undefined;
          case "external":
            return site ? this.typeHeldOutside(site) : part;
          default:
            return undefined;
        }
      }),
    );
  }

  /** The result of a function from outside. For `f<T>(…)`, the result is known to hold a T. */
  private typeHeldOutside(site: CallSite): ValueType {
    const { exprs, lists } = this.repo.facts(site.file);
    const written = lists.items(exprs.typeArgs(site.expr));
    const holds = written.length === 1 ? this.engine.types.typeAt(site.file, written[0]!) : undefined;
    return holds && holds.kind !== "external" ? { kind: "external", holds } : EXTERNAL;
  }

  /** The instance that a constructor call makes. Its type parameters are inferred from the arguments. */
  construct(symbol: number, site: CallSite): ValueType {
    const { engine, repo } = this;
    const plain = engine.types.instanceOf(symbol, []);
    if (isNone(repo.column(symbol, "typeParameters"))) return plain;
    const name = repo.rules(repo.fileOf(symbol)).constructorName;
    const maker = engine.members.find(plain, name).members[0];
    const env = this.inferEnv(maker?.symbol ?? symbol, symbol, site, true);
    return plain.kind === "instance" ? { ...plain, key: undefined, env } : plain;
  }

  /** The type of a `Call` expression. */
  typeOfCall(file: number, row: ExprRow): ValueType | undefined {
    const facts = this.repo.facts(file);
    const site = { file, expr: row };
    const callee = facts.exprs.callee(row);
    if (isNone(callee)) return undefined;
    if (facts.exprs.op(callee) === Expr.Member) {
      const special = this.callLibrary(site, callee);
      if (special) return special;
    }
    return this.resultOf(this.engine.expressions.typeAt(file, callee), site);
  }

  private callLibrary(site: CallSite, callee: ExprRow): ValueType | undefined {
    const { engine, repo } = this;
    const facts = repo.facts(site.file);
    const object = facts.exprs.object(callee);
    const method = facts.strings[facts.exprs.member(callee)]!;
    const rows = this.engine.signatures.argumentsOf(site);
    const typeArgument = (i: number) =>
      rows[i] === undefined ? undefined : engine.expressions.typeAt(site.file, rows[i]!);
    const typeCallback = () => {
      for (let i = 0; i < Math.min(2, rows.length); i++) {
        const given = typeArgument(i);
        if (given?.kind === "function") return this.resultOf(given, undefined);
        if (given?.kind === "class") return engine.types.instanceOf(given.symbol, []);
      }
      return undefined;
    };
    const language = repo.language(site.file);
    const receiver = engine.expressions.typeAt(site.file, object);
    if (receiver?.kind === "external" && facts.exprs.op(object) === Expr.Name) {
      const owner = facts.strings[facts.exprs.name(object)]!;
      return engine.library.callStatic(language, `${owner}.${method}`, typeArgument, typeCallback);
    }
    const { functions, wrappers } = language.library;
    const ofFunction = receiver?.kind === "function" ? functions?.get(method) : undefined;
    if (ofFunction) return ofFunction === "called" ? this.resultOf(receiver, undefined) : receiver;
    const wrapper = wrappers?.inside.has(method) ? "inside" : wrappers?.closure.has(method) ? "closure" : undefined;
    return unionOf(
      partsOf(receiver).map((part) => {
        if (part.kind === "builtin") {
          const result = engine.library.callMethod(language, part, method, typeCallback, typeArgument);
          return result ?? (wrapper === "inside" ? part : wrapper ? typeCallback() : undefined);
        }
        if (!wrapper || (part.kind !== "instance" && part.kind !== "parameter")) return undefined;
        if (engine.members.find(part, method, 0, true).members.length > 0) return undefined;
        return wrapper === "inside" ? part : typeCallback();
      }),
    );
  }

  /**
   * The only abstract method of an interface, which a lambda may implement (Java). Undefined if there are several or
   * none.
   */
  private findOnlyMethod(symbol: number, env: TypeEnv | undefined): ValueType | undefined {
    const { repo } = this;
    if (!repo.rules(repo.fileOf(symbol)).overloads || repo.label(symbol) !== "Interface") return undefined;
    let only = -1;
    for (const children of repo.childrenOf(symbol).values()) {
      for (const child of children) {
        if (repo.label(child) !== "Method" || !repo.has(child, SymbolFlag.Abstract)) continue;
        if (only >= 0) return undefined;
        only = child;
      }
    }
    return only < 0 ? undefined : { kind: "function", symbol: only, env, self: undefined };
  }

  /** The type of a parameter of a function type, with type parameters replaced. */
  private typeOfParameter(type: ValueType | undefined, parameter: number): ValueType | undefined {
    return unionOf(
      partsOf(type).map((part) => {
        if (part.kind === "function")
          return substitute(
            this.engine.signatures.declaredTypeOf(part.symbol, parameter),
            withSelf(part.env, part.self),
          );
        if (part.kind === "instance") {
          const callable = this.engine.members.typeOfMember(part, "()") ?? this.findOnlyMethod(part.symbol, part.env);
          return callable ? this.typeOfParameter(callable, parameter) : undefined;
        }
        if (part.kind === "external") return part;
        return part.kind === "parameter"
          ? unionOf(this.callablesOf(part).map((one) => this.typeOfParameter(one, parameter)))
          : undefined;
      }),
    );
  }

  /** The type of a lambda's parameter, from the call that the lambda is passed to. */
  typeFromContext(file: number, source: ExprRow, argument: number, parameter: number): ValueType | undefined {
    const { engine, repo } = this;
    if (argument < 0) return this.typeOfParameter(engine.expressions.typeAt(file, source), parameter);
    const pickType = (type: ValueType | undefined) => (parameter < 0 ? type : this.typeOfParameter(type, parameter));
    const facts = repo.facts(file);
    const callee = facts.exprs.callee(source);
    const site = { file, expr: source };
    if (facts.exprs.op(source) === Expr.New) {
      return unionOf(
        partsOf(engine.expressions.typeAt(file, callee)).map((part) => {
          if (part.kind !== "class") return part.kind === "external" ? part : undefined;
          const name = repo.rules(repo.fileOf(part.symbol)).constructorName;
          const maker = engine.members.find(engine.types.instanceOf(part.symbol, []), name).members[0];
          return maker
            ? pickType(substitute(this.engine.signatures.declaredTypeOf(maker.symbol, argument), maker.env))
            : undefined;
        }),
      );
    }
    if (parameter >= 0 && facts.exprs.op(callee) === Expr.Member) {
      const receiver = engine.expressions.typeAt(file, facts.exprs.object(callee));
      const method = facts.strings[facts.exprs.member(callee)]!;
      const language = repo.language(file);
      const through = parameter === 0 && language.library.wrappers?.handsInside.has(method);
      const found = unionOf(
        partsOf(receiver).map((part) => {
          if (part.kind === "builtin") return engine.library.typeOfCallback(language, part, method, parameter);
          const own =
            through && part.kind === "instance" && engine.members.find(part, method, 0, true).members.length > 0;
          return through && part.kind === "instance" && !own ? part : undefined;
        }),
      );
      if (found) return found;
      if (parameter === 0 && language.library.methods.sequence.get(method) === "reduced") {
        const initial = this.engine.signatures.argumentsOf(site)[1];
        if (initial !== undefined) return engine.expressions.typeAt(file, initial);
      }
    }
    const called = engine.expressions.typeAt(file, callee);
    // A function from outside passes values from outside to its callbacks.
    if (called?.kind === "external") return EXTERNAL;
    return unionOf(
      this.callablesOf(called).map((part) => {
        const chosen = this.engine.signatures.choose(part.symbol, site);
        const declared = this.engine.signatures.declaredTypeOf(chosen, argument);
        if (isClosed(declared)) return pickType(declared);
        const env = withSelf(mergeEnv(this.inferEnv(chosen, chosen, site, false), part.env), part.self);
        return pickType(substitute(declared, env));
      }),
    );
  }
}
