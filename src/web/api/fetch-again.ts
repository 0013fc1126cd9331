import type { Query, QueryClient } from "@tanstack/react-query";

/**
 * Fetches again what the page shows. The library does not cancel a first request that is under way, whose answer may be
 * older than the change. Such a query is therefore fetched once more after its answer has arrived.
 */
export async function fetchAgain(queries: QueryClient, which: (query: Query) => boolean = () => true): Promise<void> {
  const coming = queries
    .getQueryCache()
    .findAll({ predicate: which, fetchStatus: "fetching" })
    .filter(({ state }) => state.data === undefined)
    .map(async (query) => {
      await query.fetch().catch(() => {});
      // Several changes in the meantime cause only one more request.
      await queries.invalidateQueries({ predicate: (one) => one === query }, { cancelRefetch: false });
    });
  await Promise.all([queries.invalidateQueries({ predicate: which }), ...coming]);
}
