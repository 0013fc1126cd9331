/** Results of calls: return types, inferred type parameters, and the parameters of lambdas by context. */

import { BindingKind, Expr, SymbolFlag } from "../../language/fact-layout.ts";
import { type BindingRow, type ExprRow, exists, isNone, NONE, type Rows } from "../../rows.ts";
import type { CallSite, Engine } from "../engine.ts";
import { TypeMemo } from "../types/type-memo.ts";
import { createUnify } from "../types/unify.ts";
import {
  builtin,
  EXTERNAL,
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
/** Type parameters bounded by one another, and interfaces called through one another. */
const MAX_BOUNDS = 4;

type Calls = Pick<Engine, "callType" | "callResult" | "constructResult" | "returnType" | "contextual">;

export function createCalls(engine: Engine): Calls {
  const { repo } = engine;
  const unify = createUnify(engine);
  const returnMemo = new TypeMemo(repo.symbolTotal);

  function argumentRows(site: CallSite): Rows<ExprRow> {
    const facts = repo.facts(site.file);
    return facts.lists.items(facts.exprs.args(site.expr));
  }

  function isLambda(file: number, row: ExprRow): boolean {
    return repo.facts(file).exprs.op(row) === Expr.Function;
  }

  /** Parameter binding rows of a function symbol. */
  function parameters(symbol: number): Rows<BindingRow> {
    return repo.facts(repo.fileOf(symbol)).lists.items(repo.column(symbol, "parameters"));
  }

  function declaredParameter(symbol: number, index: number): ValueType | undefined {
    const rows = parameters(symbol);
    const file = repo.fileOf(symbol);
    const max = repo.column(symbol, "arity") % 1000;
    const variadic = max === 999 && index >= rows.length - 1;
    const row = rows[variadic ? rows.length - 1 : index];
    if (row === undefined) return undefined;
    const type = engine.typeAt(file, repo.facts(file).bindings.type(row));
    if (!variadic) return type;
    // `...handlers: [First, Second]` says of each argument what it is.
    const places = type?.kind === "builtin" && type.name === "Tuple" ? type.args : [];
    return places[index - rows.length + 1] ?? engine.elementType(type);
  }

  function constraintOf(part: ValueType & { kind: "parameter" }): ValueType | undefined {
    if (isNone(part.binding)) return undefined;
    return engine.typeAt(part.file, repo.facts(part.file).bindings.constraint(part.binding));
  }

  /** The functions that calling a value may reach: itself, the call signatures of its type, those of what bounds it. */
  function callables(type: ValueType | undefined, depth = 0): (ValueType & { kind: "function" })[] {
    return partsOf(type).flatMap((part) => {
      if (part.kind === "function") return [part];
      if (depth > MAX_BOUNDS) return [];
      if (part.kind === "instance") return callables(engine.memberType(part, "()"), depth + 1);
      return part.kind === "parameter" ? callables(constraintOf(part), depth + 1) : [];
    });
  }

  /** The environment of a call: what is written in `<…>`, else what the arguments say. */
  function inferEnv(symbol: number, typeParameterOwner: number, site: CallSite, lambdas: boolean): TypeEnv | undefined {
    const file = repo.fileOf(typeParameterOwner);
    const rows = repo.facts(file).lists.items(repo.column(typeParameterOwner, "typeParameters"));
    if (rows.length === 0) return undefined;
    const ids = Array.from(rows, (row) => parameterId(file, row));
    const env = new Map<number, ValueType>();
    const siteFacts = repo.facts(site.file);
    const written = siteFacts.lists.items(siteFacts.exprs.typeArgs(site.expr));
    for (const [i, id] of ids.entries()) {
      const type = written[i] === undefined ? undefined : engine.typeAt(site.file, written[i]!);
      if (type) env.set(id, type);
    }
    if (written.length === 0) {
      const idSet = new Set(ids);
      for (const lambdaTurn of lambdas ? [false, true] : [false]) {
        for (const [i, argument] of argumentRows(site).entries()) {
          if (isLambda(site.file, argument) !== lambdaTurn) continue;
          unify(declaredParameter(symbol, i), engine.exprType(site.file, argument), env, idSet, lambdas);
        }
      }
    }
    for (const [i, id] of ids.entries()) {
      if (env.has(id)) continue;
      const row = rows[i]!;
      const facts = repo.facts(file);
      const fallback =
        engine.typeAt(file, facts.bindings.fallback(row)) ?? engine.typeAt(file, facts.bindings.constraint(row));
      if (fallback && lambdas) env.set(id, substitute(fallback, env) ?? fallback);
    }
    return env;
  }

  function returnType(symbol: number): ValueType | undefined {
    return returnMemo.of(symbol, () => findReturnType(symbol));
  }

  function findReturnType(symbol: number): ValueType | undefined {
    const file = repo.fileOf(symbol);
    const flags = repo.flags(symbol);
    const declared = repo.column(symbol, "type");
    if (exists(declared)) return flags & SymbolFlag.Guard ? builtin("boolean") : engine.typeAt(file, declared);
    const context = repo.column(symbol, "value");
    if (exists(context)) {
      const typed = engine.callResult(engine.exprType(file, context), undefined);
      if (typed && typed.kind !== "external") return typed;
    }
    const facts = repo.facts(file);
    const types = Array.from(facts.lists.items(repo.column(symbol, "returns")), (row) => {
      if (exists(row) && facts.exprs.op(row) === Expr.This) {
        const scope = facts.exprs.thisScope(row);
        const owner = isNone(scope) ? NONE : facts.scopes.symbol(scope);
        if (exists(owner))
          return { kind: "parameter", id: THIS_ID, file: repo.base[file]! + owner, binding: NONE } satisfies ValueType;
      }
      return engine.exprType(file, row);
    });
    const result = unionOf(types);
    if (flags & SymbolFlag.Generator) return builtin("Generator", result);
    return flags & SymbolFlag.Async ? builtin("Promise", engine.awaited(result)) : result;
  }

  /** The overload that fits the arguments of a call, the symbol itself when it has no overloads. */
  function overload(symbol: number, site: CallSite | undefined): number {
    const file = repo.fileOf(symbol);
    if (repo.rules(file).overloads) {
      const fitting = engine.overloadFor(symbol, site);
      return fitting < 0 ? symbol : fitting;
    }
    const parent = repo.parent(symbol);
    const facts = repo.facts(file);
    const siblings =
      parent >= 0 && repo.label(symbol) === "Method"
        ? repo.childrenNamed(parent, repo.name(symbol))
        : Array.from(repo.bindingsOf(file, repo.column(symbol, "scope"), repo.column(symbol, "name")), (row) =>
            facts.bindings.kind(row) === BindingKind.Symbol ? repo.base[file]! + facts.bindings.symbol(row) : -1,
          );
    const candidates = siblings.filter(
      (other) => other >= 0 && repo.has(other, SymbolFlag.Signature) && exists(repo.column(other, "type")),
    );
    if (candidates.length === 0 || (candidates.length === 1 && candidates[0] === symbol)) return symbol;
    if (!site) return candidates[0]!;
    const args = argumentRows(site);
    for (const candidate of candidates) {
      const arity = repo.column(candidate, "arity");
      if (args.length < Math.floor(arity / 1000) || (arity % 1000 !== 999 && args.length > arity % 1000)) continue;
      if (args.every((argument, i) => mayBe(declaredParameter(candidate, i), site.file, argument))) return candidate;
    }
    return candidates[0]!;
  }

  /** False only when an argument certainly does not fit a parameter. */
  function mayBe(declared: ValueType | undefined, file: number, argument: ExprRow): boolean {
    const wanted = declared?.kind === "parameter" ? constraintOf(declared) : declared;
    if (!wanted || wanted.kind === "external" || wanted.kind === "parameter") return true;
    if (isLambda(file, argument))
      return partsOf(wanted).some((part) => part.kind !== "builtin" || part.name === "Function");
    const given = engine.exprType(file, argument);
    if (!given || given.kind === "external" || given.kind === "parameter") return true;
    return partsOf(given).some((one) =>
      partsOf(wanted).some((other) => {
        if (other.kind === "builtin" && one.kind === "builtin")
          return (
            other.name === one.name || ![other.name, one.name].some((name) => /^(string|number|boolean)$/.test(name))
          );
        if (other.kind === "builtin" || one.kind === "builtin")
          return !/^(string|number|boolean)$/.test(
            other.kind === "builtin" ? other.name : one.kind === "builtin" ? one.name : "",
          );
        return true;
      }),
    );
  }

  let depth = 0;

  function callResult(type: ValueType | undefined, site: CallSite | undefined): ValueType | undefined {
    if (!type || depth > MAX_CALL_DEPTH) return undefined;
    depth++;
    const result = resultOf(type, site);
    depth--;
    return result;
  }

  function resultOf(type: ValueType, site: CallSite | undefined): ValueType | undefined {
    return unionOf(
      partsOf(type).map((part) => {
        switch (part.kind) {
          case "function": {
            const chosen = overload(part.symbol, site);
            const inferred = site ? inferEnv(chosen, chosen, site, true) : undefined;
            const env = withSelf(mergeEnv(inferred, part.env), part.self);
            return substitute(returnType(chosen), env);
          }
          case "instance": {
            const member = repo.rules(repo.fileOf(part.symbol)).callMember;
            const callable =
              engine.memberType(part, "()") ?? (member === undefined ? undefined : engine.memberType(part, member));
            if (callable) return callResult(callable, site);
            // `Enum::Variant(payload)` is a value of the enum.
            return repo.label(part.symbol) === "Enum" && repo.rules(repo.fileOf(part.symbol)).callConstructs
              ? part
              : undefined;
          }
          case "class":
            return site && repo.rules(repo.fileOf(part.symbol)).callConstructs
              ? constructResult(part.symbol, site)
              : undefined;
          case "external":
            return site ? heldOutside(site) : part;
          default:
            return undefined;
        }
      }),
    );
  }

  /** What a function from outside makes: of `f<T>(…)` it is known that it holds a T. */
  function heldOutside(site: CallSite): ValueType {
    const { exprs, lists } = repo.facts(site.file);
    const written = lists.items(exprs.typeArgs(site.expr));
    const holds = written.length === 1 ? engine.typeAt(site.file, written[0]!) : undefined;
    return holds && holds.kind !== "external" ? { kind: "external", holds } : EXTERNAL;
  }

  /** The instance a constructor call makes, its type parameters from the arguments. */
  function constructResult(symbol: number, site: CallSite): ValueType {
    const plain = engine.instanceOf(symbol, []);
    if (isNone(repo.column(symbol, "typeParameters"))) return plain;
    const name = repo.rules(repo.fileOf(symbol)).constructorName;
    const maker = engine.members(plain, name).members[0];
    const env = inferEnv(maker?.symbol ?? symbol, symbol, site, true);
    return plain.kind === "instance" ? { ...plain, key: undefined, env } : plain;
  }

  function callType(file: number, row: ExprRow): ValueType | undefined {
    const facts = repo.facts(file);
    const site = { file, expr: row };
    const callee = facts.exprs.callee(row);
    if (isNone(callee)) return undefined;
    if (facts.exprs.op(callee) === Expr.Member) {
      const special = libraryCall(site, callee);
      if (special) return special;
    }
    return callResult(engine.exprType(file, callee), site);
  }

  function libraryCall(site: CallSite, callee: ExprRow): ValueType | undefined {
    const facts = repo.facts(site.file);
    const object = facts.exprs.object(callee);
    const method = facts.strings[facts.exprs.member(callee)]!;
    const rows = argumentRows(site);
    const argument = (i: number) => (rows[i] === undefined ? undefined : engine.exprType(site.file, rows[i]!));
    const callback = () => {
      for (let i = 0; i < Math.min(2, rows.length); i++) {
        const given = argument(i);
        if (given?.kind === "function") return callResult(given, undefined);
        if (given?.kind === "class") return engine.instanceOf(given.symbol, []);
      }
      return undefined;
    };
    const language = repo.language(site.file);
    const receiver = engine.exprType(site.file, object);
    if (receiver?.kind === "external" && facts.exprs.op(object) === Expr.Name) {
      const owner = facts.strings[facts.exprs.name(object)]!;
      return engine.library.staticCall(language, `${owner}.${method}`, argument, callback);
    }
    const { functions, wrappers } = language.library;
    const ofFunction = receiver?.kind === "function" ? functions?.get(method) : undefined;
    if (ofFunction) return ofFunction === "called" ? callResult(receiver, undefined) : receiver;
    const wrapper = wrappers?.inside.has(method) ? "inside" : wrappers?.closure.has(method) ? "closure" : undefined;
    return unionOf(
      partsOf(receiver).map((part) => {
        if (part.kind === "builtin") {
          const result = engine.library.methodCall(language, part, method, callback, argument);
          return result ?? (wrapper === "inside" ? part : wrapper ? callback() : undefined);
        }
        if (!wrapper || (part.kind !== "instance" && part.kind !== "parameter")) return undefined;
        if (engine.members(part, method, 0, true).members.length > 0) return undefined;
        return wrapper === "inside" ? part : callback();
      }),
    );
  }

  /** The one abstract method of an interface that a lambda may stand for: Java. */
  function onlyMethod(symbol: number, env: TypeEnv | undefined): ValueType | undefined {
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

  /** The type of a parameter of a function type, seen through an environment. */
  function parameterOf(type: ValueType | undefined, parameter: number): ValueType | undefined {
    return unionOf(
      partsOf(type).map((part) => {
        if (part.kind === "function")
          return substitute(declaredParameter(part.symbol, parameter), withSelf(part.env, part.self));
        if (part.kind === "instance") {
          const callable = engine.memberType(part, "()") ?? onlyMethod(part.symbol, part.env);
          return callable ? parameterOf(callable, parameter) : undefined;
        }
        if (part.kind === "external") return part;
        return part.kind === "parameter"
          ? unionOf(callables(part).map((one) => parameterOf(one, parameter)))
          : undefined;
      }),
    );
  }

  function contextual(file: number, source: ExprRow, argument: number, parameter: number): ValueType | undefined {
    if (argument < 0) return parameterOf(engine.exprType(file, source), parameter);
    const asked = (type: ValueType | undefined) => (parameter < 0 ? type : parameterOf(type, parameter));
    const facts = repo.facts(file);
    const callee = facts.exprs.callee(source);
    const site = { file, expr: source };
    if (facts.exprs.op(source) === Expr.New) {
      return unionOf(
        partsOf(engine.exprType(file, callee)).map((part) => {
          if (part.kind !== "class") return part.kind === "external" ? part : undefined;
          const name = repo.rules(repo.fileOf(part.symbol)).constructorName;
          const maker = engine.members(engine.instanceOf(part.symbol, []), name).members[0];
          return maker ? asked(substitute(declaredParameter(maker.symbol, argument), maker.env)) : undefined;
        }),
      );
    }
    if (parameter >= 0 && facts.exprs.op(callee) === Expr.Member) {
      const receiver = engine.exprType(file, facts.exprs.object(callee));
      const method = facts.strings[facts.exprs.member(callee)]!;
      const language = repo.language(file);
      const through = parameter === 0 && language.library.wrappers?.handsInside.has(method);
      const found = unionOf(
        partsOf(receiver).map((part) => {
          if (part.kind === "builtin") return engine.library.callback(language, part, method, parameter);
          const own = through && part.kind === "instance" && engine.members(part, method, 0, true).members.length > 0;
          return through && part.kind === "instance" && !own ? part : undefined;
        }),
      );
      if (found) return found;
      if (parameter === 0 && language.library.methods.sequence.get(method) === "reduced") {
        const initial = argumentRows(site)[1];
        if (initial !== undefined) return engine.exprType(file, initial);
      }
    }
    const called = engine.exprType(file, callee);
    // What a function from outside hands to a callback comes from outside.
    if (called?.kind === "external") return EXTERNAL;
    return unionOf(
      callables(called).map((part) => {
        const chosen = overload(part.symbol, site);
        const env = withSelf(mergeEnv(inferEnv(chosen, chosen, site, false), part.env), part.self);
        return asked(substitute(declaredParameter(chosen, argument), env));
      }),
    );
  }

  return { callType, callResult, constructResult, returnType, contextual };
}
