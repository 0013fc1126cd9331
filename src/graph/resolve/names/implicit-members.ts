/** Members that are visible as plain names: those of the class around, and of the class a method is defined for. */

import { SymbolFlag } from "../../language/fact-layout.ts";
import { isNone, NONE, type ScopeRow, type SymbolRow, type TypeRow } from "../../rows.ts";
import type { Engine, Entity, NameSpaceOf } from "../engine.ts";
import { partsOf, type ValueType } from "../types/value-type.ts";
import { labelsOf } from "./name-labels.ts";

/** Finds the member that a plain name means in a scope: a class's own, or that of a function which is its method. */
type ImplicitMember = (file: number, scope: ScopeRow, text: string, space: NameSpaceOf) => Entity | undefined;

export function createImplicitMembers(engine: Engine): ImplicitMember {
  const { repo } = engine;
  const attached: (Map<SymbolRow, TypeRow> | undefined)[] = [];
  /** Owners under evaluation: finding the type of a method looks names up around that method. */
  const asking = new Set<number>();

  /** The type that a symbol of a file is attached to, by its row; none when it is not. */
  function attachRow(file: number, symbol: SymbolRow): TypeRow {
    let index = attached[file];
    if (!index) {
      index = new Map();
      const { attaches } = repo.facts(file);
      for (let row = 0; row < attaches.length; row++) index.set(attaches.symbol(row), attaches.type(row));
      attached[file] = index;
    }
    return index.get(symbol) ?? NONE;
  }

  function ownerType(file: number, owner: SymbolRow): ValueType | undefined {
    if (isNone(repo.column(repo.base[file]! + owner, "inner"))) return undefined;
    const label = repo.label(repo.base[file]! + owner);
    if (label !== "Function" && label !== "Method") return engine.instanceOf(repo.base[file]! + owner, []);
    const row = attachRow(file, owner);
    const key = repo.base[file]! + owner;
    if (row < 0 || asking.has(key)) return undefined;
    asking.add(key);
    const type = partsOf(engine.typeAt(file, row)).find((part) => part.kind === "instance");
    asking.delete(key);
    return type;
  }

  return (file, scope, text, space) => {
    const owner = repo.facts(file).scopes.symbol(scope);
    const instance = isNone(owner) ? undefined : ownerType(file, owner);
    if (!instance) return undefined;
    const called = repo.rules(file).overloads ? space === "call" : undefined;
    const found = engine
      .members(instance, text, 0, called)
      .members.filter(
        (member) =>
          !repo.has(member.symbol, SymbolFlag.Constructor) &&
          (space === "value" || labelsOf(space).has(repo.label(member.symbol))),
      );
    const first = found[0];
    return first ? { kind: "symbol", symbol: first.symbol, via: "member" } : undefined;
  };
}
