/** What of Java's own library carries types through: containers by their simple names. */

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
/** Boxes stay themselves: overloads distinguish them from what they hold. */
const PLAIN: Record<string, string> = { String: "string", boolean: "bool" };

/** The built-in that carries the type arguments of a library type, or undefined. */
export function containerOf(name: string): "List" | "Map" | "Option" | undefined {
  if (SEQUENCES.has(name)) return "List";
  if (MAPS.has(name)) return "Map";
  return HOLDERS.has(name) ? "Option" : undefined;
}

/** The name that a type of plain values has in all languages, where it differs; or undefined. */
export function plainValue(name: string): string | undefined {
  return Object.hasOwn(PLAIN, name) ? PLAIN[name] : undefined;
}
