/**
 * What a language's own library yields, as far as it carries types of the repository through: containers, promises,
 * iteration. Everything else of a library is "known, but not ours".
 *
 * Besides the names given here, every language module may say `Array`, `Map`, `Promise`, `Option`, `Tuple` and `string`
 * in its facts (`builtinType`), whatever the language calls them.
 */

/** What a name of the library means where a type is written. */
export type TypeMeaning =
  /** Holds elements of its first argument, keys and values of its two, a value that comes later. */
  | "sequence"
  | "map"
  | "promise"
  /** Stands for its first argument, or for any of its arguments. */
  | "first"
  | "union"
  /** What its argument, a function, returns; what its argument, a class, makes; the class of its argument. */
  | "result"
  | "instance"
  | "class";

/** What a method of a sequence, map or promise gives. */
export type MethodResult =
  /** A sequence of the same elements; `sorted` compares them by a function. */
  | "same"
  | "sorted"
  | "element"
  /** A sequence of what the given function returns; `flatMapped` of that one's elements. */
  | "mapped"
  | "flatMapped"
  /** A sequence of the elements' elements. */
  | "flat"
  /** A sequence of pairs: position and element, element and the argument's element. */
  | "numbered"
  | "zipped"
  /** What the first argument is; the second, or what the function returns, that is handed on from element to element. */
  | "seed"
  | "reduced"
  | "receiver"
  | "string"
  /** Of a map: a value, all values, keys, pairs; nothing, after handing each value to a function. */
  | "value"
  | "values"
  | "keys"
  | "entries"
  | "visited"
  /** Of a promise: a promise of what the function returns. */
  | "chained";

/** What a function of the library's own objects gives, `Object.values(x)`. */
export type StaticResult =
  | "promise"
  | "promiseOfAll"
  | "promiseOfElement"
  | "elements"
  | "entries"
  | "either"
  | "first"
  | "sequenceFrom"
  | "sequenceOf";

/** Methods of wrappers that are seen through (`Option<T>` is `T`), which the type inside does not have itself. */
export interface WrapperMethods {
  /** Those that give what is inside, and those that give what their closure returns. */
  inside: ReadonlySet<string>;
  closure: ReadonlySet<string>;
  /** Those that hand what is inside to their closure. */
  handsInside: ReadonlySet<string>;
}

export interface LanguageLibrary {
  types: ReadonlyMap<string, TypeMeaning>;
  /** By the receiver's shape and the method's name. */
  methods: Readonly<Record<"sequence" | "map" | "promise", ReadonlyMap<string, MethodResult>>>;
  /** By `Owner.name`. */
  statics: ReadonlyMap<string, StaticResult>;
  wrappers?: WrapperMethods;
  /** Names of members that the library has itself: too common to tell whose a member of an unknown value is. */
  commonMembers: ReadonlySet<string>;
}

/** Words between blanks. */
export const wordSet = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** A table from words between blanks to what they mean; of a word given twice the first meaning counts. */
export function wordTable<T extends string>(meanings: Partial<Record<T, string>>): ReadonlyMap<string, T> {
  const table = new Map<string, T>();
  for (const [meaning, text] of Object.entries(meanings) as [T, string][])
    for (const word of wordSet(text)) if (!table.has(word)) table.set(word, meaning);
  return table;
}

/** A library of which only common names are known. */
export function plainLibrary(commonMembers: string): LanguageLibrary {
  const none = new Map<string, never>();
  return {
    types: none,
    methods: { sequence: none, map: none, promise: none },
    statics: none,
    commonMembers: wordSet(commonMembers),
  };
}
