/** The query cache: how long answers stay fresh, which requests are retried, and how lists load page by page. */
import { QueryClient, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { paths } from "../../api/schema.gen.ts";
import { client, must, problemOf } from "./client.ts";
import { fetchAgain } from "./fetch-again.ts";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry(failures, error) {
        const { status } = problemOf(error);
        // Status 0 means that no answer arrived; the client has already tried several times by itself.
        return failures < (status === 0 ? 1 : 2) && [0, 502, 503, 504].includes(status);
      },
      refetchOnWindowFocus: true,
      // The server may be on this machine or in the local network, so it can answer without internet access.
      networkMode: "always",
      refetchOnReconnect: true,
    },
  },
});

/** Fetches again everything on the page whose path begins with one of these: `refresh("/v1/runs")`. */
export function refresh(...paths: string[]): Promise<void> {
  return fetchAgain(
    queries,
    ({ queryKey: [, path] }) => typeof path === "string" && paths.some((one) => path.startsWith(one)),
  );
}

interface Page<T> {
  items: T[];
  next_cursor: string | null;
}
/** The row type of each GET operation that answers with a list. */
type ListPaths = {
  [P in keyof paths]: paths[P] extends {
    get: { responses: { 200: { content: { "application/json": Page<unknown> } } } };
  }
    ? P
    : never;
}[keyof paths];
type Get<P extends ListPaths> = Extract<paths[P], { get: unknown }>["get"];
export type RowOf<P extends ListPaths> =
  Get<P> extends { responses: { 200: { content: { "application/json": { items: (infer Row)[] } } } } } ? Row : never;
type ParamsOf<P extends ListPaths> = Get<P> extends { parameters: infer Params } ? Params : never;

const toPageQuery = (cursor: string, limit: number | undefined) => ({
  cursor,
  ...(limit === undefined ? {} : { limit }),
});

interface PagesOptions {
  enabled?: boolean;
  /** Number of rows on each page after the first; by default as many as on the first. */
  further?: number;
}

/** A list of the API, loaded page by page. `rows` are those of all pages loaded so far. */
export function usePages<P extends ListPaths>(path: P, params: ParamsOf<P>, options: PagesOptions = {}) {
  const { further, ...asked } = options;
  const query = useInfiniteQuery({
    // A separate key, because the single answer of the same path has another shape.
    queryKey: ["get", path, { params, pages: true }],
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: Page<RowOf<P>>) => page.next_cursor ?? undefined,
    async queryFn({ pageParam, signal }) {
      const given = params as { query?: object };
      const query = { ...given.query, ...(pageParam === undefined ? {} : toPageQuery(pageParam, further)) };
      const get = client.GET as (path: string, init: object) => Promise<{ data?: Page<RowOf<P>>; error?: unknown }>;
      return must(get(path, { params: { ...given, query }, signal }));
    },
    ...asked,
  });
  // Keep the same array until the rows change, so that components that depend on it do not render again.
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  return { ...query, rows };
}
