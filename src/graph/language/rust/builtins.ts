/** Rust's library: containers, transparent wrappers, and the names of its members. */
import { type LanguageLibrary, wordSet, wordTable } from "../library.ts";

/** Members of strings, slices, vectors, maps, iterators, options and results. */
const COMMON_MEMBERS = `
  clone cloned copied into from default to_string to_owned to_vec as_str as_bytes as_ref as_mut as_slice as_path
  push_str contains_key starts_with ends_with strip_prefix strip_suffix split_at splitn split_once split_whitespace
  lines chars bytes char_indices trim_start trim_end to_lowercase to_uppercase is_empty len capacity reserve
  with_capacity truncate retain drain extend sort_by sort_by_key sort_unstable dedup iter iter_mut into_iter
  filter_map flat_map fold any all position enumerate zip chain take skip step_by rev peekable collect last nth
  first get_mut get_or_insert entry values_mut or_insert or_insert_with or_default unwrap unwrap_or unwrap_or_else
  unwrap_or_default expect is_some is_none is_ok is_err ok_or ok_or_else map_err and_then or_else lock borrow
  borrow_mut deref eq_ignore_ascii_case hash fmt cmp partial_cmp min max write_str write_all read_to_string recv
  spawn
`;

/**
 * Methods that return the inner value of a wrapper. `Option<T>`, `Result<T, E>`, `Box<T>`, `Arc<T>` and others count as
 * `T`.
 */
const INSIDE = `unwrap expect unwrap_or unwrap_or_else unwrap_or_default unwrap_unchecked ok ok_or ok_or_else err_into or or_else
  as_ref as_mut as_deref as_deref_mut as_slice cloned copied clone take replace get_or_insert get_or_insert_with
  insert borrow borrow_mut lock read write get get_mut into_inner to_owned into_owned to_mut as_pin_mut deref deref_mut
  by_ref downgrade upgrade filter inspect map_err load leak context with_context await into try_into iter iter_mut
  into_iter make_mut unwrap_or_clone force get_or_init`;

export const RUST_LIBRARY: LanguageLibrary = {
  types: wordTable({ sequence: "Array Option", map: "Map" }),
  methods: {
    sequence: wordTable({
      same: `filter concat reverse iter iter_mut into_iter drain rev skip take chain cloned copied by_ref peekable
        skip_while take_while step_by collect to_vec as_slice as_mut_slice unwrap expect as_ref as_mut clone inspect
        into_boxed_slice values union intersection difference`,
      element: `find pop next last first get nth peek last_mut first_mut get_mut max_by_key min_by_key max_by min_by max
        min remove swap_remove pop_front pop_back front back front_mut back_mut next_back get_or_insert_with`,
      mapped: "map filter_map",
      flatMapped: "flat_map",
      flat: "flatten",
      numbered: "enumerate",
      zipped: "zip",
      seed: "fold",
      reduced: "reduce",
    }),
    map: wordTable({
      value: "get remove get_mut entry insert",
      values: "values values_mut into_values",
      keys: "keys into_keys",
      entries: "iter iter_mut into_iter drain",
    }),
    promise: new Map(),
  },
  stringLists: wordSet("split"),
  statics: new Map(),
  wrappers: {
    inside: wordSet(INSIDE),
    closure: wordSet("map and_then then flat_map map_or map_or_else with"),
    handsInside: wordSet("map and_then map_or filter is_some_and is_ok_and inspect for_each with flat_map"),
  },
  commonMembers: wordSet(COMMON_MEMBERS),
};
