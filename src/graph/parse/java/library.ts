/** What of Java's own library carries types through: containers by their simple names, boxed values as plain ones. */

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
const BOXED: Record<string, string> = {
  Integer: "int",
  Long: "long",
  Short: "short",
  Byte: "byte",
  Double: "double",
  Float: "float",
  Boolean: "bool",
  Character: "char",
  String: "string",
  boolean: "bool",
};

/** The built-in that carries the type arguments of a library type, or undefined. */
export function containerOf(name: string): "Array" | "Map" | "Option" | undefined {
  if (SEQUENCES.has(name)) return "Array";
  if (MAPS.has(name)) return "Map";
  return HOLDERS.has(name) ? "Option" : undefined;
}

/** The plain value that a boxed or primitive type is, or undefined. */
export function plainValue(name: string): string | undefined {
  return Object.hasOwn(BOXED, name) ? BOXED[name] : undefined;
}
