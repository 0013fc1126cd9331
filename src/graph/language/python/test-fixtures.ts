/**
 * The values that pytest passes to tests. A parameter gets the fixture with its name: that of the test's class, of its
 * file, or of a `conftest.py` in a folder above.
 */
import { type ExprRow, exists, isNone, NONE, type ScopeRow } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { Expr, ImportKind, ScopeKind } from "../fact-layout.ts";
import type { FactsBuilder } from "../facts-builder.ts";

/** The module from which the fixtures of all `conftest.py` files above a file are imported. */
export const CONFTEST = ":conftest";

interface Request {
  /** The row of the fixture's name. It is completed when all fixtures of the file are known. */
  row: ExprRow;
  name: string;
  thisScope: ScopeRow;
}

/** A function that takes fixtures: a test, or another fixture. */
export interface Taker {
  at: Place;
  line: number;
  /** Text that names the parameters which something else provides. */
  given: string;
}

export class TestFixtures {
  private readonly requests: Request[] = [];
  /** Names of fixtures, by the scope that declares them. */
  private readonly declared = new Map<number, Set<string>>();

  constructor(private readonly facts: FactsBuilder) {}

  /** Records a function that `@fixture` decorates. */
  declare(name: string, scope: ScopeRow): void {
    const names = this.declared.get(scope);
    if (names) names.add(name);
    else this.declared.set(scope, new Set([name]));
  }

  /** The value of a parameter: the result of the fixture with its name. None if something else provides it. */
  request(name: string, taker: Taker): ExprRow {
    const { facts } = this;
    if (taker.given.includes(name)) return NONE;
    const row = facts.expr(Expr.Name, facts.name(name), 0);
    this.requests.push({ row, name, thisScope: taker.at.thisScope });
    facts.useValue(row, taker.at.symbol, taker.line);
    return facts.exprCall(row, []);
  }

  /** Resolves each requested fixture. Must be called at the end of the file. */
  finish(): void {
    const { facts } = this;
    let above: ScopeRow = NONE;
    for (const { row, name, thisScope } of this.requests) {
      if (exists(thisScope) && this.declared.get(thisScope)?.has(name)) {
        const self = facts.expr(Expr.This, thisScope);
        facts.exprs.become(row, Expr.Member, self, facts.name(name));
      } else if (!this.declared.get(0)?.has(name)) {
        if (isNone(above)) {
          above = facts.scope(NONE, ScopeKind.Block);
          facts.import(ImportKind.Wildcard, CONFTEST, "*", "", 1, above);
        }
        facts.exprs.become(row, Expr.Name, facts.exprs.name(row), above);
      }
    }
  }
}
