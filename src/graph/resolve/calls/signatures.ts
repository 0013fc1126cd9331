/**
 * The arguments of calls, the declared parameters of functions, and the choice between several signatures of one name.
 */
import { BindingKind, Expr, SymbolFlag } from "../../language/fact-layout.ts";
import { type BindingRow, type ExprRow, exists, isNone, type Rows } from "../../rows.ts";
import type { CallSite, Engine } from "../engine.ts";
import type { Repository } from "../repository.ts";
import { partsOf, type ValueType } from "../types/value-type.ts";

/** Library types whose values belong to no other type. */
const PLAIN = /^(string|number|boolean)$/;

export class Signatures {
  private readonly repo: Repository;

  constructor(private readonly engine: Engine) {
    this.repo = engine.repo;
  }

  /** Expression rows of a call's arguments. */
  argumentsOf(site: CallSite): Rows<ExprRow> {
    const facts = this.repo.facts(site.file);
    return facts.lists.items(facts.exprs.args(site.expr));
  }

  isLambda(file: number, row: ExprRow): boolean {
    return this.repo.facts(file).exprs.op(row) === Expr.Function;
  }

  /** Binding rows of a function's parameters. */
  private parametersOf(symbol: number): Rows<BindingRow> {
    const { repo } = this;
    return repo.facts(repo.fileOf(symbol)).lists.items(repo.column(symbol, "parameters"));
  }

  /** The declared type of a function's parameter. */
  declaredTypeOf(symbol: number, index: number): ValueType | undefined {
    const { engine, repo } = this;
    const rows = this.parametersOf(symbol);
    const file = repo.fileOf(symbol);
    const max = repo.column(symbol, "arity") % 1000;
    const variadic = max === 999 && index >= rows.length - 1;
    const row = rows[variadic ? rows.length - 1 : index];
    if (row === undefined) return undefined;
    const type = engine.types.typeAt(file, repo.facts(file).bindings.type(row));
    if (!variadic) return type;
    // In `...handlers: [First, Second]`, the tuple gives the type of each argument.
    const places = type?.kind === "builtin" && type.name === "Tuple" ? type.args : [];
    return places[index - rows.length + 1] ?? engine.expressions.elementOf(type);
  }

  /** The bound of a type parameter. */
  constraintOf(part: ValueType & { kind: "parameter" }): ValueType | undefined {
    if (isNone(part.binding)) return undefined;
    return this.engine.types.typeAt(part.file, this.repo.facts(part.file).bindings.constraint(part.binding));
  }

  /** The overload that fits a call's arguments. A symbol without overloads is returned itself. */
  choose(symbol: number, site: CallSite | undefined): number {
    const { repo } = this;
    const file = repo.fileOf(symbol);
    if (repo.rules(file).overloads) {
      const fitting = this.engine.overloads.choose(symbol, site);
      return fitting < 0 ? symbol : fitting;
    }
    const parent = repo.parent(symbol);
    const facts = repo.facts(file);
    const siblings =
      parent >= 0 && repo.label(symbol) === "Method"
        ? repo.childrenNamed(parent, repo.name(symbol))
        : Array.from(repo.bindingsOf(file, repo.column(symbol, "scope"), repo.column(symbol, "name")), (row) =>
            facts.bindings.kind(row) === BindingKind.Symbol ? repo.symbolAt(file, facts.bindings.symbol(row)) : -1,
          );
    const candidates = siblings.filter(
      (other) => other >= 0 && repo.has(other, SymbolFlag.Signature) && exists(repo.column(other, "type")),
    );
    if (candidates.length === 0 || (candidates.length === 1 && candidates[0] === symbol)) return symbol;
    if (!site) return candidates[0]!;
    const args = this.argumentsOf(site);
    for (const candidate of candidates) {
      const arity = repo.column(candidate, "arity");
      if (args.length < Math.floor(arity / 1000) || (arity % 1000 !== 999 && args.length > arity % 1000)) continue;
      if (args.every((argument, i) => this.mayBe(this.declaredTypeOf(candidate, i), site.file, argument)))
        return candidate;
    }
    return candidates[0]!;
  }

  /** Whether an argument may fit a parameter. False only if it certainly does not. */
  private mayBe(declared: ValueType | undefined, file: number, argument: ExprRow): boolean {
    const wanted = declared?.kind === "parameter" ? this.constraintOf(declared) : declared;
    if (!wanted || wanted.kind === "external" || wanted.kind === "parameter") return true;
    if (this.isLambda(file, argument))
      return partsOf(wanted).some((part) => part.kind !== "builtin" || part.name === "Function");
    const given = this.engine.expressions.typeAt(file, argument);
    if (!given || given.kind === "external" || given.kind === "parameter") return true;
    return partsOf(given).some((one) =>
      partsOf(wanted).some((other) => {
        if (other.kind === "builtin" && one.kind === "builtin")
          return other.name === one.name || ![other.name, one.name].some((name) => PLAIN.test(name));
        if (other.kind === "builtin" || one.kind === "builtin")
          return !PLAIN.test(other.kind === "builtin" ? other.name : one.kind === "builtin" ? one.name : "");
        return true;
      }),
    );
  }
}
