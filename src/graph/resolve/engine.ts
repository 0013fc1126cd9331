/**
 * The evaluator of a repository. Its parts ask each other. Everything is found when first asked for, and kept as long
 * as the engine. README.md lists the parts and what each of them keeps.
 */
import type { ProjectFiles } from "../language/language.ts";
import type { BindingRow, ExprRow } from "../rows.ts";
import { Calls } from "./calls/calls.ts";
import { Overloads } from "./calls/overloads.ts";
import { Signatures } from "./calls/signatures.ts";
import { Exports } from "./names/exports.ts";
import { type ImportResolvers, ImportTargets } from "./names/import-targets.ts";
import { Includes } from "./names/includes.ts";
import { Names } from "./names/names.ts";
import type { Repository } from "./repository.ts";
import { Assignments } from "./types/assignments.ts";
import { Bases } from "./types/bases.ts";
import { Expressions } from "./types/expressions.ts";
import { Library } from "./types/library.ts";
import { Members } from "./types/members.ts";
import { Finding } from "./types/type-memo.ts";
import { Types } from "./types/types.ts";
import { Unifier } from "./types/unify.ts";
import type { TypeEnv, ValueType } from "./types/value-type.ts";

/**
 * Which meaning of a name is asked for, as a language may use one name for a value and a type. "call" asks for a called
 * value, for languages in which methods have names of their own.
 */
export type NameSpaceOf = "value" | "type" | "call";

/** The meaning of a name. */
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
  /** True if the receiver is known well enough that a missing member comes from outside. */
  known: boolean;
}

export interface CallSite {
  file: number;
  /** Row of the Call or New expression. */
  expr: ExprRow;
}

export class Engine {
  /** The types that are being found at the moment. */
  readonly finding = new Finding();
  /** Resolves imports to files. */
  readonly imports: ImportTargets;
  /** Resolves names. */
  readonly names: Names;
  /** Resolves the exports of files. */
  readonly exports: Exports;
  /** Names that included files declare. */
  readonly includes: Includes;
  /** Knowledge of the libraries of the repository's languages. */
  readonly library: Library;
  /** Types as written in the source, and types of symbols and bindings. */
  readonly types: Types;
  /** Types of expressions. */
  readonly expressions: Expressions;
  /** Assignments other than declarations. */
  readonly assignments: Assignments;
  /** Base types. */
  readonly bases: Bases;
  /** Members of types. */
  readonly members: Members;
  /** Infers type parameters from the types that are given for them. */
  readonly unifier: Unifier;
  /** Arguments, parameters and signatures. */
  readonly signatures: Signatures;
  /** Results of calls. */
  readonly calls: Calls;
  /** Chooses between functions of one name, for languages that do so by arguments. */
  readonly overloads: Overloads;

  /** @param resolvers import resolvers of this project; missing ones are added */
  constructor(
    readonly repo: Repository,
    readonly project: ProjectFiles,
    resolvers: ImportResolvers,
  ) {
    // The order does not matter: parts ask each other only when they are asked, and by then all of them exist.
    this.imports = new ImportTargets(this, resolvers);
    this.names = new Names(this);
    this.exports = new Exports(this);
    this.includes = new Includes(this);
    this.library = new Library(this);
    this.types = new Types(this);
    this.expressions = new Expressions(this);
    this.assignments = new Assignments(this);
    this.bases = new Bases(this);
    this.members = new Members(this);
    this.unifier = new Unifier(this);
    this.signatures = new Signatures(this);
    this.calls = new Calls(this);
    this.overloads = new Overloads(this);
  }
}
