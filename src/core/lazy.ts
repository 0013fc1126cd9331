/** Calls `load` at the first use, and only once. For what is expensive to load and not needed at the start. */
export function memoize<T>(load: () => T): () => T {
  let kept: { of: T } | undefined;
  return () => {
    kept ??= { of: load() };
    return kept.of;
  };
}
