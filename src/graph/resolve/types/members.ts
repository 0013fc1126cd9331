/** Finds members of types: own ones, those attached from elsewhere, and inherited ones. */
import { SymbolFlag } from "../../language/fact-layout.ts";
import type { SymbolLabel } from "../../model.ts";
import { isNone, NOTHING } from "../../rows.ts";
import type { Engine, Entity, Member, MemberSearch } from "../engine.ts";
import type { Repository } from "../repository.ts";
import {
  EXTERNAL,
  isClosed,
  mergeEnv,
  partsOf,
  substitute,
  THIS_ID,
  type TypeEnv,
  unionOf,
  type ValueType,
  withSelf,
} from "./value-type.ts";

const MAX_INHERITANCE = 24;
/** Names that facts give to calls, constructors and members in brackets. An index signature does not apply to them. */
const SPECIAL = /^(\(\)|new\(\)|\[.*\])$/;

interface Hunt {
  name: string;
  called: boolean | undefined;
  isStatic: boolean;
  self: ValueType;
  /** Types that were already searched. Created when a second type is searched. */
  seen: Set<number> | undefined;
  result: MemberSearch;
}

export class Members {
  private readonly repo: Repository;
  /** Names that are being looked up in modules, to stop at circles. */
  private readonly asked = new Set<string>();

  constructor(private readonly engine: Engine) {
    this.repo = engine.repo;
  }

  /** Chooses between several declarations of one name. Definitions go before signatures. */
  private chooseBest(symbols: readonly number[], isStatic: boolean, called: boolean | undefined): number {
    const { repo } = this;
    let found = -1;
    let rank = -1;
    for (const symbol of symbols) {
      const flags = repo.flags(symbol);
      const overload =
        (flags & (SymbolFlag.Hidden | SymbolFlag.Signature)) === (SymbolFlag.Hidden | SymbolFlag.Signature);
      const score =
        (called !== undefined && (repo.label(symbol) === "Property") === called ? 0 : 16) +
        ((flags & SymbolFlag.Implements) !== 0 ? 0 : 8) +
        (overload ? 0 : 2) +
        (((flags & SymbolFlag.Static) !== 0) === isStatic ? 4 : 0) +
        ((flags & SymbolFlag.Signature) !== 0 ? 0 : 1);
      if (score > rank) {
        rank = score;
        found = symbol;
      }
    }
    return found;
  }

  /** The members of a symbol with a name. Declarations inside of a function's body are not members. */
  private findNamed(symbol: number, name: string): readonly number[] {
    const { repo } = this;
    const symbols = repo.childrenNamed(symbol, name);
    const label = repo.label(symbol);
    if (symbols.length > 0 && (label === "Function" || label === "Method"))
      return this.keepLabelled(symbols, "Method", "Property");
    if (symbols.length > 0 || label !== "Variable" || !repo.has(symbol, SymbolFlag.Hidden)) return symbols;
    // Methods that were assigned to an object after it was created: `app.listen = function () {}`.
    const holder = this.holderOf(symbol);
    return holder < 0 ? symbols : this.keepLabelled(repo.childrenNamed(holder, name), "Method");
  }

  private keepLabelled(symbols: readonly number[], ...labels: SymbolLabel[]): readonly number[] {
    return symbols.filter((symbol) => labels.includes(this.repo.label(symbol)));
  }

  private findOwn(symbol: number, name: string, isStatic: boolean, called: boolean | undefined): number {
    const { repo } = this;
    let kept = -1;
    for (const part of this.engine.bases.declarationsOf(symbol)) {
      const symbols = this.findNamed(part, name);
      if (symbols.length === 0) continue;
      const found = this.chooseBest(symbols, isStatic, called);
      // Where fields and methods have separate names, a method may still be declared elsewhere. So may a signature's
      // definition.
      const elsewhere = repo.has(found, SymbolFlag.Signature) && repo.rules(repo.fileOf(found)).includes;
      if (!elsewhere && (called !== true || repo.label(found) !== "Property")) return found;
      kept = found;
      break;
    }
    const key = repo.rules(repo.fileOf(symbol)).ignoreCase ? name.toLowerCase() : name;
    const attached = this.engine.bases.attachedTo(symbol)?.get(key);
    return attached ? this.chooseBest(kept < 0 ? attached : [kept, ...attached], isStatic, called) : kept;
  }

  private hunt(symbol: number, env: TypeEnv | undefined, depth: number, by: Hunt): boolean {
    if (depth > MAX_INHERITANCE || by.seen?.has(symbol)) return false;
    by.seen?.add(symbol);
    const found = this.findOwn(symbol, by.name, by.isStatic, by.called);
    if (found >= 0) {
      by.result.members.push({ symbol: found, env, self: by.self, inherited: depth > 0 });
      return true;
    }
    for (const base of this.engine.bases.basesOf(symbol, env)) {
      by.seen ??= new Set([symbol]);
      if (base.kind === "instance") {
        if (this.hunt(base.symbol, mergeEnv(base.env, env), depth + 1, by)) return true;
      } else if (base.kind === "function" || base.kind === "class") {
        if (this.hunt(base.symbol, base.env, depth + 1, by)) return true;
      } else if (base.kind === "parameter" || base.kind === "module") {
        // An object that spreads a module has the module as a base.
        const search = this.find(base, by.name, depth + 1);
        if (search.members.length > 0) {
          by.result.members.push(...search.members);
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Finds the members of a type with a name.
   * @param depth how many types were passed through on the way here
   * @param called whether the member is called, so that a method is preferred to a field of the same name
   */
  find(type: ValueType | undefined, name: string, depth = 0, called?: boolean): MemberSearch {
    const result: MemberSearch = { members: [], known: type !== undefined };
    if (!type || depth > MAX_INHERITANCE) return result;
    for (const part of partsOf(type)) this.findInPart(part, name, depth, result, called);
    return result;
  }

  private findInPart(part: ValueType, name: string, depth: number, result: MemberSearch, called?: boolean): void {
    switch (part.kind) {
      case "instance":
      case "class":
      case "function":
        this.hunt(part.symbol, part.env, 0, {
          name,
          called,
          isStatic: part.kind !== "instance",
          self: part,
          seen: undefined,
          result,
        });
        if (result.members.length === 0) result.members.push(...this.findReexported(part.symbol, name));
        return;
      case "module":
        for (const file of part.files) {
          const entity = this.engine.exports.findExport(file, name, "value");
          if (entity?.kind !== "symbol") continue;
          result.members.push({ symbol: entity.symbol, env: undefined, self: undefined, inherited: false });
          return;
        }
        return;
      case "space": {
        const symbol = this.findInSpace(part, name);
        if (symbol !== undefined) result.members.push({ symbol, env: undefined, self: undefined, inherited: false });
        return;
      }
      case "parameter": {
        const search = this.find(this.constraintOf(part), name, depth + 1, called);
        for (const member of search.members)
          result.members.push({ ...member, self: member.self && part.id === THIS_ID ? part : member.self });
        return;
      }
      default:
    }
  }

  /** A member that a module inside a file has through its own imports: `mod a { pub use b::C; }`. */
  private findReexported(symbol: number, name: string): readonly Member[] {
    const entity = this.findInModule(symbol, name);
    return entity?.kind === "symbol"
      ? [{ symbol: entity.symbol, env: undefined, self: undefined, inherited: false }]
      : NOTHING;
  }

  private findInModule(symbol: number, name: string): Entity | undefined {
    const { engine, repo } = this;
    if (repo.label(symbol) !== "Namespace") return undefined;
    const file = repo.fileOf(symbol);
    const scope = repo.column(symbol, "inner");
    const key = `${symbol} ${name}`;
    // Modules may name each other in a circle.
    if (isNone(scope) || repo.rules(file).exportLists || this.asked.has(key)) return undefined;
    this.asked.add(key);
    const found =
      engine.names.findInModule(file, scope, name, "type") ?? engine.names.findInModule(file, scope, name, "value");
    this.asked.delete(key);
    return found;
  }

  /** The symbol of a name in a name space. Of several, one that the naming file includes is preferred. */
  private findInSpace(part: ValueType & { kind: "space" }, name: string): number | undefined {
    const { repo } = this;
    const all = repo.inSpace(part.name, name, 0);
    const { from } = part;
    if (from === undefined || all.length < 2) return all[0];
    const seen = all.filter((symbol) => this.engine.includes.reaches(from, repo.fileOf(symbol)));
    return seen.find((symbol) => !repo.has(symbol, SymbolFlag.Signature)) ?? seen[0] ?? all[0];
  }

  private constraintOf(part: ValueType & { kind: "parameter" }): ValueType | undefined {
    const { engine } = this;
    if (part.id === THIS_ID) return engine.types.instanceOf(part.file, []);
    return engine.types.typeAt(part.file, this.repo.facts(part.file).bindings.constraint(part.binding));
  }

  typeOfMember(type: ValueType | undefined, name: string, called?: boolean): ValueType | undefined {
    const { engine, repo } = this;
    const types: (ValueType | undefined)[] = [];
    for (const part of partsOf(type)) {
      if (part.kind === "external") types.push(this.typeOfHeld(part, name));
      else if (part.kind === "module") {
        for (const file of part.files) {
          const entity = engine.exports.findExport(file, name, "value");
          if (entity) {
            types.push(engine.types.typeOfEntity(entity));
            break;
          }
          if (repo.rules(file).moduleNames?.has(name)) types.push(part);
        }
        if (part.folder !== undefined)
          types.push(engine.types.typeOfEntity(engine.names.findSubmodule(part.folder, name)));
      } else if (part.kind === "space") {
        const inner = `${part.name}.${name}`;
        const search = this.find(part, name);
        const found = search.members.length > 0 ? this.toType(search.members[0]!) : undefined;
        if (found?.kind === "space" || (!found && repo.spaceExists(inner)))
          types.push({ ...part, key: undefined, name: found?.kind === "space" ? found.name : inner });
        else types.push(found);
      } else {
        const search = this.find(part, name, 0, called);
        if (search.members.length > 0) for (const member of search.members) types.push(this.toType(member));
        else if (part.kind === "instance")
          types.push(
            (this.isSpecial(part, name) ? undefined : this.typeThroughIndex(part)) ?? this.findAssigned(part, name, 0),
          );
        else if (part.kind === "class" || part.kind === "function")
          types.push(
            engine.types.typeOfEntity(this.findInModule(part.symbol, name)) ?? this.findAssigned(part, name, 0),
          );
        else if (part.kind === "builtin" && !SPECIAL.test(name)) types.push(engine.library.memberOf(part));
      }
    }
    return unionOf(types);
  }

  /** A member of a value from outside. A cell's member is the value that the cell was made to hold. */
  private typeOfHeld(part: ValueType & { kind: "external" }, name: string): ValueType {
    return part.holds && this.engine.library.isCellMember(name) ? part.holds : EXTERNAL;
  }

  /** A member that exists only by assignment to the value or to one of its bases. */
  private findAssigned(part: ValueType, name: string, depth: number): ValueType | undefined {
    const { engine, repo } = this;
    if (part.kind !== "instance" && part.kind !== "class" && part.kind !== "function") return undefined;
    if (depth > MAX_INHERITANCE || !repo.rules(repo.fileOf(part.symbol)).openValues) return undefined;
    const holder = part.kind === "instance" && part.open ? this.holderOf(part.symbol) : -1;
    const own =
      (holder >= 0 ? engine.assignments.typeAssignedToMember(holder, name, false) : undefined) ??
      engine.assignments.typeAssignedToMember(part.symbol, name, part.kind === "instance");
    if (own) return own;
    for (const base of this.engine.bases.basesOf(part.symbol, part.env)) {
      const found = this.findAssigned(base, name, depth + 1);
      if (found) return found;
    }
    return undefined;
  }

  /** The constant or variable whose value is this object literal; -1 if there is none. */
  private holderOf(literal: number): number {
    const { repo } = this;
    const holder = repo.parent(literal);
    if (holder < 0 || (repo.label(holder) !== "Const" && repo.label(holder) !== "Variable")) return -1;
    const type = this.engine.types.typeOfSymbol(holder);
    return type?.kind === "instance" && type.symbol === literal ? holder : -1;
  }

  /** Whether a member of this name is called by the language itself. */
  private isSpecial(part: ValueType & { kind: "instance" }, name: string): boolean {
    const { repo } = this;
    return SPECIAL.test(name) || repo.rules(repo.fileOf(part.symbol)).specialMembers?.test(name) === true;
  }

  private typeThroughIndex(part: ValueType & { kind: "instance" }): ValueType | undefined {
    const search = this.find(part, "[]");
    return search.members[0] ? this.toType(search.members[0]) : undefined;
  }

  private toType(member: Member): ValueType | undefined {
    const declared = this.engine.types.typeOfSymbol(member.symbol);
    const type = isClosed(declared) ? declared : substitute(declared, withSelf(member.env, member.self));
    if (type?.kind === "function" && type.symbol === member.symbol)
      return { ...type, key: undefined, env: mergeEnv(type.env, member.env), self: member.self };
    return type;
  }
}
