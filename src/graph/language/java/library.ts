/** Java's library types by their simple names: containers, and the conversions between types. */
import { type Conversions, wordSet } from "../library.ts";

/** Containers whose element is their only type argument. */
const SEQUENCES = new Set([
  "List",
  "ArrayList",
  "LinkedList",
  "Set",
  "HashSet",
  "LinkedHashSet",
  "TreeSet",
  "SortedSet",
  "Collection",
  "Iterable",
  "Iterator",
  "ListIterator",
  "Queue",
  "Deque",
  "ArrayDeque",
  "PriorityQueue",
  "BlockingQueue",
  "Stack",
  "Vector",
  "Stream",
  "CopyOnWriteArrayList",
  "ConcurrentLinkedQueue",
]);
const MAPS = new Set([
  "Map",
  "HashMap",
  "LinkedHashMap",
  "TreeMap",
  "SortedMap",
  "NavigableMap",
  "ConcurrentMap",
  "ConcurrentHashMap",
  "IdentityHashMap",
  "WeakHashMap",
  "EnumMap",
]);
const HOLDERS = new Set([
  "Optional",
  "Supplier",
  "Future",
  "CompletableFuture",
  "Callable",
  "AtomicReference",
  "ThreadLocal",
  "WeakReference",
  "SoftReference",
]);
/** Boxes keep their names, because overloads distinguish them from the scalars that they hold. */
const PLAIN: Record<string, string> = { String: "string", boolean: "bool" };

/** The built-in type that carries the type arguments of a library type, or undefined. */
export function containerOf(name: string): "List" | "Map" | "Option" | undefined {
  if (SEQUENCES.has(name)) return "List";
  if (MAPS.has(name)) return "Map";
  return HOLDERS.has(name) ? "Option" : undefined;
}

/** The common name in all languages for a type of plain values, if it differs from Java's; otherwise undefined. */
export function plainValue(name: string): string | undefined {
  return Object.hasOwn(PLAIN, name) ? PLAIN[name] : undefined;
}

const NUMBER = ["Number", "Comparable", "Serializable"];
const COMPARED = ["Comparable", "Serializable"];

export const JAVA_CONVERSIONS: Conversions = {
  scalars: wordSet("bool char byte short int long float double"),
  numbers: new Map([
    ["byte", 0],
    ["short", 1],
    ["char", 1],
    ["int", 2],
    ["long", 3],
    ["float", 4],
    ["double", 5],
  ]),
  fractions: wordSet("float double"),
  boxes: new Map([
    ["Byte", "byte"],
    ["Short", "short"],
    ["Integer", "int"],
    ["Long", "long"],
    ["Float", "float"],
    ["Double", "double"],
    ["Boolean", "bool"],
    ["Character", "char"],
  ]),
  supertypes: new Map([
    ...["Byte", "Short", "Integer", "Long", "Float", "Double"].map((box) => [box, NUMBER] as const),
    ...["Boolean", "Character"].map((box) => [box, COMPARED] as const),
    ["string", ["CharSequence", "Comparable", "Serializable", "Constable"]],
    ["Class", ["Type", "Serializable", "AnnotatedElement", "GenericDeclaration"]],
    ["Array", ["Serializable", "Cloneable"]],
  ]),
  roots: wordSet("Object"),
  containers: wordSet("Array List Map"),
  closed: wordSet("string Class"),
};
