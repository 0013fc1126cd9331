/** Java's library: its containers, and the names of its members. */
import { type LanguageLibrary, wordSet, wordTable } from "../library.ts";

/** Members of Object, String, collections, maps, streams, optionals, futures, readers and writers. */
const COMMON_MEMBERS = `
  equals hashCode toString getClass notify notifyAll clone finalize compareTo charAt isEmpty isBlank substring
  indexOf lastIndexOf startsWith endsWith replaceAll replaceFirst strip toLowerCase toUpperCase toCharArray
  getBytes matches intern chars lines setLength addAll removeAll retainAll containsAll removeIf iterator
  listIterator stream forEach toArray subList addFirst addLast getFirst getLast removeFirst removeLast offer poll
  putAll putIfAbsent containsKey containsValue keySet entrySet getOrDefault computeIfAbsent computeIfPresent
  compute getKey getValue setValue hasNext previous hasPrevious flatMap mapToInt mapToObj mapToLong collect
  distinct sorted limit skip anyMatch allMatch noneMatch findFirst findAny sum average boxed isPresent ifPresent
  orElse orElseGet orElseThrow accept andThen compose negate supply thenApply thenAccept thenCompose whenComplete
  handle complete submit invoke shutdown readLine println print printf getMessage getCause printStackTrace
  getStackTrace getName getSimpleName intValue longValue doubleValue booleanValue parseInt floor ceil sqrt
`;

export const JAVA_LIBRARY: LanguageLibrary = {
  types: wordTable({
    sequence: "Array Option List Set Collection Iterable Iterator",
    map: "Map",
    promise: "Promise Future",
  }),
  methods: {
    sequence: wordTable({
      same: `filter concat iterator listIterator stream parallelStream sorted distinct limit skip peek collect toList subList
        descendingIterator values reversed takeWhile dropWhile`,
      element: `pop next get getFirst getLast removeFirst removeLast remove poll pollFirst pollLast peekFirst peekLast
        element findFirst findAny take orElse orElseThrow orElseGet elementAt firstElement lastElement join call getNow
        max min first last`,
      mapped: "map mapToObj",
      flatMapped: "flatMap",
      reduced: "reduce",
    }),
    map: wordTable({
      value: "get remove getOrDefault computeIfAbsent computeIfPresent put putIfAbsent merge",
      values: "values",
      keys: "keySet",
      entries: "entrySet",
      visited: "forEach",
    }),
    promise: new Map(),
  },
  functions: wordTable({ called: "call apply" }),
  stringLists: wordSet("split"),
  statics: new Map(),
  commonMembers: wordSet(COMMON_MEMBERS),
};
