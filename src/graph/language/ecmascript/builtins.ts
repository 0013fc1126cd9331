/** The library of JavaScript and TypeScript: its containers, and the names of its members. */
import { type LanguageLibrary, wordSet, wordTable } from "../library.ts";

/** Members of arrays, strings, maps, sets, promises, functions, dates and regular expressions, of Object and of Math. */
const COMMON_MEMBERS = `
  acos acosh anchor arguments asin asinh atan atan2 atanh blink bold caller catch cbrt ceil charAt charCodeAt clz32
  codePointAt compile constructor copyWithin cosh create defineProperties defineProperty delete dotAll endsWith
  entries expm1 f16round finally findIndex findLast findLastIndex fixed flags flatMap floor fontcolor fontsize
  forEach freeze fromEntries fround getDate getDay getFullYear getHours getMilliseconds getMinutes getMonth
  getOrInsert getOrInsertComputed getOwnPropertyDescriptor getOwnPropertyDescriptors getOwnPropertyNames
  getOwnPropertySymbols getPrototypeOf getSeconds getTime getTimezoneOffset getUTCDate getUTCDay getUTCFullYear
  getUTCHours getUTCMilliseconds getUTCMinutes getUTCMonth getUTCSeconds getYear groupBy hasIndices hasOwn
  hasOwnProperty hypot ignoreCase imul indexOf isDisjointFrom isExtensible isFrozen isPrototypeOf isSealed
  isSubsetOf isSupersetOf isWellFormed italics lastIndexOf localeCompare log10 log1p log2 matchAll multiline
  normalize padEnd padStart preventExtensions propertyIsEnumerable prototype reduceRight replaceAll setDate
  setFullYear setHours setMilliseconds setMinutes setMonth setPrototypeOf setSeconds setTime setUTCDate
  setUTCFullYear setUTCHours setUTCMilliseconds setUTCMinutes setUTCMonth setUTCSeconds setYear sinh sqrt
  startsWith sticky strike substr substring sumPrecise symmetricDifference tanh toDateString toGMTString
  toISOString toJSON toLocaleDateString toLocaleLowerCase toLocaleString toLocaleTimeString toLocaleUpperCase
  toLowerCase toReversed toSorted toSpliced toString toTimeString toUTCString toUpperCase toWellFormed trimEnd
  trimLeft trimRight trimStart trunc unicode unicodeSets unshift
`;

export const ECMASCRIPT_LIBRARY: LanguageLibrary = {
  types: wordTable({
    first: "Partial Required Readonly NonNullable Pick Omit Awaited Extract Exclude NoInfer WeakRef",
    result: "ReturnType",
    instance: "InstanceType",
    sequence: `Array ReadonlyArray Iterable IterableIterator Iterator Generator AsyncIterable AsyncGenerator
      AsyncIterableIterator ArrayLike Set ReadonlySet`,
    map: "Map ReadonlyMap WeakMap",
    record: "Record",
    promise: "Promise PromiseLike",
  }),
  methods: {
    sequence: wordTable({
      same: `filter slice concat reverse splice fill toReversed toSpliced copyWithin values union intersection
        difference take drop`,
      sorted: "sort toSorted",
      element: "find findLast pop shift at next",
      mapped: "map",
      flatMapped: "flatMap",
      flat: "flat",
      numbered: "entries",
      reduced: "reduce reduceRight",
      string: "join",
      receiver: "add",
    }),
    map: wordTable({
      value: "get",
      values: "values",
      keys: "keys",
      entries: "entries",
      receiver: "set",
      visited: "forEach",
    }),
    promise: wordTable({ chained: "then", receiver: "catch finally" }),
  },
  functions: wordTable({ called: "call apply", receiver: "bind" }),
  holders: wordSet("current value"),
  stringLists: wordSet("split match"),
  copies: wordSet("Array Set Map"),
  statics: wordTable({
    promise: "Promise.resolve",
    promiseOfAll: "Promise.all",
    promiseOfElement: "Promise.race Promise.any",
    elements: "Object.values",
    entries: "Object.entries",
    either: "Object.assign",
    first: "Object.freeze Object.seal Object.create",
    sequenceFrom: "Array.from",
    sequenceOf: "Array.of",
  }),
  commonMembers: wordSet(COMMON_MEMBERS),
};
