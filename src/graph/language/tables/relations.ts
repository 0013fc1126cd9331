/** Calls, uses, inheritance, assignments and type tests, and where they are. */
import type { ExprRow, NameRow, ScopeRow, SymbolRow, TypeRow } from "../../rows.ts";
import { defineColumn, tableOf } from "./fact-table.ts";

export const CallTable = tableOf()({
  expr: defineColumn<ExprRow>(0),
  symbol: defineColumn<SymbolRow>(1),
  line: defineColumn(2),
  flags: defineColumn(3),
});

/** A use: a mentioned type, or a function or class that is used as a value. Either `type` or `expr` is set. */
export const UseTable = tableOf()({
  type: defineColumn<TypeRow>(0),
  expr: defineColumn<ExprRow>(1),
  symbol: defineColumn<SymbolRow>(2),
  line: defineColumn(3),
});

/**
 * Inheritance. If `symbol` is -1, the type `subject` inherits (Rust's `impl T for S`). `type` or `expr` names the base.
 */
export const HeritageTable = tableOf()({
  symbol: defineColumn<SymbolRow>(0),
  subject: defineColumn<TypeRow>(1),
  kind: defineColumn(2),
  type: defineColumn<TypeRow>(3),
  expr: defineColumn<ExprRow>(4),
  line: defineColumn(5),
});

/** A member that is declared outside its type: Go methods, Rust impls, C++ out-of-line, `X.prototype.m = …`. */
export const AttachTable = tableOf()({ symbol: defineColumn<SymbolRow>(0), type: defineColumn<TypeRow>(1) });

/**
 * A scope that shares its names with every scope of the same name space: Go package, Java package, C# namespace. A name
 * that begins with `#MACRO` is in the name space that the macro opens. A row with scope -1 and the name `#MACRO=space`
 * says which that is.
 */
export const SpaceTable = tableOf()({ scope: defineColumn<ScopeRow>(0), name: defineColumn<NameRow>(1) });

/** An assignment of `expr` to `target`, a Name or Member expression in `scope`, apart from its declaration. */
export const AssignTable = tableOf()({
  target: defineColumn<ExprRow>(0),
  expr: defineColumn<ExprRow>(1),
  scope: defineColumn<ScopeRow>(2),
});

/**
 * Narrows a name, or a dotted path as written, within `scope`: it has the type `type`. If `type` is -1, it is an
 * instance of the class expression `expr` (instanceof, isinstance), or has the type that the type guard in the Call row
 * `expr` promises.
 */
export const NarrowTable = tableOf()({
  scope: defineColumn<ScopeRow>(0),
  name: defineColumn<NameRow>(1),
  type: defineColumn<TypeRow>(2),
  expr: defineColumn<ExprRow>(3),
});
