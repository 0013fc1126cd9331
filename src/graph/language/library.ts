/**
 * Describes a language's own library as far as it carries types of the repository: containers, promises, iteration.
 * Other types of the library are only known not to be of the repository.
 */
import { entriesOf } from "../../core/typed-keys.ts";

/**
 * Names of types that mean the same in every language. A module may use them in its facts (`builtinType`), whatever its
 * language calls these types. Resolution knows no other library types by name.
 */
export const SHARED_TYPES: ReadonlyMap<string, TypeMeaning | "plain" | "nothing"> = new Map([
  ["Array", "sequence"],
  // Holds one value or none, so it counts as a sequence of at most one.
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

/** The meaning of a library name as a type. */
type TypeMeaning =
  /** Holds elements of the type of its first argument. */
  | "sequence"
  /** Holds values (second argument) by keys (first argument). Iterating a map yields pairs, a dictionary its keys. */
  | "map"
  | "dictionary"
  /** A map whose values are members, named by the keys. */
  | "record"
  /** A later value of the type of its first argument. */
  | "promise"
  /** Stands for its first argument (`first`), or for any of its arguments (`union`). */
  | "first"
  | "union"
  /**
   * The return type of its argument, a function (`result`); the instance of its argument, a class (`instance`); the
   * class of its argument (`class`).
   */
  | "result"
  | "instance"
  | "class";

/** The result of a method of a sequence, map or promise. */
type MethodResult =
  /** A sequence of the same elements. `sorted` passes elements to a function that compares them. */
  | "same"
  | "sorted"
  | "element"
  /** A sequence of the given function's results (`mapped`), or of the elements of these results (`flatMapped`). */
  | "mapped"
  | "flatMapped"
  /** A sequence of the elements' own elements. */
  | "flat"
  /** A sequence of pairs: position and element (`numbered`), or element and element of the argument (`zipped`). */
  | "numbered"
  | "zipped"
  /**
   * `seed`: the type of the first argument. `reduced`: that of the second argument or of the function's result, which
   * is passed on from element to element.
   */
  | "seed"
  | "reduced"
  | "receiver"
  | "string"
  /**
   * Methods of a map that return a value, all values, all keys, or all pairs. `visited` passes each value to a
   * function.
   */
  | "value"
  | "values"
  | "keys"
  | "entries"
  | "visited"
  /** A method of a promise that returns a promise of the function's result. */
  | "chained";

/** The result of a static function of the library, such as `Object.values(x)`. */
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

/** Methods of transparent wrappers (`Option<T>` counts as `T`) that the inner type does not have itself. */
interface WrapperMethods {
  /** Methods that return the inner value, and methods that return the result of their closure. */
  inside: ReadonlySet<string>;
  closure: ReadonlySet<string>;
  /** Methods that pass the inner value to their closure. */
  handsInside: ReadonlySet<string>;
}

/** The result of a method of a function: the function's result (`called`) or the function itself (`receiver`). */
type FunctionMethod = "called" | "receiver";

/**
 * How library types convert into each other, for choosing between functions of one name by arguments. A type that is
 * not named here may convert into any other.
 */
export interface Conversions {
  /** Values without members, such as numbers, characters and booleans. None of them can be null. */
  scalars: ReadonlySet<string>;
  /** Scalars that convert into each other: into scalars of a higher rank or, if either rank is -1, into any. */
  numbers: ReadonlyMap<string, number>;
  /** Numbers with a fraction. */
  fractions: ReadonlySet<string>;
  /** Classes that wrap one scalar, with the scalar's name. */
  boxes: ReadonlyMap<string, string>;
  /** Supertypes of a library type, nearest first. The supertypes of a box also accept its scalar. */
  supertypes: ReadonlyMap<string, readonly string[]>;
  /** Types that are supertypes of every type. */
  roots: ReadonlySet<string>;
  /** Types without common values: values of one never fit another. */
  containers: ReadonlySet<string>;
  /** Types besides scalars and boxes that accept only their own values. */
  closed: ReadonlySet<string>;
  /** Types of which too little is known. They may fit anything. */
  opaque?: ReadonlySet<string>;
  /** Names that look like interfaces. A value of any type may implement them. */
  interfaces?: RegExp;
}

export interface LanguageLibrary {
  types: ReadonlyMap<string, TypeMeaning>;
  /** Methods by the receiver's shape and the method's name. */
  methods: Readonly<Record<"sequence" | "map" | "promise", ReadonlyMap<string, MethodResult>>>;
  /** Methods of functions. */
  functions?: ReadonlyMap<string, FunctionMethod>;
  /** Methods of strings that return a list of strings. Every other method of strings counts as returning a string. */
  stringLists?: ReadonlySet<string>;
  /** Containers whose constructor takes the elements: `new Set(items)`. */
  copies?: ReadonlySet<string>;
  /** Static functions by `Owner.name`. */
  statics: ReadonlyMap<string, StaticResult>;
  wrappers?: WrapperMethods;
  /** Members that return the value which a holder from outside was made to hold: `useRef<T>().current`. */
  holders?: ReadonlySet<string>;
  /** Names of the library's own members. They are too common to tell which type an unknown value has. */
  commonMembers: ReadonlySet<string>;
}

/** Words separated by white space. */
export const wordSet = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** A table from words to meanings. If a word is given twice, the first meaning counts. */
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
