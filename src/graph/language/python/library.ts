/** The part of Python's library that describes types: the names of `typing`, and the built-in containers. */

/** Modules whose names describe types. */
export const TYPING_MODULES = new Set(["typing", "typing_extensions", "collections.abc", "collections", "types"]);

/** Names that stand for their first argument. */
export const TRANSPARENT = new Set([
  "Optional",
  "Final",
  "ClassVar",
  "Annotated",
  "Required",
  "NotRequired",
  "ReadOnly",
  "Unpack",
  "InitVar",
]);

const SEQUENCES = new Set([
  "list",
  "set",
  "frozenset",
  "deque",
  "List",
  "Sequence",
  "MutableSequence",
  "Iterable",
  "Iterator",
  "Collection",
  "Set",
  "FrozenSet",
  "AbstractSet",
  "MutableSet",
  "Deque",
  "KeysView",
  "ValuesView",
  "Reversible",
  "Container",
]);
const MAPS = new Set([
  "dict",
  "defaultdict",
  "Dict",
  "Mapping",
  "MutableMapping",
  "DefaultDict",
  "OrderedDict",
  "ChainMap",
]);
const PLAIN: Record<string, string> = { str: "string", int: "int", float: "float", bool: "bool", bytes: "bytes" };

/** Built-in types that can be subscripted without an import. */
export const BUILTIN_GENERICS = new Set(["list", "set", "frozenset", "dict", "tuple", "type"]);

/** The built-in type that carries the type arguments of a container, or undefined. */
export function containerOf(name: string): "list" | "dict" | "Generator" | "AsyncGenerator" | "Promise" | undefined {
  if (SEQUENCES.has(name)) return "list";
  if (MAPS.has(name)) return "dict";
  if (name === "Generator") return "Generator";
  if (name === "AsyncGenerator" || name === "AsyncIterator" || name === "AsyncIterable") return "AsyncGenerator";
  return name === "Awaitable" || name === "Coroutine" ? "Promise" : undefined;
}

/** The common name in all languages for a built-in type of plain values, or undefined. */
export function plainValue(name: string): string | undefined {
  return Object.hasOwn(PLAIN, name) ? PLAIN[name] : undefined;
}

/** Built-in functions whose result has the same elements as their argument. */
export const KEEPS_ELEMENTS = new Set(["list", "sorted", "reversed", "set", "tuple", "frozenset", "iter"]);

/** The methods that operators call. */
export const OPERATORS: Record<string, string> = {
  "+": "__add__",
  "-": "__sub__",
  "*": "__mul__",
  "@": "__matmul__",
  "/": "__truediv__",
  "//": "__floordiv__",
  "%": "__mod__",
  "**": "__pow__",
  "<<": "__lshift__",
  ">>": "__rshift__",
  "&": "__and__",
  "|": "__or__",
  "^": "__xor__",
};
