/** What the parts of type evaluation offer each other. `resolver.ts` joins them. */

import type { ImportTarget, ProjectFiles } from "../language/language.ts";
import type { BindingRow, ExprRow, ImportRow, NameRow, ScopeRow, TypeRow } from "../rows.ts";
import type { Repository } from "./repository.ts";
import type { Library } from "./types/library.ts";
import type { TypeEnv, ValueType } from "./types/value-type.ts";

/**
 * Whether a name stands for a value or for a type: a language may use one name for both. "call" is a value that is
 * called, where methods have names of their own.
 */
export type NameSpaceOf = "value" | "type" | "call";

/** What a name stands for. */
export type Entity =
  | { kind: "symbol"; symbol: number /** How it was reached. */; via: "scope" | "import" | "member" }
  /** A local variable, parameter or type parameter. */
  | { kind: "binding"; file: number; binding: BindingRow }
  | { kind: "type"; type: ValueType }
  | { kind: "external" };

/** A member found in a type. */
export interface Member {
  symbol: number;
  env: TypeEnv | undefined;
  self: ValueType | undefined;
  inherited: boolean;
}

export interface MemberSearch {
  members: Member[];
  /** True when the receiver is known well enough that a missing member means "from outside". */
  known: boolean;
}

export interface CallSite {
  file: number;
  /** Row of the Call or New expression. */
  expr: ExprRow;
}

export interface Engine {
  /** The libraries of the repository's languages. */
  library: Library;
  repo: Repository;
  project: ProjectFiles;
  importTarget(file: number, importRow: ImportRow): ImportTarget;
  lookup(file: number, scope: ScopeRow, name: NameRow, space: NameSpaceOf): Entity | undefined;
  /** A name by its text, from a scope outwards: what a module that is written inside a file has. */
  inModule(file: number, scope: ScopeRow, name: string, space: NameSpaceOf): Entity | undefined;
  /** A name as another file sees it. */
  exported(file: number, name: string, space: NameSpaceOf): Entity | undefined;
  /** The same, of what the file's own list of exports says, without the members of what it exports as a whole. */
  exportedRow(file: number, name: string, space: NameSpaceOf): Entity | undefined;
  /** A module by its place in a package folder. */
  submodule(folder: string, name: string): Entity | undefined;
  followImport(file: number, importRow: ImportRow, space: NameSpaceOf): Entity | undefined;
  /** Type of a type row, type parameters standing for themselves. */
  typeAt(file: number, row: TypeRow): ValueType | undefined;
  /** Type of an expression row, likewise. */
  exprType(file: number, row: ExprRow): ValueType | undefined;
  entityType(entity: Entity | undefined): ValueType | undefined;
  symbolType(symbol: number): ValueType | undefined;
  bindingType(file: number, binding: BindingRow): ValueType | undefined;
  /** Instance of a class-like symbol whose type parameters are given, in order. */
  instanceOf(symbol: number, args: readonly (ValueType | undefined)[]): ValueType;
  /** `called`: a method rather than a field of that name. */
  members(type: ValueType | undefined, name: string, depth?: number, called?: boolean): MemberSearch;
  memberType(type: ValueType | undefined, name: string, called?: boolean): ValueType | undefined;
  /** The symbol among its overloads that fits a call; none when several do. The symbol itself where it has none. */
  overloadFor(symbol: number, site: CallSite | undefined): number;
  /** What the files that a file includes declare under a name. */
  included(file: number, name: string, space: NameSpaceOf): Entity | undefined;
  /** Whether a file includes another, directly or not; itself counts. */
  reaches(file: number, other: number): boolean;
  /** The definition that a declaration without a body stands for, or none. */
  definitionOf(symbol: number): number;
  /**
   * The bases of a class-like symbol, seen from an instance with that environment, in the order in which members are
   * looked for: what is mixed in, what is extended, what is implemented. `parents`: only what `super` may mean.
   */
  bases(symbol: number, env: TypeEnv | undefined, parents?: boolean): ValueType[];
  /** What calling a value yields; `site` gives the arguments. */
  callResult(type: ValueType | undefined, site: CallSite | undefined): ValueType | undefined;
  /** The type of a Call row. */
  callType(file: number, row: ExprRow): ValueType | undefined;
  /** The instance a class makes, its type parameters inferred from the arguments. */
  constructResult(symbol: number, site: CallSite): ValueType;
  returnType(symbol: number): ValueType | undefined;
  /** The type of the elements a value yields when iterated or indexed. */
  elementType(type: ValueType | undefined): ValueType | undefined;
  awaited(type: ValueType | undefined): ValueType | undefined;
  /** What is assigned to a property or variable beside its declaration. */
  assignedType(symbol: number): ValueType | undefined;
  assignedToBinding(file: number, binding: BindingRow): ValueType | undefined;
  /** What is assigned to a member that nothing declares: of a symbol itself (`F.x = e`), or of its instances. */
  assignedMember(symbol: number, name: string, instance: boolean): ValueType | undefined;
  /** The type of a lambda's parameter from the call it is passed to. */
  contextual(file: number, source: ExprRow, argument: number, parameter: number): ValueType | undefined;
}
