/**
 * What a language's own library yields, as far as it carries types of the repository: containers, promises,
 * iteration. Everything else in a library is known, but not of the repository.
 */
import { entriesOf } from "../../core/typed-keys.ts";

/**
 * Names of types that mean the same in every language. A module may say them in its facts (`builtinType`), whatever its
 * language calls them, and they are the only types of a library that resolution knows by name.
 */
export const SHARED_TYPES: ReadonlyMap<string, TypeMeaning | "plain" | "nothing"> = new Map([
  ["Array", "sequence"],
  // What holds one value or none is a sequence of at most one.
  ["Option", "sequence"],
  ["Generator", "sequence"],
  ["AsyncGenerator", "sequence"],
  // Each argument is the type of one element.
  ["Tuple", "sequence"],
  ["Map", "map"],
  ["Promise", "promise"],
  ["string", "plain"],
  ["number", "plain"],
  ["boolean", "plain"],
  // A function of which nothing is known.
  ["Function", "plain"],
  ["null", "nothing"],
  ["undefined", "nothing"],
  ["void", "nothing"],
  ["never", "nothing"],
]);

/** What a name of the library means where a type is written. */
type TypeMeaning =
  /** Holds elements of its first argument. */
  | "sequence"
  /** Holds values of its second argument by keys of its first: iterated, a map gives pairs, a dictionary keys. */
  | "map"
  | "dictionary"
  /** A map whose values are its members, by their names. */
  | "record"
  /** A value of its first argument that comes later. */
  | "promise"
  /** Stands for its first argument, or for any of its arguments. */
  | "first"
  | "union"
  /** What its argument, a function, returns; what its argument, a class, makes; the class of its argument. */
  | "result"
  | "instance"
  | "class";

/** What a method of a sequence, map or promise gives. */
type MethodResult =
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
  /**
   * What the first argument is; or the second, or what the function returns, which is handed on from element to
   * element.
   */
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
type StaticResult =
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
interface WrapperMethods {
  /** Those that give what is inside, and those that give what their closure returns. */
  inside: ReadonlySet<string>;
  closure: ReadonlySet<string>;
  /** Those that hand what is inside to their closure. */
  handsInside: ReadonlySet<string>;
}

/** What a method of a function gives: the function's result, or the function. */
type FunctionMethod = "called" | "receiver";

/**
 * How library types convert into each other where arguments choose between functions of one name. A type that is not
 * named here may convert into any other.
 */
export interface Conversions {
  /** Values without members, such as numbers, characters and truth values. None of them is null. */
  scalars: ReadonlySet<string>;
  /** Scalars that convert into each other: into those of a higher rank, or, where a rank is -1, into any. */
  numbers: ReadonlyMap<string, number>;
  /** Numbers with a fraction. */
  fractions: ReadonlySet<string>;
  /** Classes that wrap one scalar, with its name. */
  boxes: ReadonlyMap<string, string>;
  /** Supertypes of a library type, nearest first. Those of a box also take its scalar. */
  supertypes: ReadonlyMap<string, readonly string[]>;
  /** Supertypes of everything. */
  roots: ReadonlySet<string>;
  /** Types of which no value is an instance of another: two different ones never fit. */
  containers: ReadonlySet<string>;
  /** Types, besides scalars and boxes, that only their own values fit. */
  closed: ReadonlySet<string>;
  /** Types about which too little is known: they may fit anything. */
  opaque?: ReadonlySet<string>;
  /** Names that look like interfaces: a value of any type may implement them. */
  interfaces?: RegExp;
}

export interface LanguageLibrary {
  types: ReadonlyMap<string, TypeMeaning>;
  /** By the receiver's shape and the method's name. */
  methods: Readonly<Record<"sequence" | "map" | "promise", ReadonlyMap<string, MethodResult>>>;
  /** Methods of functions. */
  functions?: ReadonlyMap<string, FunctionMethod>;
  /** Methods of strings that give a list of strings; every other method gives a string. */
  stringLists?: ReadonlySet<string>;
  /** Containers whose constructor takes their elements: `new Set(items)`. */
  copies?: ReadonlySet<string>;
  /** By `Owner.name`. */
  statics: ReadonlyMap<string, StaticResult>;
  wrappers?: WrapperMethods;
  /** Members that give what a value from outside was made to hold, `useRef<T>().current`. */
  holders?: ReadonlySet<string>;
  /** Names of members that the library has itself: too common to tell whose a member of an unknown value is. */
  commonMembers: ReadonlySet<string>;
}

/** Words separated by white space. */
export const wordSet = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** A table from words to their meaning; if a word is given twice, the first meaning counts. */
export function wordTable<T extends string>(meanings: Partial<Record<T, string>>): ReadonlyMap<string, T> {
  const table = new Map<string, T>();
  for (const [meaning, text] of entriesOf<T, string>(meanings))
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
