/**
 * Rust's wrappers are seen through (`Option<T>`, `Result<T, E>`, `Box<T>`, `Arc<T>` … are `T`), so their methods are
 * methods that a type does not have itself: some give what is inside, some what their closure returns.
 */

const INSIDE = new Set(
  `unwrap expect unwrap_or unwrap_or_else unwrap_or_default unwrap_unchecked ok ok_or ok_or_else err_into or or_else
  as_ref as_mut as_deref as_deref_mut as_slice cloned copied clone take replace get_or_insert get_or_insert_with
  insert borrow borrow_mut lock read write get get_mut into_inner to_owned into_owned to_mut as_pin_mut deref deref_mut
  by_ref downgrade upgrade filter inspect map_err load leak context with_context await into try_into iter iter_mut
  into_iter make_mut unwrap_or_clone force get_or_init`
    .trim()
    .split(/\s+/),
);
const CLOSURE = new Set(["map", "and_then", "then", "flat_map", "map_or", "map_or_else", "with"]);
const GIVES_INSIDE = new Set(
  "map and_then map_or filter is_some_and is_ok_and inspect for_each with flat_map".split(" "),
);

/** What a method that a type lacks says of the wrapper the type was taken out of. */
export function wrapperMethod(name: string): "inside" | "closure" | undefined {
  return INSIDE.has(name) ? "inside" : CLOSURE.has(name) ? "closure" : undefined;
}

/** Whether the closure given to a wrapper's method is called with what is inside. */
export function givesInside(name: string): boolean {
  return GIVES_INSIDE.has(name);
}
