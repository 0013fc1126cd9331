/**
 * The vocabulary of facts, in which language modules describe a file. The tables are in `tables/`.
 *
 * Facts describe one file alone and depend on no other file, so they are cached by the hash of its content. Expressions
 * and types are small trees: each row has an `op` and up to three values `a`, `b` and `c`. A reference to another table
 * is a row number, or NONE (see `rows.ts`); a name is an index into `strings`; a list is an index into `lists`.
 *
 * Raise FACTS_VERSION whenever the meaning of facts changes.
 */
export const FACTS_VERSION = 12;

/** Kinds of expressions: as much of the code's shape as is needed to tell what a call reaches. */
export const Expr = {
  /** a = expression kind text or 0. An expression of unknown type. */
  Unknown: 0,
  /** a = name, b = scope of the lookup, c = 1 for a called name in a language where methods have names of their own. */
  Name: 1,
  /** a = object expression, b = member name, c = 1 for a called member. `obj.name`, `obj->name`, `Type::name`. */
  Member: 2,
  /** a = callee expression, b = list of argument expressions, c = list of type arguments. */
  Call: 3,
  /** a = constructed expression (a name of a class), b = arguments, c = type arguments. `new C(…)`. */
  New: 4,
  /** a = scope. `this`, `self`. */
  This: 5,
  /** a = scope. The parent class: `super.x` is Member(Super), `super(…)` is Call(Super). */
  Super: 6,
  /** a = object, b = literal key or none; a key that is a name is written `[name]`. `obj[key]`. */
  Index: 7,
  /** a = iterated expression. The element that a loop binds to its variable. */
  Iterate: 8,
  /** a = awaited expression. */
  Await: 9,
  /** a = list. The value is one of these: `a ?? b`, `c ? a : b`. */
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
   * a = call expression, b = argument index, c = parameter index. The parameter of a lambda, typed by the call's
   * parameter that the lambda is passed for. With b = -1, a is what is expected of the lambda. With c = -1, it is what
   * the call expects of the argument itself.
   */
  Contextual: 17,
  /** a = import row. A module as a value: `require("x")`, or `import("x")` before it is awaited. */
  Module: 18,
  /** a = left, b = right. An assignment as a value. */
  Assign: 19,
  /** a = array expression, b = first index. The rest element of a destructured array or parameter list. */
  Rest: 20,
} as const;

export const Type = {
  Unknown: 0,
  /** a = name, b = scope, c = list of type arguments. */
  Ref: 1,
  /** a = qualifying type or none, b = name, c = list of type arguments. `A.B`. */
  Qualified: 2,
  /** a = list of the member types. */
  Union: 3,
  /** a = list of the member types. */
  Intersection: 4,
  /** a = element. Arrays, slices, sequences. */
  Array: 5,
  /** a = list of the element types. */
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

/** What a bound name stands for. */
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
  /** One name of a module. `name` is its name in the module ("default" for default imports). */
  Named: 0,
  /** The module itself, as a value: `import * as m`, `import a.b as m`, Go's `import "x/y"`. */
  Module: 1,
  /** All names of the module, which become visible in the scope: `from m import *`, `using N;`, `#include`. */
  Wildcard: 2,
  /** Imported for its side effects. It gives an IMPORTS edge only. */
  Effect: 3,
  /**
   * Python's `import a.b.c`: binds `a`, so that `a.b.c` is reachable as a path of members. `name` is the whole path.
   */
  Path: 4,
} as const;

export const ExportKind = {
  /** `from` = local name in the scope of the file. */
  Local: 0,
  /** `from` = name in another module, which the import row leads to. */
  ReExport: 1,
  /** All names of the import row's module. */
  Star: 2,
  /** The import row's module, exported as one name. */
  Module: 3,
  /** `from` = expression row. `export default expr`, `module.exports = expr`. */
  Value: 4,
} as const;

export const HeritageKind = { Extends: 0, Implements: 1, Mixin: 2 } as const;

export const CallFlag = { New: 1, Decorator: 2, Jsx: 4, Super: 8, Macro: 16 } as const;

export const SymbolFlag = {
  Exported: 1,
  /** Has no node: anonymous functions, object and type literals, overload signatures. */
  Hidden: 2,
  Static: 4,
  Abstract: 8,
  Async: 16,
  Constructor: 32,
  Getter: 64,
  /** A generator. An inferred return type is that of its elements. */
  Generator: 128,
  /**
   * A declaration without a body (a signature or prototype). A definition of the same name in the scope takes its
   * place.
   */
  Signature: 256,
  /** A member of an enum: it belongs to the type itself. */
  EnumMember: 2048,
  /** Visible in its own file only, even if the language has no export lists (C's `static`, PHP's `private`). */
  FileLocal: 4096,
  /** Called from outside by convention: main, test functions, route handlers. */
  Entry: 8192,
  /** A type guard, which returns `x is T`. `type` is T. */
  Guard: 16384,
  /** An extension method (C#): it is called as if the type of its first parameter had it. */
  Extension: 32768,
  /** A member that implements a trait's member. The type's own member of the same name takes precedence (Rust). */
  Implements: 65536,
} as const;

/** The fewest and the most arguments of a packed arity. Infinity means any number. */
export const fewestArguments = (arity: number): number => Math.floor(arity / 1000);
export const mostArguments = (arity: number): number =>
  arity % 1000 === 999 ? Number.POSITIVE_INFINITY : arity % 1000;
