/** Assignments other than declarations: to variables, to members of `this`, and to members of a name. */

import { Expr } from "../../language/fact-layout.ts";
import { type BindingRow, exists, isNone, type NameRow, rowAfter, type ScopeRow } from "../../rows.ts";
import type { Engine, Entity } from "../engine.ts";
import { FileIndex } from "../file-index.ts";
import { pushTo, type Repository } from "../repository.ts";
import { unionOf, type ValueType } from "./value-type.ts";

/**
 * Keys of assignments: `x = e` by name, `this.x = e` by scope and name, `F.x = e` and `F.prototype = e` by the member's
 * name.
 */
const toPlainKey = (name: NameRow): string => `${name}`;
const ofThis = (scope: ScopeRow, name: NameRow): string => `${scope}/${name}`;
const ofName = (member: NameRow): string => `.${member}`;

export class Assignments {
  private readonly repo: Repository;
  /** Rows of a file's assignments, by key. */
  private readonly indexes = new FileIndex((file) => this.indexAssigns(file));

  constructor(private readonly engine: Engine) {
    this.repo = engine.repo;
  }

  private indexAssigns(file: number): Map<string, number[]> {
    const index = new Map<string, number[]>();
    const { assigns: table, exprs } = this.repo.facts(file);
    for (let row = table.first; row < table.length; row = rowAfter(row)) {
      const target = table.target(row);
      if (exprs.op(target) === Expr.Name) pushTo(index, toPlainKey(exprs.name(target)), row);
      else if (exprs.op(target) === Expr.Member) {
        const object = exprs.object(target);
        const name = exprs.member(target);
        if (exprs.op(object) === Expr.This) pushTo(index, ofThis(exprs.thisScope(object), name), row);
        else if (exprs.op(object) === Expr.Name) pushTo(index, ofName(name), row);
      }
    }
    return index;
  }

  private rowsOf(file: number, key: string): readonly number[] {
    return this.indexes.of(file).get(key) ?? [];
  }

  /** The type of the values that are assigned to a property or variable after its declaration. */
  typeAssignedTo(symbol: number): ValueType | undefined {
    const { repo } = this;
    const file = repo.fileOf(symbol);
    const name = repo.column(symbol, "name");
    const parent = repo.parent(symbol);
    if (repo.label(symbol) !== "Property" || parent < 0)
      return this.findByName(file, name, (entity) => entity.kind === "symbol" && entity.symbol === symbol);
    return this.findThroughThis(file, parent, name);
  }

  /** The type of the values that a class or constructor function assigns to a member of `this`. */
  private findThroughThis(file: number, owner: number, name: NameRow): ValueType | undefined {
    const { repo } = this;
    const { assigns, symbols } = repo.facts(file);
    const rows = this.rowsOf(file, ofThis(symbols.inner(repo.rowOf(owner, file)), name));
    return unionOf(rows.map((row) => this.engine.expressions.typeAt(file, assigns.expr(row))));
  }

  private findByName(file: number, name: NameRow, same: (entity: Entity) => boolean): ValueType | undefined {
    const { engine } = this;
    const facts = this.repo.facts(file);
    const types: (ValueType | undefined)[] = [];
    for (const row of this.rowsOf(file, toPlainKey(name))) {
      const entity = engine.names.lookUp(file, facts.assigns.scope(row), name, "value");
      if (entity && same(entity)) types.push(engine.expressions.typeAt(file, facts.assigns.expr(row)));
    }
    return unionOf(types);
  }

  typeAssignedToBinding(file: number, binding: BindingRow): ValueType | undefined {
    const name = this.repo.facts(file).bindings.name(binding);
    return this.findByName(
      file,
      name,
      (entity) => entity.kind === "binding" && entity.binding === binding && entity.file === file,
    );
  }

  /** The type of the values that are assigned to `symbol.name` in the symbol's own file. */
  private findNamed(file: number, symbol: number, name: NameRow): ValueType | undefined {
    const { engine } = this;
    const { assigns: table, exprs } = this.repo.facts(file);
    const types: (ValueType | undefined)[] = [];
    for (const row of this.rowsOf(file, ofName(name))) {
      const target = table.target(row);
      const object = exprs.object(target);
      const entity = engine.names.lookUp(file, exprs.nameScope(object), exprs.name(object), "value");
      if (entity?.kind === "symbol" && entity.symbol === symbol)
        types.push(engine.expressions.typeAt(file, table.expr(row)));
    }
    return unionOf(types);
  }

  /** Whether a symbol is the one value that its CommonJS module exports. */
  private isWhole(file: number, symbol: number): boolean {
    const whole = this.engine.exports.findOwnExport(file, "=", "value");
    if (whole?.kind === "symbol") return whole.symbol === symbol;
    return whole?.kind === "type" && whole.type.kind === "instance" && whole.type.symbol === symbol;
  }

  /**
   * The type of a member that exists only by assignment.
   * @param instance whether it is a member of the symbol's instances, and not of the symbol itself (`F.x = e`)
   */
  typeAssignedToMember(symbol: number, text: string, instance: boolean): ValueType | undefined {
    const { engine, repo } = this;
    const file = repo.fileOf(symbol);
    if (repo.facts(file).assigns.length === 0 && !engine.exports.isGivenWhole(file)) return undefined;
    const name = repo.stringRow(file, text);
    if (!instance) {
      const own = isNone(name) ? undefined : this.findNamed(file, symbol, name);
      if (own) return own;
    }
    // After `module.exports = F`, an `exports.x = e` in the same file makes x a member of F.
    if (exists(name) && this.isWhole(file, symbol)) {
      const beside = engine.exports.findOwnExport(file, text, "value");
      if (beside) return engine.types.typeOfEntity(beside);
    }
    if (!instance) return undefined;
    if (repo.rules(file).openInstances && exists(name)) {
      const own = this.findThroughThis(file, symbol, name);
      if (own) return own;
    }
    const prototype = repo.stringRow(file, repo.rules(file).openValues?.prototype ?? "");
    const shared = isNone(prototype) ? undefined : this.findNamed(file, symbol, prototype);
    return shared && engine.members.typeOfMember(shared, text);
  }
}
