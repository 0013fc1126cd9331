/** The cache of what was asked: how long it counts, what is tried again, and how lists grow page by page. */
import { QueryClient } from "@tanstack/react-query";
import { problemOf } from "./client.ts";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (failures, error) => failures < 2 && [0, 502, 503, 504].includes(problemOf(error).status),
      refetchOnWindowFocus: true,
    },
  },
});

/** Asks again for everything shown whose path begins so: `refresh("/v1/runs")`. */
export function refresh(...paths: string[]): Promise<void> {
  return queries.invalidateQueries({
    predicate: ({ queryKey: [, path] }) => typeof path === "string" && paths.some((one) => path.startsWith(one)),
  });
}

interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

/** For `api.useInfiniteQuery` over the API's lists. */
export const paged = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page: unknown) => (page as Page<unknown>).next_cursor ?? undefined,
};

/** The rows of all pages that were asked for. */
export const rowsOf = <T>(data: { pages: unknown[] } | undefined): T[] =>
  (data?.pages ?? []).flatMap((page) => (page as Page<T>).items);
