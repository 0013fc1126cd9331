/** Extension methods of types from outside: C#'s `"{0}".FormatWith(x)`, where a class here declares `FormatWith(this string …)`. */
import { fewestArguments, mostArguments, SymbolFlag } from "../../language/fact-layout.ts";
import type { CallSite, Engine } from "../engine.ts";
import { pushTo, type Repository } from "../repository.ts";
import { partsOf, type ValueType } from "../types/value-type.ts";
import type { Target } from "./targets.ts";

interface Extension {
  symbol: number;
  /** What the extended type means here: undefined or external for a class from outside. */
  type: ValueType | undefined;
}

export class Extensions {
  private readonly repo: Repository;
  /** By name; made when they are first needed. */
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

  /** What a call of a member reaches on a value from outside: one extension method, or nothing. */
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

/** Whether an extension of one type from outside may be meant by a value of another. */
function mayExtend(extended: ValueType | undefined, receiver: ValueType | undefined): boolean {
  const from = (type: ValueType | undefined) => type === undefined || type.kind === "external";
  if (from(receiver)) return from(extended);
  return partsOf(receiver).every(
    (part) => part.kind === "builtin" && extended?.kind === "builtin" && extended.name === part.name,
  );
}
