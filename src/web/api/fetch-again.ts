import type { Query, QueryClient } from "@tanstack/react-query";

/**
 * Fetches again what is shown. A first answer that is still on its way is not cancelled by the library and may be older
 * than what has changed, so it is asked for once more when it is there.
 */
export async function fetchAgain(queries: QueryClient, which: (query: Query) => boolean = () => true): Promise<void> {
  const coming = queries
    .getQueryCache()
    .findAll({ predicate: which, fetchStatus: "fetching" })
    .filter(({ state }) => state.data === undefined)
    .map(async (query) => {
      await query.fetch().catch(() => {});
      // For several changes meanwhile it is asked once.
      await queries.invalidateQueries({ predicate: (one) => one === query }, { cancelRefetch: false });
    });
  await Promise.all([queries.invalidateQueries({ predicate: which }), ...coming]);
}
