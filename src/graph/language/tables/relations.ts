/** Calls, uses, inheritance, assignments and type tests, and where they are. */
import type { ExprRow, NameRow, ScopeRow, SymbolRow, TypeRow } from "../../rows.ts";
import { at, tableOf } from "./fact-table.ts";

export const CallTable = tableOf()({ expr: at<ExprRow>(0), symbol: at<SymbolRow>(1), line: at(2), flags: at(3) });

/** A use: a mentioned type, or a function or class that is used as a value. Either `type` or `expr` is set. */
export const UseTable = tableOf()({
  type: at<TypeRow>(0),
  expr: at<ExprRow>(1),
  symbol: at<SymbolRow>(2),
  line: at(3),
});

/**
 * Inheritance. If `symbol` is -1, the type `subject` inherits (Rust's `impl T for S`). `type` or `expr` names the base.
 */
export const HeritageTable = tableOf()({
  symbol: at<SymbolRow>(0),
  subject: at<TypeRow>(1),
  kind: at(2),
  type: at<TypeRow>(3),
  expr: at<ExprRow>(4),
  line: at(5),
});

/** A member that is declared outside its type: Go methods, Rust impls, C++ out-of-line, `X.prototype.m = …`. */
export const AttachTable = tableOf()({ symbol: at<SymbolRow>(0), type: at<TypeRow>(1) });

/**
 * A scope that shares its names with every scope of the same name space: Go package, Java package, C# namespace. A name
 * that begins with `#MACRO` is in the name space that the macro opens. A row with scope -1 and the name `#MACRO=space`
 * says which that is.
 */
export const SpaceTable = tableOf()({ scope: at<ScopeRow>(0), name: at<NameRow>(1) });

/** An assignment of `expr` to `target`, a Name or Member expression in `scope`, apart from its declaration. */
export const AssignTable = tableOf()({ target: at<ExprRow>(0), expr: at<ExprRow>(1), scope: at<ScopeRow>(2) });

/**
 * Narrows a name, or a dotted path as written, within `scope`: it has the type `type`. If `type` is -1, it is an
 * instance of the class expression `expr` (instanceof, isinstance), or has the type that the type guard in the Call row
 * `expr` promises.
 */
export const NarrowTable = tableOf()({
  scope: at<ScopeRow>(0),
  name: at<NameRow>(1),
  type: at<TypeRow>(2),
  expr: at<ExprRow>(3),
});
