/** The query cache: how long answers stay fresh, what is retried, and how lists load page by page. */
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
        // Status 0 is no answer at all; the client has tried that several times by itself.
        return failures < (status === 0 ? 1 : 2) && [0, 502, 503, 504].includes(status);
      },
      refetchOnWindowFocus: true,
      // The server may be on this machine, or in its own network: without the internet it answers all the same.
      networkMode: "always",
      refetchOnReconnect: true,
    },
  },
});

/** Fetches everything shown again whose path begins with this: `refresh("/v1/runs")`. */
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
/** What a GET that lists answers for each row. */
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

const after = (cursor: string, limit: number | undefined) => ({ cursor, ...(limit === undefined ? {} : { limit }) });

interface PagesOptions {
  enabled?: boolean;
  /** Rows of each page after the first; as many as the first has, unless given. */
  further?: number;
}

/** A list of the API, page by page; `rows` are those of all pages that were asked for. */
export function usePages<P extends ListPaths>(path: P, params: ParamsOf<P>, options: PagesOptions = {}) {
  const { further, ...asked } = options;
  const query = useInfiniteQuery({
    // A key of its own: the single answer of the same path has another shape.
    queryKey: ["get", path, { params, pages: true }],
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: Page<RowOf<P>>) => page.next_cursor ?? undefined,
    async queryFn({ pageParam, signal }) {
      const given = params as { query?: object };
      const query = { ...given.query, ...(pageParam === undefined ? {} : after(pageParam, further)) };
      const get = client.GET as (path: string, init: object) => Promise<{ data?: Page<RowOf<P>>; error?: unknown }>;
      return must(get(path, { params: { ...given, query }, signal }));
    },
    ...asked,
  });
  // The same rows until there are others: what is drawn from them is not drawn again.
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  return { ...query, rows };
}
