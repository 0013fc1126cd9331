/**
 * What the languages' own libraries yield, as far as it carries types of the repository through: containers, promises,
 * iteration. A family a language group. Everything else of a library is "known, but not ours".
 */
import type { LanguageRules } from "../parse/language.ts";
import type { Engine } from "./engine.ts";
import { builtin, partsOf, unionOf, type ValueType } from "./value-type.ts";

type Args = readonly (ValueType | undefined)[];

/** Types that are their first argument, for our purposes. */
const TRANSPARENT: Record<LanguageRules["builtinFamily"], ReadonlySet<string>> = {
  ecmascript: new Set([
    "Partial",
    "Required",
    "Readonly",
    "NonNullable",
    "Pick",
    "Omit",
    "Awaited",
    "Extract",
    "Exclude",
    "NoInfer",
    "WeakRef",
  ]),
  python: new Set(["Optional", "Final", "ClassVar", "Annotated", "Union", "Required", "NotRequired"]),
  rust: new Set(),
  none: new Set(),
};
const ARRAYS = new Set([
  "Array",
  "ReadonlyArray",
  "List",
  "list",
  "Sequence",
  "Iterable",
  "IterableIterator",
  "Iterator",
  "Generator",
  "AsyncIterable",
  "AsyncGenerator",
  "AsyncIterableIterator",
  "ArrayLike",
  "Set",
  "ReadonlySet",
  "set",
  "frozenset",
  "deque",
  "tuple",
  "Tuple",
  "Collection",
  "Deque",
  "FrozenSet",
  // What holds one value or none is a sequence of at most one.
  "Option",
]);
const MAPS = new Set([
  "Map",
  "ReadonlyMap",
  "WeakMap",
  "Record",
  "dict",
  "Dict",
  "Mapping",
  "MutableMapping",
  "defaultdict",
  "OrderedDict",
]);
const MAP_VALUES = new Set(
  "get pop setdefault remove getOrDefault computeIfAbsent computeIfPresent put putIfAbsent merge get_mut entry GetValueOrDefault GetOrAdd AddOrUpdate insert".split(
    " ",
  ),
);
const PROMISES = new Set(["Promise", "PromiseLike", "Awaitable", "Coroutine", "Future", "Task"]);

/** The type a name of the library stands for; never undefined: an unknown name is at least not ours. */
export function namedBuiltin(
  family: LanguageRules["builtinFamily"],
  name: string,
  args: Args,
  engine: Engine,
): ValueType | undefined {
  if (family === "python" && name === "Union") return unionOf(args);
  if (TRANSPARENT[family].has(name)) return args[0];
  if (family === "ecmascript") {
    if (name === "ReturnType") return engine.awaited === undefined ? undefined : engine.callResult(args[0], undefined);
    if (name === "InstanceType") {
      return unionOf(
        partsOf(args[0]).map((part) => (part.kind === "class" ? engine.instanceOf(part.symbol, []) : undefined)),
      );
    }
  }
  if (family === "python" && (name === "Type" || name === "type")) {
    return unionOf(
      partsOf(args[0]).map((part) =>
        part.kind === "instance" ? { kind: "class", symbol: part.symbol, env: part.env } : part,
      ),
    );
  }
  if (ARRAYS.has(name) && name !== "Array") return { kind: "builtin", name: name === "Tuple" ? "Tuple" : name, args };
  return { kind: "builtin", name, args };
}

/** Whether what a built-in gives may be of the repository, though its type does not say so. */
export function holdsOthers(type: ValueType & { kind: "builtin" }): boolean {
  return type.args.length > 0 || ARRAYS.has(type.name) || MAPS.has(type.name) || PROMISES.has(type.name);
}

/** The element a built-in yields when iterated or indexed by number or key. */
export function builtinElement(type: ValueType): ValueType | undefined {
  if (type.kind !== "builtin") return undefined;
  if (type.name === "Tuple" || type.name === "tuple") return unionOf(type.args);
  if (ARRAYS.has(type.name)) return type.args[0];
  if (type.name === "Map" || type.name === "ReadonlyMap") return builtin("Tuple", type.args[0], type.args[1]);
  if (MAPS.has(type.name)) return type.args[1];
  if (type.name === "string") return type;
  return undefined;
}

/** The value behind a key: like the element, but of maps the value. */
export function builtinIndexed(type: ValueType, key: string | undefined): ValueType | undefined {
  if (type.kind !== "builtin") return undefined;
  if (type.name === "Tuple" && key !== undefined) return type.args[Number(key)] ?? undefined;
  if (MAPS.has(type.name)) return type.args[1];
  return builtinElement(type);
}

export function builtinAwaited(type: ValueType): ValueType | undefined {
  if (type.kind === "builtin" && PROMISES.has(type.name)) return type.args[type.name === "Coroutine" ? 2 : 0];
  return type;
}

const SAME = new Set([
  "filter",
  "slice",
  "concat",
  "reverse",
  "sort",
  "splice",
  "fill",
  "toSorted",
  "toReversed",
  "toSpliced",
  "copyWithin",
  "values",
  "union",
  "intersection",
  "difference",
  "copy",
  // Rust
  ..."iter iter_mut into_iter drain rev skip take chain cloned copied by_ref peekable skip_while take_while step_by collect to_vec as_slice as_mut_slice unwrap expect as_ref as_mut clone inspect into_boxed_slice".split(
    " ",
  ),
  // Java
  ..."iterator listIterator stream parallelStream sorted distinct limit peek collect toList subList descendingIterator".split(
    " ",
  ),
  // C#
  ..."Where OrderBy OrderByDescending ThenBy ThenByDescending Skip Take SkipWhile TakeWhile ToList ToArray ToHashSet ToImmutableArray ToImmutableList AsEnumerable AsQueryable Reverse Distinct DistinctBy Concat Union Except Intersect Append Prepend AsSpan AsReadOnly Cast".split(
    " ",
  ),
]);
const ELEMENT = new Set(
  [
    "find findLast pop shift at popleft",
    // Rust
    "next last first get nth peek last_mut first_mut get_mut max_by_key min_by_key max_by min_by max min remove swap_remove pop_front pop_back front back front_mut back_mut next_back get_or_insert_with",
    // Java
    "getFirst getLast removeFirst removeLast poll pollFirst pollLast peekFirst peekLast element findFirst findAny take orElse orElseThrow orElseGet elementAt firstElement lastElement join call getNow",
    // C#
    "First FirstOrDefault Single SingleOrDefault Last LastOrDefault ElementAt ElementAtOrDefault Dequeue Peek Pop MinBy MaxBy",
  ].flatMap((names) => names.split(" ")),
);

/** The result of calling a method of a built-in. `callback` is what a function argument returns. */
export function builtinCall(
  receiver: ValueType,
  method: string,
  callback: () => ValueType | undefined,
  argument: (index: number) => ValueType | undefined,
): ValueType | undefined {
  if (receiver.kind !== "builtin") return undefined;
  const element = builtinElement(receiver);
  if (PROMISES.has(receiver.name)) {
    if (method === "then") return builtin("Promise", flatPromise(callback()));
    if (method === "catch" || method === "finally") return receiver;
  }
  if (MAPS.has(receiver.name)) {
    if (MAP_VALUES.has(method)) return receiver.args[1];
    if (/^(values|values_mut|into_values|Values)$/.test(method)) return builtin("Array", receiver.args[1]);
    if (/^(keys|keySet|Keys|into_keys)$/.test(method)) return builtin("Array", receiver.args[0]);
    if (/^(entries|items|entrySet|iter|iter_mut|into_iter|drain)$/.test(method))
      return builtin("Array", builtin("Tuple", receiver.args[0], receiver.args[1]));
    if (method === "set" || method === "copy") return receiver;
  }
  if (ARRAYS.has(receiver.name)) {
    if (SAME.has(method)) return builtin("Array", element);
    if (ELEMENT.has(method)) return element;
    if (method === "map" || method === "Select" || method === "mapToObj" || method === "filter_map")
      return builtin("Array", callback());
    if (method === "flatMap" || method === "SelectMany" || method === "flat_map") {
      const result = callback();
      return builtin("Array", unionOf(partsOf(result).map((part) => builtinElement(part) ?? part)));
    }
    if (method === "flat") return builtin("Array", element ? (builtinElement(element) ?? element) : undefined);
    if (method === "entries" || method === "enumerate")
      return builtin("Array", builtin("Tuple", builtin("number"), element));
    if (method === "zip")
      return builtin("Array", builtin("Tuple", element, argument(0) && builtinElement(argument(0)!)));
    if (method === "fold" || method === "Aggregate") return argument(0);
    if (method === "reduce" || method === "reduceRight") return unionOf([argument(1), callback()]) ?? element;
    if (method === "join") return builtin("string");
    if (method === "add") return receiver;
    if (method === "next") return element;
  }
  if (receiver.name === "string" && (method === "split" || method === "match"))
    return builtin("Array", builtin("string"));
  if (receiver.name === "string") return builtin("string");
  return undefined;
}

function flatPromise(type: ValueType | undefined): ValueType | undefined {
  return type ? builtinAwaited(type) : undefined;
}

/** The type of parameter `parameter` of a function passed as argument to a built-in's method. */
export function builtinCallback(receiver: ValueType, method: string, parameter: number): ValueType | undefined {
  if (receiver.kind !== "builtin") return undefined;
  if (PROMISES.has(receiver.name)) return method === "then" && parameter === 0 ? receiver.args[0] : undefined;
  if (MAPS.has(receiver.name)) return method === "forEach" ? receiver.args[parameter === 0 ? 1 : 0] : undefined;
  const element = builtinElement(receiver);
  if (method === "reduce" || method === "reduceRight") return parameter === 1 ? element : undefined;
  if (method === "sort" || method === "toSorted") return element;
  return parameter === 0 ? element : parameter === 2 ? receiver : undefined;
}

/** What a static function of the library returns: `Promise.all(xs)`, `Object.values(o)`, `Array.from(xs)`. */
export function builtinStatic(
  owner: string,
  method: string,
  argument: (index: number) => ValueType | undefined,
  engine: Engine,
  callback: () => ValueType | undefined,
): ValueType | undefined {
  const first = () => argument(0);
  switch (`${owner}.${method}`) {
    case "Promise.resolve":
      return builtin("Promise", engine.awaited(first()));
    case "Promise.all": {
      const list = first();
      if (list?.kind === "builtin" && list.name === "Tuple")
        return builtin("Promise", builtin("Tuple", ...list.args.map((arg) => engine.awaited(arg))));
      return builtin("Promise", builtin("Array", engine.awaited(engine.elementType(list))));
    }
    case "Promise.race":
    case "Promise.any":
      return builtin("Promise", engine.awaited(engine.elementType(first())));
    case "Object.values": {
      return builtin("Array", engine.elementType(first()));
    }
    case "Object.entries":
      return builtin("Array", builtin("Tuple", builtin("string"), engine.elementType(first())));
    case "Object.assign":
      return unionOf([first(), argument(1)]);
    case "Object.freeze":
    case "Object.seal":
      return first();
    case "Object.create":
      return first();
    case "Array.from":
      return builtin("Array", callback() ?? engine.elementType(first()));
    case "Array.of":
      return builtin("Array", first());
    default:
      return undefined;
  }
}
