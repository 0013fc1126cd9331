/** A short list from the API, shown as a panel of rows with a button or two each. */
import type { ReactNode } from "react";
import { Await } from "../ui/note.tsx";
import { Panel } from "../ui/page.tsx";
import { type Listed, rowsIn, type Whole } from "./list.tsx";

interface RowListProps<T> {
  query: Listed<T> | Whole<T>;
  /** What the rows are, for screen readers. */
  label?: string;
  keyOf(row: T): string;
  /** Shown instead of the panel if there are no rows. */
  empty?: ReactNode;
  /** Number of gray placeholder lines while the list loads. */
  lines?: number;
  className?: string;
  children(row: T): ReactNode;
}

export function RowList<T>({
  query,
  label,
  keyOf,
  empty,
  lines = 1,
  className = "flex-wrap items-center gap-x-4 px-4 py-2",
  children,
}: RowListProps<T>) {
  const rows = rowsIn(query);
  return (
    <Await query={query} rows={lines}>
      {() =>
        rows.length === 0 && empty ? (
          empty
        ) : (
          <Panel>
            <ul aria-label={label}>
              {rows.map((row) => (
                <li key={keyOf(row)} className={`flex border-b border-line last:border-0 ${className}`}>
                  {children(row)}
                </li>
              ))}
            </ul>
          </Panel>
        )
      }
    </Await>
  );
}
