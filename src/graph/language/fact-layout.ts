/**
 * The words of facts: what a language module says about one file. Their tables are in `tables/`.
 *
 * Facts are about one file alone; nothing in them depends on another file, so they are cached by content
 * hash. Expressions and types are small trees: a row has an `op` and up to three values, `a`, `b` and `c`. A
 * reference between tables is a row number, or NONE (see `rows.ts`); a name is an index into `strings`; a list is an
 * index into `lists`.
 *
 * Raise FACTS_VERSION with every change of meaning.
 */
export const FACTS_VERSION = 12;

/** Expressions: enough of the code's shape to tell what a call reaches. */
export const Expr = {
  /** a = expression kind text or 0. Anything whose type is not known. */
  Unknown: 0,
  /** a = name, b = scope it is looked up from, c = 1 when it is called in a language whose methods have names of their own. */
  Name: 1,
  /** a = object expression, b = member name, c = 1 when it is called. `obj.name`, `obj->name`, `Type::name`. */
  Member: 2,
  /** a = callee expression, b = list of argument expressions, c = list of type arguments. */
  Call: 3,
  /** a = constructed expression (a name of a class), b = arguments, c = type arguments. `new C(…)`. */
  New: 4,
  /** a = scope. `this`, `self`. */
  This: 5,
  /** a = scope. The parent class: `super.x` is Member(Super), `super(…)` is Call(Super). */
  Super: 6,
  /** a = object, b = literal key name, `[name]` for a key that is a name, or none. `obj[key]`. */
  Index: 7,
  /** a = iterated expression. The element that a loop binds. */
  Iterate: 8,
  /** a = awaited expression. */
  Await: 9,
  /** a = list. Any of these: `a ?? b`, `c ? a : b`. */
  Either: 10,
  /** a = name of a built-in type ("string", "number", …). */
  Literal: 11,
  /** a = list of elements. */
  Array: 12,
  /** a = hidden symbol whose children are the members: an object literal. */
  Object: 13,
  /** a = symbol: a function, arrow or lambda as a value. */
  Function: 14,
  /** a = symbol: a class expression as a value. */
  Class: 15,
  /** a = type, b = expression or none. A cast, or any expression whose type is written down. */
  Typed: 16,
  /**
   * a = call expression, b = argument index, c = parameter index: a lambda's parameter, typed by the parameter that
   * the lambda is passed for. With b -1, a is what the lambda stands for; with c -1, it is what the call expects of
   * the argument.
   */
  Contextual: 17,
  /** a = import row. A module as a value: `require("x")`, `import("x")` before it is awaited. */
  Module: 18,
  /** a = left, b = right. An assignment as a value. */
  Assign: 19,
  /** a = array expression, b = first index. The rest of a destructured array or of parameters. */
  Rest: 20,
} as const;

export const Type = {
  Unknown: 0,
  /** a = name, b = scope, c = list of type arguments. */
  Ref: 1,
  /** a = qualifying type or none, b = name, c = list of type arguments. `A.B`. */
  Qualified: 2,
  /** a = list. */
  Union: 3,
  /** a = list. */
  Intersection: 4,
  /** a = element. Arrays, slices, sequences. */
  Array: 5,
  /** a = list. */
  Tuple: 6,
  /** a = hidden symbol with parameters and a return type. */
  Function: 7,
  /** a = hidden symbol whose children are the members: a type literal. */
  Object: 8,
  /** a = expression. `typeof x`, `decltype(x)`. */
  TypeOf: 9,
  /** a = scope. The type of the receiver: `this`, `Self`. */
  This: 10,
  /** a = built-in type name, b = list of type arguments or none. */
  Literal: 11,
  /** a = type, b = member name or none. `T["x"]`. */
  Indexed: 12,
  /** a = type. `keyof T`. */
  KeyOf: 13,
  /** a = checked type, b = pattern that it is matched with, c = list of both results. `T extends F<infer U> ? U : X`. */
  Conditional: 14,
} as const;

export const ScopeKind = { File: 0, Function: 1, Block: 2, Class: 3, Namespace: 4 } as const;

/** What a name bound in a scope stands for. */
export const BindingKind = {
  /** a = symbol. */
  Symbol: 0,
  /** a = import row. */
  Import: 1,
  /** a = type or none, b = initial expression or none. A local variable. */
  Local: 2,
  /** a = type or none, b = initial expression (default, or Contextual) or none. A parameter. */
  Parameter: 3,
  /** a = constraint type or none, b = default type or none. A type parameter. */
  TypeParameter: 4,
} as const;

export const ImportKind = {
  /** One name of a module. `name` is what the module calls it ("default" for default imports). */
  Named: 0,
  /** The module itself, as a value: `import * as m`, `import a.b as m`, Go's `import "x/y"`. */
  Module: 1,
  /** All names of the module become visible in the scope: `from m import *`, `using N;`, `#include`. */
  Wildcard: 2,
  /** For its effect only; an IMPORTS edge and nothing else. */
  Effect: 3,
  /** `import a.b.c` in Python: binds `a`, makes `a.b.c` reachable as member path. `name` is the whole path. */
  Path: 4,
} as const;

export const ExportKind = {
  /** `from` = local name, in the file's scope. */
  Local: 0,
  /** `from` = name in another module, through an import row. */
  ReExport: 1,
  /** All names of an import row's module. */
  Star: 2,
  /** An import row's module as one name. */
  Module: 3,
  /** `from` = expression row. `export default expr`, `module.exports = expr`. */
  Value: 4,
} as const;

export const HeritageKind = { Extends: 0, Implements: 1, Mixin: 2 } as const;

export const CallFlag = { New: 1, Decorator: 2, Jsx: 4, Super: 8, Macro: 16 } as const;

export const SymbolFlag = {
  Exported: 1,
  /** Not a node of its own: anonymous functions, object and type literals, overload signatures. */
  Hidden: 2,
  Static: 4,
  Abstract: 8,
  Async: 16,
  Constructor: 32,
  Getter: 64,
  /** A function whose result is iterated: its return type is of the elements, when not declared. */
  Generator: 128,
  /** A declaration without a body (a signature, a prototype); a definition of that name in the scope takes its place. */
  Signature: 256,
  /** Of the type, not of the instance nor static: an enum's member. */
  EnumMember: 2048,
  /** Visible in its own file only, even where the language has no export lists (C `static`, PHP private). */
  FileLocal: 4096,
  /** An entry from outside by convention: main, a test function, a route handler. */
  Entry: 8192,
  /** The function's own type guards: returns `x is T`; `type` is T. */
  Guard: 16384,
  /** A method that is called as if its first parameter's type had it (C#). */
  Extension: 32768,
  /** A member that implements a trait's: the type's own member of that name is meant first (Rust). */
  Implements: 65536,
} as const;

/** The fewest and the most arguments of an arity; any number is Infinity. */
export const fewestArguments = (arity: number): number => Math.floor(arity / 1000);
export const mostArguments = (arity: number): number =>
  arity % 1000 === 999 ? Number.POSITIVE_INFINITY : arity % 1000;
