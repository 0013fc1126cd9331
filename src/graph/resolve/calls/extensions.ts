/**
 * Extension methods for types from outside: C#'s `"{0}".FormatWith(x)`, if a class here declares `FormatWith(this
 * string …)`.
 */
import { fewestArguments, mostArguments, SymbolFlag } from "../../language/fact-layout.ts";
import type { CallSite, Engine } from "../engine.ts";
import { pushTo, type Repository } from "../repository.ts";
import { partsOf, type ValueType } from "../types/value-type.ts";
import type { Target } from "./targets.ts";

interface Extension {
  symbol: number;
  /** The extended type, if it has a meaning here. It is undefined or external for a class from outside. */
  type: ValueType | undefined;
}

export class Extensions {
  private readonly repo: Repository;
  /** Extension methods by name; built when first needed. */
  private known: Map<string, Extension[]> | undefined;

  constructor(private readonly engine: Engine) {
    this.repo = engine.repo;
  }

  private indexByName(): Map<string, Extension[]> {
    const { repo } = this;
    if (this.known) return this.known;
    this.known = new Map();
    for (const [file, { facts }] of repo.files.entries()) {
      const attaches = facts.table("attaches");
      for (let row = 0; row < attaches.length; row++) {
        const symbol = repo.symbolAt(file, attaches.symbol(row));
        if (!repo.has(symbol, SymbolFlag.Extension)) continue;
        const type = this.engine.types.typeAt(file, attaches.type(row));
        if (!partsOf(type).some((part) => part.kind === "instance"))
          pushTo(this.known, repo.name(symbol), { symbol, type });
      }
    }
    return this.known;
  }

  /** The extension method that a call on a value from outside reaches; none if it is ambiguous. */
  find(receiver: ValueType | undefined, name: string, site: CallSite): Target[] {
    const { repo } = this;
    const { exprs, lists } = repo.facts(site.file);
    if (repo.language(site.file).library.commonMembers.has(name)) return [];
    const count = lists.items(exprs.args(site.expr)).length + 1;
    const fitting = (this.indexByName().get(name) ?? []).filter(({ symbol, type }) => {
      const arity = repo.column(symbol, "arity");
      return fewestArguments(arity) <= count && count <= mostArguments(arity) && mayExtend(type, receiver);
    });
    const exact = fitting.filter(({ symbol }) => mostArguments(repo.column(symbol, "arity")) === count);
    const [first, second] = exact.length > 0 ? exact : fitting;
    return first && !second ? [{ symbol: first.symbol, reason: receiver ? "receiver_type" : "unique_name" }] : [];
  }
}

/** Whether an extension of one type from outside can apply to a value of another type. */
function mayExtend(extended: ValueType | undefined, receiver: ValueType | undefined): boolean {
  const isExternal = (type: ValueType | undefined) => type === undefined || type.kind === "external";
  if (isExternal(receiver)) return isExternal(extended);
  return partsOf(receiver).every(
    (part) => part.kind === "builtin" && extended?.kind === "builtin" && extended.name === part.name,
  );
}
