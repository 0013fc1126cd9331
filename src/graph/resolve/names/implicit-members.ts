/**
 * Members that are visible as plain names: those of the enclosing class, and of the class that a method is defined for.
 */

import { SymbolFlag } from "../../language/fact-layout.ts";
import { isNone, NONE, type ScopeRow, type SymbolRow, type TypeRow } from "../../rows.ts";
import type { Engine, Entity, NameSpaceOf } from "../engine.ts";
import { FileIndex } from "../file-index.ts";
import type { Repository } from "../repository.ts";
import { partsOf, type ValueType } from "../types/value-type.ts";
import { labelsOf } from "./name-labels.ts";

export class ImplicitMembers {
  private readonly repo: Repository;
  /** For each file, the types that its symbols are attached to. */
  private readonly attached = new FileIndex((file) => this.indexAttached(file));
  /**
   * Owners whose type is being found. Finding a method's type looks up names around that method, which may ask again.
   */
  private readonly asking = new Set<number>();

  constructor(private readonly engine: Engine) {
    this.repo = engine.repo;
  }

  /** The type that a symbol is attached to, by the symbol's row; NONE if there is none. */
  private findAttached(file: number, symbol: SymbolRow): TypeRow {
    return this.attached.of(file).get(symbol) ?? NONE;
  }

  private indexAttached(file: number): Map<SymbolRow, TypeRow> {
    const index = new Map<SymbolRow, TypeRow>();
    const { attaches } = this.repo.facts(file);
    for (let row = 0; row < attaches.length; row++) index.set(attaches.symbol(row), attaches.type(row));
    return index;
  }

  private typeOfOwner(file: number, owner: SymbolRow): ValueType | undefined {
    const { engine, repo } = this;
    if (isNone(repo.column(repo.symbolAt(file, owner), "inner"))) return undefined;
    const label = repo.label(repo.symbolAt(file, owner));
    if (label !== "Function" && label !== "Method") return engine.types.instanceOf(repo.symbolAt(file, owner), []);
    const row = this.findAttached(file, owner);
    const key = repo.symbolAt(file, owner);
    if (row < 0 || this.asking.has(key)) return undefined;
    this.asking.add(key);
    const type = partsOf(engine.types.typeAt(file, row)).find((part) => part.kind === "instance");
    this.asking.delete(key);
    return type;
  }

  /**
   * The member that a plain name means in a scope: one of the enclosing class, or of the class whose method is around.
   */
  find(file: number, scope: ScopeRow, text: string, space: NameSpaceOf): Entity | undefined {
    const { repo } = this;
    const owner = repo.facts(file).scopes.symbol(scope);
    const instance = isNone(owner) ? undefined : this.typeOfOwner(file, owner);
    if (!instance) return undefined;
    const called = repo.rules(file).overloads ? space === "call" : undefined;
    const found = this.engine.members
      .find(instance, text, 0, called)
      .members.filter(
        (member) =>
          !repo.has(member.symbol, SymbolFlag.Constructor) &&
          (space === "value" || labelsOf(space).has(repo.label(member.symbol))),
      );
    const first = found[0];
    return first ? { kind: "symbol", symbol: first.symbol, via: "member" } : undefined;
  }
}
