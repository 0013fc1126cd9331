/** What is called, used, inherited, assigned and tested, and where. */
import type { ExprRow, NameRow, ScopeRow, SymbolRow, TypeRow } from "../../rows.ts";
import { at, tableOf } from "./fact-table.ts";

export const CallTable = tableOf()({ expr: at<ExprRow>(0), symbol: at<SymbolRow>(1), line: at(2), flags: at(3) });

/** A type mentioned, or a function or class used as a value. Exactly one of `type` and `expr` is set. */
export const UseTable = tableOf()({
  type: at<TypeRow>(0),
  expr: at<ExprRow>(1),
  symbol: at<SymbolRow>(2),
  line: at(3),
});

/** `symbol` -1: the subject is the type `subject` (Rust's `impl T for S`). `type` or `expr` names the base. */
export const HeritageTable = tableOf()({
  symbol: at<SymbolRow>(0),
  subject: at<TypeRow>(1),
  kind: at(2),
  type: at<TypeRow>(3),
  expr: at<ExprRow>(4),
  line: at(5),
});

/** A member declared outside its type: Go methods, Rust impls, C++ out-of-line, `X.prototype.m = …`. */
export const AttachTable = tableOf()({ symbol: at<SymbolRow>(0), type: at<TypeRow>(1) });

/**
 * A scope whose names are shared with every scope of that space: Go package, Java package, C# namespace. A name that
 * begins with `#MACRO` is in the space that the macro opens; scope -1 with the name `#MACRO=space` says which that is.
 */
export const SpaceTable = tableOf()({ scope: at<ScopeRow>(0), name: at<NameRow>(1) });

/** `target`, a Name or Member expression in `scope`, is also assigned `expr`. */
export const AssignTable = tableOf()({ target: at<ExprRow>(0), expr: at<ExprRow>(1), scope: at<ScopeRow>(2) });

/**
 * Within `scope`, the name (or dotted path, as written) `name` has the type `type`; or, with `type` -1, what the
 * class expression `expr` makes (instanceof, isinstance), or what the type guard called by the Call row `expr` promises.
 */
export const NarrowTable = tableOf()({
  scope: at<ScopeRow>(0),
  name: at<NameRow>(1),
  type: at<TypeRow>(2),
  expr: at<ExprRow>(3),
});
