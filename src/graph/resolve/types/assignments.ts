/** Assignments apart from declarations: to variables, to members of `this`, to members of a name. */

import { Expr } from "../../language/fact-layout.ts";
import { type BindingRow, type ExprRow, exists, isNone, type NameRow, rowAfter } from "../../rows.ts";
import type { Engine } from "../engine.ts";
import { pushTo } from "../repository.ts";
import { unionOf, type ValueType } from "./value-type.ts";

interface AssignIndex {
  /** Assigned expressions by `scope of this` and name: `this.x = e`. */
  members: Map<string, ExprRow[]>;
  /** Rows of the table by name: `x = e`. */
  names: Map<NameRow, number[]>;
  /** Rows of the table by member name: `F.x = e`, `F.prototype = e`. */
  named: Map<NameRow, number[]>;
}

type Assignments = Pick<Engine, "assignedType" | "assignedToBinding" | "assignedMember">;

export function createAssignments(engine: Engine): Assignments {
  const { repo } = engine;
  const indexes: (AssignIndex | undefined)[] = [];

  function assigns(file: number): AssignIndex {
    const existing = indexes[file];
    if (existing) return existing;
    const index: AssignIndex = { members: new Map(), names: new Map(), named: new Map() };
    const { assigns: table, exprs } = repo.facts(file);
    for (let row = table.first; row < table.length; row = rowAfter(row)) {
      const target = table.target(row);
      if (exprs.op(target) === Expr.Name) pushTo(index.names, exprs.name(target), row);
      else if (exprs.op(target) === Expr.Member) {
        const object = exprs.object(target);
        const name = exprs.member(target);
        if (exprs.op(object) === Expr.This)
          pushTo(index.members, `${exprs.thisScope(object)}/${name}`, table.expr(row));
        else if (exprs.op(object) === Expr.Name) pushTo(index.named, name, row);
      }
    }
    indexes[file] = index;
    return index;
  }

  function assignedType(symbol: number): ValueType | undefined {
    const file = repo.fileOf(symbol);
    const name = repo.column(symbol, "name");
    const parent = repo.parent(symbol);
    if (repo.label(symbol) !== "Property" || parent < 0)
      return assignedName(file, name, (entity) => entity.kind === "symbol" && entity.symbol === symbol);
    return toThis(file, parent, name);
  }

  /** What is assigned to a member of `this` in the bodies of a class or constructor function. */
  function toThis(file: number, owner: number, name: NameRow): ValueType | undefined {
    const scope = repo.facts(file).symbols.inner(repo.rowOf(owner, file));
    return unionOf((assigns(file).members.get(`${scope}/${name}`) ?? []).map((expr) => engine.exprType(file, expr)));
  }

  function assignedName(
    file: number,
    name: NameRow,
    same: (entity: NonNullable<ReturnType<Engine["lookup"]>>) => boolean,
  ): ValueType | undefined {
    const facts = repo.facts(file);
    const types: (ValueType | undefined)[] = [];
    for (const row of assigns(file).names.get(name) ?? []) {
      const entity = engine.lookup(file, facts.assigns.scope(row), name, "value");
      if (entity && same(entity)) types.push(engine.exprType(file, facts.assigns.expr(row)));
    }
    return unionOf(types);
  }

  function assignedToBinding(file: number, binding: BindingRow): ValueType | undefined {
    const name = repo.facts(file).bindings.name(binding);
    return assignedName(
      file,
      name,
      (entity) => entity.kind === "binding" && entity.binding === binding && entity.file === file,
    );
  }

  /** What is assigned to `name` of a symbol by the symbol's own name, in its own file. */
  function toNamed(file: number, symbol: number, name: NameRow): ValueType | undefined {
    const { assigns: table, exprs } = repo.facts(file);
    const types: (ValueType | undefined)[] = [];
    for (const row of assigns(file).named.get(name) ?? []) {
      const target = table.target(row);
      const object = exprs.object(target);
      const entity = engine.lookup(file, exprs.nameScope(object), exprs.name(object), "value");
      if (entity?.kind === "symbol" && entity.symbol === symbol) types.push(engine.exprType(file, table.expr(row)));
    }
    return unionOf(types);
  }

  /** Whether a function, class or object literal is what its CommonJS module gives. */
  function isWhole(file: number, symbol: number): boolean {
    const whole = engine.exportedRow(file, "=", "value");
    if (whole?.kind === "symbol") return whole.symbol === symbol;
    return whole?.kind === "type" && whole.type.kind === "instance" && whole.type.symbol === symbol;
  }

  function assignedMember(symbol: number, text: string, instance: boolean): ValueType | undefined {
    const file = repo.fileOf(symbol);
    const name = repo.stringRow(file, text);
    if (!instance) {
      const own = isNone(name) ? undefined : toNamed(file, symbol, name);
      if (own) return own;
    }
    // `module.exports = F` and `exports.x = e` in one file: x is a member of F.
    if (exists(name) && isWhole(file, symbol)) {
      const beside = engine.exportedRow(file, text, "value");
      if (beside) return engine.entityType(beside);
    }
    if (!instance) return undefined;
    if (repo.rules(file).openInstances && exists(name)) {
      const own = toThis(file, symbol, name);
      if (own) return own;
    }
    const prototype = repo.stringRow(file, repo.rules(file).openValues?.prototype ?? "");
    const shared = isNone(prototype) ? undefined : toNamed(file, symbol, prototype);
    return shared && engine.memberType(shared, text);
  }

  return { assignedType, assignedToBinding, assignedMember };
}
