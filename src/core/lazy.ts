/** Calls `load` at the first use, and never again. For what is heavy to load and not needed to start. */
export function lazy<T>(load: () => T): () => T {
  let kept: { of: T } | undefined;
  return () => {
    kept ??= { of: load() };
    return kept.of;
  };
}
