/** The library of C++: its containers, the names of its members, and the conversions between its types. */
import { type Conversions, type LanguageLibrary, wordSet, wordTable } from "../library.ts";

/** Members of strings, containers, smart pointers, streams, threads and futures. */
const COMMON_MEMBERS = `
  begin cbegin rbegin empty reserve resize capacity data front back push_back emplace_back pop_back push_front
  pop_front emplace erase substr compare c_str rfind find_first_of find_last_of starts_with ends_with lower_bound
  upper_bound equal_range swap value has_value value_or first second lock unlock try_lock notify_one notify_all
  detach joinable load store exchange fetch_add good fail str tellg seekg getline rdbuf what hash_code find_if
`;

export const C_FAMILY_LIBRARY: LanguageLibrary = {
  types: wordTable({ sequence: "Array Option", map: "Map" }),
  methods: {
    sequence: wordTable({ element: "at front back get", receiver: "add" }),
    map: new Map(),
    promise: new Map(),
  },
  statics: new Map(),
  commonMembers: wordSet(COMMON_MEMBERS),
};

const NONE = new Set<string>();

export const C_FAMILY_CONVERSIONS: Conversions = {
  scalars: wordSet("bool char int long float double size_t"),
  numbers: new Map(["char", "int", "long", "float", "double", "size_t"].map((name) => [name, -1])),
  fractions: wordSet("float double"),
  boxes: new Map(),
  supertypes: new Map(),
  roots: NONE,
  containers: wordSet("Array Map"),
  closed: wordSet("string"),
  opaque: wordSet("pointer"),
};
