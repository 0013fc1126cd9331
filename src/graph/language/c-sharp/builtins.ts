/** C#'s library: its containers, the names of its members, and the conversions between its types. */
import { type Conversions, type LanguageLibrary, wordSet, wordTable } from "../library.ts";

/** Members of Object, String, collections, LINQ, tasks, streams and writers. */
const COMMON_MEMBERS = `
  GetConstructor GetConstructors GetCustomAttributes GetField GetFields GetGenericArguments GetInterfaces GetMember
  GetMembers GetMethod GetMethods GetProperties GetProperty IsAssignableFrom IsInstanceOfType IsSubclassOf
  ToString Equals GetHashCode GetType ReferenceEquals MemberwiseClone CompareTo Contains StartsWith EndsWith
  IndexOf LastIndexOf Insert Remove Replace Split Substring Trim TrimStart TrimEnd ToLower ToUpper ToLowerInvariant
  ToUpperInvariant PadLeft PadRight Join Concat Format IsNullOrEmpty IsNullOrWhiteSpace Append AppendLine
  AppendFormat Clear Count Length AddRange RemoveAt RemoveAll RemoveRange InsertRange Sort Reverse Find FindAll
  FindIndex Exists ForEach CopyTo ToArray ToList ToDictionary ToHashSet ToLookup TryGetValue TryAdd ContainsKey
  ContainsValue Keys Values Where Select SelectMany OrderBy OrderByDescending ThenBy GroupBy Distinct First
  FirstOrDefault Last LastOrDefault Single SingleOrDefault Skip Take Aggregate Average Zip Union Except Intersect
  Cast OfType AsEnumerable Enqueue Dequeue Peek Push Invoke BeginInvoke EndInvoke ConfigureAwait GetAwaiter
  GetResult ContinueWith WaitAsync Cancel Dispose DisposeAsync Close Flush FlushAsync Read ReadAsync ReadLine
  ReadToEnd Write WriteAsync WriteLine Seek SetLength GetEnumerator MoveNext Current Reset Parse TryParse HasValue
  GetValueOrDefault Round Floor Ceiling Create Start Stop
`;

export const C_SHARP_LIBRARY: LanguageLibrary = {
  types: wordTable({ sequence: "Array Option List Collection", map: "Map", promise: "Promise Task" }),
  methods: {
    sequence: wordTable({
      same: `Where OrderBy OrderByDescending ThenBy ThenByDescending Skip Take SkipWhile TakeWhile ToList ToArray ToHashSet
        ToImmutableArray ToImmutableList AsEnumerable AsQueryable Reverse Distinct DistinctBy Concat Union Except
        Intersect Append Prepend AsSpan AsReadOnly Cast`,
      element: `First FirstOrDefault Single SingleOrDefault Last LastOrDefault ElementAt ElementAtOrDefault Dequeue Peek
        Pop MinBy MaxBy`,
      mapped: "Select",
      flatMapped: "SelectMany",
      seed: "Aggregate",
    }),
    map: wordTable({
      value: "GetValueOrDefault GetOrAdd AddOrUpdate",
      values: "Values",
      keys: "Keys",
    }),
    promise: new Map(),
  },
  statics: new Map(),
  commonMembers: wordSet(COMMON_MEMBERS),
};

const INTERFACES_OF_SEQUENCES = ["IEnumerable", "ICollection", "IList", "IReadOnlyList"];

export const C_SHARP_CONVERSIONS: Conversions = {
  scalars: wordSet("bool char byte sbyte short ushort int uint nint long ulong float double decimal"),
  numbers: new Map([
    ["byte", 0],
    ["short", 1],
    ["char", 1],
    ["int", 2],
    ["long", 3],
    ["float", 4],
    ["double", 5],
    // A constant that is small enough converts into these too.
    ...["sbyte", "ushort", "uint", "nint", "ulong", "decimal"].map((name) => [name, -1] as const),
  ]),
  fractions: wordSet("float double decimal"),
  boxes: new Map([
    ["Byte", "byte"],
    ["SByte", "sbyte"],
    ["Int16", "short"],
    ["Int32", "int"],
    ["Int64", "long"],
    ["Single", "float"],
    ["Double", "double"],
    ["Decimal", "decimal"],
    ["Boolean", "bool"],
    ["Char", "char"],
  ]),
  supertypes: new Map([["Array", INTERFACES_OF_SEQUENCES]]),
  roots: wordSet("object Object"),
  containers: wordSet("Array Map"),
  closed: wordSet("string"),
  interfaces: /^I[A-Z]/,
};
