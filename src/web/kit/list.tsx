/** Rows of one kind, from the API: loading, an error, none yet, none that fits, a table with more on demand. */
import type { ReactNode } from "react";
import { useSearchParams } from "wouter";
import { NoMatch } from "../ui/filter.tsx";
import { type Asked, Await, Empty } from "../ui/note.tsx";
import { Table, type TableProps } from "../ui/table.tsx";

/** What `usePages` answers. */
export interface Listed<T> extends Asked {
  rows: T[];
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage(): unknown;
}
/** What `useQuery` answers where a list is given as a whole. */
export interface Whole<T> extends Asked {
  data: { items: T[] } | undefined;
}

export const rowsIn = <T,>(query: Listed<T> | Whole<T>): T[] =>
  "rows" in query ? query.rows : (query.data?.items ?? []);

export interface ListProps<T> extends Pick<TableProps<T>, "columns" | "keyOf" | "hrefOf" | "selection"> {
  /** What the rows are, for readers of the screen. */
  label: string;
  query: Listed<T> | Whole<T>;
  /** Instead of a table without rows: a sentence, one thing to do, the same from a terminal. */
  empty: { text: ReactNode; action?: ReactNode; cli?: string };
  /** Names of filters in the address. If one is set and no row fits, the person is offered to clear them. */
  filters?: string[];
  noMatch?: string;
  /** Above the rows, where there are some: what to do with them, or to add another. */
  bar?: ReactNode;
  /** Grey lines while it loads. */
  lines?: number;
}

export function List<T>({ query, empty, filters = [], noMatch, bar, lines, ...table }: ListProps<T>) {
  const [params] = useSearchParams();
  const pages = "rows" in query ? query : undefined;
  const rows = rowsIn(query);
  const isFiltered = filters.some((name) => params.get(name));
  const none = isFiltered ? (
    <NoMatch clear={filters}>{noMatch ?? "Nothing matches."}</NoMatch>
  ) : (
    <Empty action={empty.action} {...(empty.cli ? { cli: empty.cli } : {})}>
      {empty.text}
    </Empty>
  );
  return (
    <Await query={query} {...(lines ? { rows: lines } : {})}>
      {() =>
        rows.length === 0 ? (
          none
        ) : (
          <>
            {bar}
            <Table rows={rows} more={pages} {...table} />
          </>
        )
      }
    </Await>
  );
}
