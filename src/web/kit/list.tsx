/**
 * A list of one kind of object. It shows that it loads, an error, that there are no rows or none that match, or a table
 * that loads more on demand.
 */
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
/** The result of `useQuery` for a list that is not paged. */
export interface Whole<T> extends Asked {
  data: { items: T[] } | undefined;
}

export const rowsIn = <T,>(query: Listed<T> | Whole<T>): T[] =>
  "rows" in query ? query.rows : (query.data?.items ?? []);

export interface ListProps<T> extends Pick<TableProps<T>, "columns" | "keyOf" | "hrefOf" | "selection"> {
  /** What the rows are, for screen readers. */
  label: string;
  query: Listed<T> | Whole<T>;
  /** Shown instead of a table without rows: a sentence, one action, and the equivalent command for a terminal. */
  empty: { text: ReactNode; action?: ReactNode; cli?: string };
  /** Names of the filters in the address. If a filter is set and no row matches, the list offers to clear them. */
  filters?: string[];
  noMatch?: string;
  /** Actions above the rows; shown only if there are rows. */
  bar?: ReactNode;
  /** Number of gray placeholder lines while the list loads. */
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
