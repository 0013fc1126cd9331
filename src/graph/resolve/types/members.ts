/** Members of types: own, attached from elsewhere, inherited. */
import { BindingKind, HeritageKind, SymbolFlag } from "../../language/fact-layout.ts";
import { exists, isNone, type TypeRow } from "../../rows.ts";
import type { Engine, Entity, Member, MemberSearch } from "../engine.ts";
import { pushTo } from "../repository.ts";
import {
  EXTERNAL,
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

/**
 * Names that facts give to calls, constructors and what stands in brackets: an index signature does not apply to
 * them.
 */
const SPECIAL = /^(\(\)|new\(\)|\[.*\])$/;

interface OutsideIndex {
  bases: Map<number, { file: number; row: number }[]>;
  members: Map<number, Map<string, number[]>>;
}

type Members = Pick<Engine, "members" | "memberType" | "bases">;

export function createMembers(engine: Engine): Members {
  const { repo } = engine;
  const heritageIndexes: (Map<number, number[]> | undefined)[] = [];
  /** Bases given to a type elsewhere, and members declared elsewhere; both found once for the whole repository. */
  let outside: OutsideIndex | undefined;
  /** Names that are being looked up in modules. */
  const asked = new Set<string>();

  function heritageRows(file: number): Map<number, number[]> {
    let index = heritageIndexes[file];
    if (index) return index;
    index = new Map();
    const { heritage } = repo.facts(file);
    for (let row = 0; row < heritage.length; row++) {
      const symbol = heritage.symbol(row);
      if (exists(symbol)) pushTo(index, symbol, row);
    }
    heritageIndexes[file] = index;
    return index;
  }

  function outsideIndex(): OutsideIndex {
    if (outside) return outside;
    // Set before it is filled: finding the subjects evaluates types, which may ask for members.
    const index: OutsideIndex = { bases: new Map(), members: new Map() };
    outside = index;
    for (let file = 0; file < repo.files.length; file++) {
      const { attaches, heritage } = repo.facts(file);
      for (let row = 0; row < attaches.length; row++) {
        const symbol = repo.base[file]! + attaches.symbol(row);
        for (const owner of subjects(file, attaches.type(row))) {
          let names = index.members.get(owner);
          if (!names) {
            names = new Map();
            index.members.set(owner, names);
          }
          pushTo(names, repo.rules(file).ignoreCase ? repo.name(symbol).toLowerCase() : repo.name(symbol), symbol);
        }
      }
      for (let row = 0; row < heritage.length; row++) {
        if (exists(heritage.symbol(row))) continue;
        for (const owner of subjects(file, heritage.subject(row))) pushTo(index.bases, owner, { file, row });
      }
    }
    return index;
  }

  /** The symbols that a type row names. */
  function subjects(file: number, row: TypeRow): number[] {
    const parts = partsOf(engine.typeAt(file, row));
    return parts.flatMap((part) => (part.kind === "instance" ? [part.symbol] : []));
  }

  function heritageType(file: number, row: number): ValueType | undefined {
    const { heritage, exprs } = repo.facts(file);
    const type = exists(heritage.type(row)) ? engine.typeAt(file, heritage.type(row)) : undefined;
    if (type && type.kind === "instance") return type;
    const expr = heritage.expr(row);
    if (isNone(expr) || exprs.length <= expr) return type;
    const value = unionOf(
      partsOf(engine.exprType(file, expr)).map((part) => {
        if (part.kind === "class") return engine.instanceOf(part.symbol, []);
        if (part.kind === "function" && !repo.has(part.symbol, SymbolFlag.Hidden))
          return engine.instanceOf(part.symbol, []);
        // What a constructor type makes: `abstract new () => Base`.
        if (part.kind === "function" && repo.has(part.symbol, SymbolFlag.Constructor))
          return substitute(engine.returnType(part.symbol), part.env);
        return part;
      }),
    );
    return value && value.kind !== "external" ? value : (type ?? value);
  }

  function bases(symbol: number, env: TypeEnv | undefined, parents = false): ValueType[] {
    const file = repo.fileOf(symbol);
    const byKind: ValueType[][] = [[], [], []];
    const add = (home: number, row: number) => {
      const kind = repo.facts(home).heritage.kind(row);
      for (const part of partsOf(substitute(heritageType(home, row), env))) byKind[kind]!.push(part);
    };
    const { partialTypes, mergedTypes } = repo.rules(file);
    for (const part of partialTypes || mergedTypes ? declarations(symbol) : [symbol]) {
      const home = part === symbol ? file : repo.fileOf(part);
      for (const row of heritageRows(home).get(part - repo.base[home]!) ?? []) {
        // A class has no member from what it implements: the member is its own, or its parent's.
        if (mergedTypes && repo.facts(home).heritage.kind(row) === HeritageKind.Implements) continue;
        add(home, row);
      }
    }
    for (const { file: other, row } of outsideIndex().bases.get(symbol) ?? []) add(other, row);
    const extended = byKind[HeritageKind.Extends]!;
    if (parents && extended.length > 0) return extended;
    return [...byKind[HeritageKind.Mixin]!, ...extended, ...byKind[HeritageKind.Implements]!];
  }

  /** Declarations of the same type under the same name: merged interfaces, partial classes. */
  function declarations(symbol: number): readonly number[] {
    const file = repo.fileOf(symbol);
    if (repo.rules(file).partialTypes && repo.isTopLevel(symbol)) return partsOfType(file, symbol);
    const rows = repo.bindingsOf(file, repo.column(symbol, "scope"), repo.column(symbol, "name"));
    if (rows.length < 2) return [symbol];
    const { bindings } = repo.facts(file);
    const merged = rows.flatMap((row) => {
      if (bindings.kind(row) !== BindingKind.Symbol) return [];
      const other = repo.base[file]! + bindings.symbol(row);
      return other !== symbol && exists(repo.column(other, "inner")) ? [other] : [];
    });
    return [symbol, ...merged];
  }

  /** A type declared in parts: the other declarations of its name in its name spaces, of as many type parameters. */
  function partsOfType(file: number, symbol: number): readonly number[] {
    const found = [symbol];
    const count = (one: number) => repo.facts(repo.fileOf(one)).lists.items(repo.column(one, "typeParameters")).length;
    for (const space of repo.spacesAt(file, repo.column(symbol, "scope")))
      for (const one of repo.inSpace(space, repo.name(symbol), file))
        if (one !== symbol && exists(repo.column(one, "inner")) && count(one) === count(symbol)) found.push(one);
    return found;
  }

  /** The declaration meant among several of one name: a definition before its signatures. */
  function best(symbols: readonly number[], isStatic: boolean, called: boolean | undefined): number {
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

  /** The members of a symbol under a name. What is declared inside a function is none. */
  function membersNamed(symbol: number, name: string): readonly number[] {
    const symbols = repo.childrenNamed(symbol, name);
    const label = repo.label(symbol);
    if (symbols.length > 0 && (label === "Function" || label === "Method"))
      return symbols.filter((child) => repo.label(child) === "Method" || repo.label(child) === "Property");
    if (symbols.length > 0 || label !== "Variable" || !repo.has(symbol, SymbolFlag.Hidden)) return symbols;
    // Methods that an object was given after it was made: `app.listen = function () {}`.
    const holder = holderOf(symbol);
    return holder < 0 ? symbols : repo.childrenNamed(holder, name).filter((child) => repo.label(child) === "Method");
  }

  function own(symbol: number, name: string, isStatic: boolean, called: boolean | undefined): number {
    let kept = -1;
    for (const part of declarations(symbol)) {
      const symbols = membersNamed(part, name);
      if (symbols.length === 0) continue;
      const found = best(symbols, isStatic, called);
      // Where fields and methods have names of their own, a method may still stand elsewhere; so may its definition.
      const elsewhere = repo.has(found, SymbolFlag.Signature) && repo.rules(repo.fileOf(found)).includes;
      if (!elsewhere && (called !== true || repo.label(found) !== "Property")) return found;
      kept = found;
      break;
    }
    const key = repo.rules(repo.fileOf(symbol)).ignoreCase ? name.toLowerCase() : name;
    const attached = outsideIndex().members.get(symbol)?.get(key);
    return attached ? best(kept < 0 ? attached : [kept, ...attached], isStatic, called) : kept;
  }

  interface Hunt {
    name: string;
    called: boolean | undefined;
    isStatic: boolean;
    self: ValueType;
    seen: Set<number>;
    result: MemberSearch;
  }

  function hunt(symbol: number, env: TypeEnv | undefined, depth: number, by: Hunt): boolean {
    if (depth > MAX_INHERITANCE || by.seen.has(symbol)) return false;
    by.seen.add(symbol);
    const found = own(symbol, by.name, by.isStatic, by.called);
    if (found >= 0) {
      by.result.members.push({ symbol: found, env, self: by.self, inherited: depth > 0 });
      return true;
    }
    for (const base of bases(symbol, env)) {
      if (base.kind === "instance") {
        if (hunt(base.symbol, mergeEnv(base.env, env), depth + 1, by)) return true;
      } else if (base.kind === "function" || base.kind === "class") {
        if (hunt(base.symbol, base.env, depth + 1, by)) return true;
      } else if (base.kind === "parameter" || base.kind === "module") {
        // A module is a base of an object that spreads it.
        const search = members(base, by.name, depth + 1);
        if (search.members.length > 0) {
          by.result.members.push(...search.members);
          return true;
        }
      }
    }
    return false;
  }

  function members(type: ValueType | undefined, name: string, depth = 0, called?: boolean): MemberSearch {
    const result: MemberSearch = { members: [], known: type !== undefined };
    if (!type || depth > MAX_INHERITANCE) return result;
    for (const part of partsOf(type)) membersOfPart(part, name, depth, result, called);
    return result;
  }

  function membersOfPart(part: ValueType, name: string, depth: number, result: MemberSearch, called?: boolean): void {
    switch (part.kind) {
      case "instance":
      case "class":
      case "function":
        hunt(part.symbol, part.env, 0, {
          name,
          called,
          isStatic: part.kind !== "instance",
          self: part,
          seen: new Set(),
          result,
        });
        if (result.members.length === 0) result.members.push(...reexported(part.symbol, name));
        return;
      case "module":
        for (const file of part.files) {
          const entity = engine.exported(file, name, "value");
          if (entity?.kind !== "symbol") continue;
          result.members.push({ symbol: entity.symbol, env: undefined, self: undefined, inherited: false });
          return;
        }
        return;
      case "space": {
        const symbol = inSpace(part, name);
        if (symbol !== undefined) result.members.push({ symbol, env: undefined, self: undefined, inherited: false });
        return;
      }
      case "parameter": {
        const search = members(constraintOf(part), name, depth + 1, called);
        for (const member of search.members)
          result.members.push({ ...member, self: member.self && part.id === THIS_ID ? part : member.self });
        return;
      }
      default:
    }
  }

  /** What a module that is written inside a file has from its own imports: `mod a { pub use b::C; }`. */
  function reexported(symbol: number, name: string): Member[] {
    const entity = inModule(symbol, name);
    return entity?.kind === "symbol"
      ? [{ symbol: entity.symbol, env: undefined, self: undefined, inherited: false }]
      : [];
  }

  function inModule(symbol: number, name: string): Entity | undefined {
    if (repo.label(symbol) !== "Namespace") return undefined;
    const file = repo.fileOf(symbol);
    const scope = repo.column(symbol, "inner");
    const key = `${symbol} ${name}`;
    // Modules may name each other in a circle.
    if (isNone(scope) || repo.rules(file).exportLists || asked.has(key)) return undefined;
    asked.add(key);
    const found = engine.inModule(file, scope, name, "type") ?? engine.inModule(file, scope, name, "value");
    asked.delete(key);
    return found;
  }

  /** A name of a name space: of several, one that the naming file includes. */
  function inSpace(part: ValueType & { kind: "space" }, name: string): number | undefined {
    const all = repo.inSpace(part.name, name, 0);
    const { from } = part;
    if (from === undefined || all.length < 2) return all[0];
    const seen = all.filter((symbol) => engine.reaches(from, repo.fileOf(symbol)));
    return seen.find((symbol) => !repo.has(symbol, SymbolFlag.Signature)) ?? seen[0] ?? all[0];
  }

  function constraintOf(part: ValueType & { kind: "parameter" }): ValueType | undefined {
    if (part.id === THIS_ID) return engine.instanceOf(part.file, []);
    return engine.typeAt(part.file, repo.facts(part.file).bindings.constraint(part.binding));
  }

  function memberType(type: ValueType | undefined, name: string, called?: boolean): ValueType | undefined {
    const types: (ValueType | undefined)[] = [];
    for (const part of partsOf(type)) {
      if (part.kind === "external") types.push(holderMember(part, name));
      else if (part.kind === "module") {
        for (const file of part.files) {
          const entity = engine.exported(file, name, "value");
          if (entity) {
            types.push(engine.entityType(entity));
            break;
          }
          if (repo.rules(file).moduleNames?.has(name)) types.push(part);
        }
        if (part.folder !== undefined) types.push(engine.entityType(engine.submodule(part.folder, name)));
      } else if (part.kind === "space") {
        const inner = `${part.name}.${name}`;
        const search = members(part, name);
        const found = search.members.length > 0 ? memberAsType(search.members[0]!) : undefined;
        if (found?.kind === "space" || (!found && repo.spaceExists(inner)))
          types.push({ ...part, key: undefined, name: found?.kind === "space" ? found.name : inner });
        else types.push(found);
      } else {
        const search = members(part, name, 0, called);
        if (search.members.length > 0) for (const member of search.members) types.push(memberAsType(member));
        else if (part.kind === "instance")
          types.push((isSpecial(part, name) ? undefined : throughIndex(part)) ?? assigned(part, name, 0));
        else if (part.kind === "class" || part.kind === "function")
          types.push(engine.entityType(inModule(part.symbol, name)) ?? assigned(part, name, 0));
        else if (part.kind === "builtin" && !SPECIAL.test(name)) types.push(engine.library.memberOf(part));
      }
    }
    return unionOf(types);
  }

  /** A member of a value from outside: that of a cell is what it was made to hold. */
  function holderMember(part: ValueType & { kind: "external" }, name: string): ValueType {
    return part.holds && engine.library.isCellMember(name) ? part.holds : EXTERNAL;
  }

  /** A member of a value that is only assigned, to the value or to one of its bases. */
  function assigned(part: ValueType, name: string, depth: number): ValueType | undefined {
    if (part.kind !== "instance" && part.kind !== "class" && part.kind !== "function") return undefined;
    if (depth > MAX_INHERITANCE || !repo.rules(repo.fileOf(part.symbol)).openValues) return undefined;
    const holder = part.kind === "instance" && part.open ? holderOf(part.symbol) : -1;
    const own =
      (holder >= 0 ? engine.assignedMember(holder, name, false) : undefined) ??
      engine.assignedMember(part.symbol, name, part.kind === "instance");
    if (own) return own;
    for (const base of bases(part.symbol, part.env)) {
      const found = assigned(base, name, depth + 1);
      if (found) return found;
    }
    return undefined;
  }

  /** The constant or variable that an object literal is the value of, or none. */
  function holderOf(literal: number): number {
    const holder = repo.parent(literal);
    if (holder < 0 || (repo.label(holder) !== "Const" && repo.label(holder) !== "Variable")) return -1;
    const type = engine.symbolType(holder);
    return type?.kind === "instance" && type.symbol === literal ? holder : -1;
  }

  /** Whether the language itself calls a member of this name. */
  function isSpecial(part: ValueType & { kind: "instance" }, name: string): boolean {
    return SPECIAL.test(name) || repo.rules(repo.fileOf(part.symbol)).specialMembers?.test(name) === true;
  }

  function throughIndex(part: ValueType & { kind: "instance" }): ValueType | undefined {
    const search = members(part, "[]");
    return search.members[0] ? memberAsType(search.members[0]) : undefined;
  }

  function memberAsType(member: Member): ValueType | undefined {
    const type = substitute(engine.symbolType(member.symbol), withSelf(member.env, member.self));
    if (type?.kind === "function" && type.symbol === member.symbol)
      return { ...type, key: undefined, env: mergeEnv(type.env, member.env), self: member.self };
    return type;
  }

  return { members, memberType, bases };
}
