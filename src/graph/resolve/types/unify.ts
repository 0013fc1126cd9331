/** Infers type parameters by matching declared types with given types. */

import { SymbolFlag } from "../../language/fact-layout.ts";
import { exists, isNone, mapRows } from "../../rows.ts";
import type { Engine } from "../engine.ts";
import type { Repository } from "../repository.ts";
import type { TypeBindings } from "./type-bindings.ts";
import { isClosed, partsOf, substitute, unionOf, type ValueType } from "./value-type.ts";

const MAX_UNIFY = 6;

export class Unifier {
  private readonly repo: Repository;

  constructor(private readonly engine: Engine) {
    this.repo = engine.repo;
  }

  /** Whether a function belongs to a literal and its parameters may get their types from where the literal stands. */
  private isContextual(symbol: number): boolean {
    const { repo } = this;
    if (isNone(repo.column(symbol, "parameters"))) return false;
    const holder = repo.parent(symbol);
    return repo.has(symbol, SymbolFlag.Hidden) || (holder >= 0 && repo.has(holder, SymbolFlag.Hidden));
  }

  /** Whether a declared type certainly contains no type parameter. The given type is then not needed. */
  namesNothing(declared: ValueType | undefined): boolean {
    if (declared?.kind === "instance" && declared.open) return this.isApart(declared.symbol);
    return isClosed(declared);
  }

  /** Whether a type literal is in a place where no type parameter can be named. */
  private isApart(literal: number): boolean {
    const { repo } = this;
    if (repo.label(literal) === "Variable") return false;
    for (let at = literal; at >= 0; at = repo.parent(at)) if (exists(repo.column(at, "typeParameters"))) return false;
    return true;
  }

  /**
   * Matches a declared type with a given type, and binds those type parameters in `ids` that `env` lacks.
   * @param lambdas whether to use the return types of functions in the given value. It must be false while the
   * parameters of these functions are being found.
   */
  unify(
    pattern: ValueType | undefined,
    given: ValueType | undefined,
    env: TypeBindings,
    ids: ReadonlySet<number>,
    lambdas: boolean,
    depth = 0,
  ): void {
    if (!pattern || !given || depth > MAX_UNIFY || given.kind === "external") return;
    if (env.size === ids.size || this.namesNothing(pattern)) return;
    if (!lambdas && given.kind === "function" && this.isContextual(given.symbol)) return;
    if (pattern.kind === "parameter") {
      if (ids.has(pattern.id) && !env.has(pattern.id)) env.bindType(pattern.id, given);
      return;
    }
    if (pattern.kind === "union") {
      for (const part of pattern.of) this.unify(part, given, env, ids, lambdas, depth + 1);
      return;
    }
    for (const part of partsOf(given)) this.unifyOne(pattern, part, env, ids, lambdas, depth);
  }

  private unifyOne(
    pattern: ValueType,
    given: ValueType,
    env: TypeBindings,
    ids: ReadonlySet<number>,
    lambdas: boolean,
    depth: number,
  ): void {
    const { engine } = this;
    if (pattern.kind === "builtin" && given.kind === "builtin") {
      if (given.name === "Tuple" && pattern.name !== "Tuple")
        this.unify(pattern.args[0], unionOf(given.args), env, ids, lambdas, depth + 1);
      else
        for (let i = 0; i < pattern.args.length; i++)
          this.unify(pattern.args[i], given.args[i], env, ids, lambdas, depth + 1);
    } else if (pattern.kind === "instance") {
      this.unifyInstance(pattern, given, env, ids, lambdas, depth);
    } else if (pattern.kind === "function") {
      const wanted = engine.calls.returnTypeOf(pattern.symbol);
      if (given.kind === "function") {
        this.unify(wanted, engine.calls.resultOf(given, undefined), env, ids, lambdas, depth + 1);
        this.unifyParameters(pattern.symbol, given.symbol, env, ids, lambdas, depth);
      } else if (given.kind === "class")
        this.unify(wanted, engine.types.instanceOf(given.symbol, []), env, ids, lambdas, depth + 1);
    } else if (pattern.kind === "class" && given.kind === "class") {
      pattern.env?.forEach((type, id) => {
        this.unify(type, given.env?.get(id), env, ids, lambdas, depth + 1);
      });
    }
  }

  /** Matches the declared parameter types of two functions. */
  private unifyParameters(
    pattern: number,
    given: number,
    env: TypeBindings,
    ids: ReadonlySet<number>,
    lambdas: boolean,
    depth: number,
  ): void {
    const { repo } = this;
    const listParameterTypes = (symbol: number) => {
      const file = repo.fileOf(symbol);
      const { bindings, lists } = repo.facts(file);
      const rows = lists.items(repo.column(symbol, "parameters"));
      return mapRows(rows, (row) => this.engine.types.typeAt(file, bindings.type(row)));
    };
    const types = listParameterTypes(given);
    for (const [i, wanted] of listParameterTypes(pattern).entries())
      this.unify(wanted, types[i], env, ids, lambdas, depth + 1);
  }

  private unifyInstance(
    pattern: ValueType & { kind: "instance" },
    given: ValueType,
    env: TypeBindings,
    ids: ReadonlySet<number>,
    lambdas: boolean,
    depth: number,
  ): void {
    const { engine, repo } = this;
    if (given.kind === "class" || given.kind === "function") {
      for (const name of ["new()", "()"]) {
        const [member] = repo.childrenNamed(pattern.symbol, name);
        if (member !== undefined)
          this.unify(
            substitute(engine.calls.returnTypeOf(member), pattern.env),
            given.kind === "class"
              ? engine.types.instanceOf(given.symbol, [])
              : engine.calls.resultOf(given, undefined),
            env,
            ids,
            lambdas,
            depth + 1,
          );
      }
      return;
    }
    if (given.kind !== "instance") return;
    const seen = new Set<number>();
    const queue: ValueType[] = [given];
    for (let next = queue.shift(); next; next = queue.shift()) {
      if (next.kind !== "instance" || seen.has(next.symbol)) continue;
      seen.add(next.symbol);
      if (next.symbol === pattern.symbol) {
        pattern.env?.forEach((type, id) => {
          this.unify(type, next.env?.get(id), env, ids, lambdas, depth + 1);
        });
        return;
      }
      queue.push(...engine.bases.basesOf(next.symbol, next.env));
    }
    if (!pattern.open && !given.open) return;
    // Structural match, for an object literal, or for any value if a type literal is declared.
    for (const [name, symbols] of repo.childrenOf(pattern.symbol)) {
      const declared = substitute(engine.types.typeOfSymbol(symbols[0]!), pattern.env);
      if (env.size === ids.size || this.namesNothing(declared)) continue;
      this.unify(declared, engine.members.typeOfMember(given, name), env, ids, lambdas, depth + 1);
    }
  }
}
