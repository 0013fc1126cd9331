/**
 * The evaluator of a repository: its parts, which ask each other. Everything is found when it is first asked for, and
 * remembered for the life of the engine; README.md lists the parts and what each remembers.
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

export class Engine {
  /** Types that are being found. */
  readonly finding = new Finding();
  /** Where imports lead. */
  readonly imports: ImportTargets;
  /** What names stand for. */
  readonly names: Names;
  /** What files give each other. */
  readonly exports: Exports;
  /** What included files declare. */
  readonly includes: Includes;
  /** The libraries of the repository's languages. */
  readonly library: Library;
  /** Types as they are written; types of symbols and bindings. */
  readonly types: Types;
  /** Types of expressions. */
  readonly expressions: Expressions;
  /** What is assigned apart from declarations. */
  readonly assignments: Assignments;
  /** Bases of types. */
  readonly bases: Bases;
  /** Members of types. */
  readonly members: Members;
  /** Type parameters, from what is given for them. */
  readonly unifier: Unifier;
  /** Arguments, parameters and signatures. */
  readonly signatures: Signatures;
  /** What calls yield. */
  readonly calls: Calls;
  /** Which of several functions of a name a call means. */
  readonly overloads: Overloads;

  /** @param resolvers of the same project; those that are missing are added */
  constructor(
    readonly repo: Repository,
    readonly project: ProjectFiles,
    resolvers: ImportResolvers,
  ) {
    // A part asks another only once it is asked itself, when all of them are there.
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
