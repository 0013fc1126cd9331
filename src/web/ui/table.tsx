/** A table of rows that are links, with selection, keys (j k Enter x) and more rows on demand. */
import { memo, type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { Button } from "./button.tsx";
import { useSlices } from "./slices.ts";

export interface Column<T> {
  title: string;
  /** Whether the column's title is only for screen readers. */
  quiet?: boolean;
  cell(row: T): ReactNode;
  align?: "right";
  /** Hidden on narrow screens. */
  wide?: boolean;
  className?: string;
}

interface Selection {
  chosen: ReadonlySet<string>;
  toggle(key: string): void;
  all(keys: string[]): void;
}

export interface TableProps<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  keyOf(row: T): string;
  /** Address of a row. The first column is the link. */
  hrefOf?: ((row: T) => string) | undefined;
  selection?: Selection | undefined;
  more?: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): unknown } | undefined;
}

/** On narrow screens the first column (the name) gets all the width that the others leave. */
const cellClass = (column: Pick<Column<never>, "align" | "wide" | "className">, at: number) => {
  const narrow = at === 0 ? "max-md:w-full max-md:min-w-32 max-md:max-w-0" : "max-md:w-auto max-md:whitespace-nowrap";
  const align = column.align === "right" ? "text-right whitespace-nowrap tabular-nums" : "";
  return `px-3 py-2 ${align} ${column.wide ? "max-md:hidden" : narrow} ${column.className ?? ""}`;
};

export function Table<T>({ label, rows, columns, keyOf, hrefOf, selection, more }: TableProps<T>) {
  const drawn = useSlices(rows, AT_ONCE);
  const head = useRef<HTMLTableRowElement>(null);
  const blocks = blocksOf(drawn);
  const widths = useWidths(head, blocks.length > 0);
  const shared = { columns, keyOf, hrefOf, selection };
  return (
    <>
      <div className="overflow-x-auto rounded-lg border border-line bg-panel">
        <table className="w-full border-collapse text-left" aria-label={label}>
          <thead className="text-xs text-faint">
            <tr ref={head} className="border-b border-line">
              {selection && (
                <th className="w-9 pl-2">
                  <SelectAll rows={rows.map(keyOf)} selection={selection} />
                </th>
              )}
              {columns.map((column, at) => (
                <th key={column.title} scope="col" className={`${cellClass(column, at)} font-medium whitespace-nowrap`}>
                  <span className={column.quiet ? "sr-only" : ""}>{column.title}</span>
                </th>
              ))}
            </tr>
          </thead>
          <Rows rows={drawn.slice(0, HEAD_ROWS)} {...shared} />
        </table>
        {blocks.map(({ from, rows: some }) => (
          <Block key={from} label={`${label}, from row ${from + 1}`} widths={widths} rows={some} {...shared} />
        ))}
      </div>
      {more && <More query={more} />}
    </>
  );
}

interface MoreProps {
  query: NonNullable<TableProps<never>["more"]>;
  children?: ReactNode;
  quiet?: boolean;
  className?: string;
}

/** A button that loads more rows, if there are any. */
export const More = ({ query, children = "Show more", quiet, className = "mt-3 text-center" }: MoreProps) =>
  query.hasNextPage && (
    <div className={className}>
      <Button kind={quiet ? "quiet" : "plain"} busy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
        {children}
      </Button>
    </div>
  );

/**
 * How many rows the first frame renders (more than fit in a window), and how many each further frame adds. While the
 * first table grows, each frame lays out all of it.
 */
const AT_ONCE = { first: 25, slice: 10 };
/** Number of rows in the first table, whose content determines the column widths. */
const HEAD_ROWS = 50;
/**
 * Number of rows in each further table. The browser lays out and paints only those in sight, but the browser's search
 * and the keys reach all of them. A larger number would make each frame of a fast scroll lay out more than a window's
 * height.
 */
const BLOCK_ROWS = 10;

interface Block<T> {
  /** Index of the block's first row in the list. */
  from: number;
  rows: T[];
}

function blocksOf<T>(rows: T[]): Block<T>[] {
  const blocks: Block<T>[] = [];
  for (let from = HEAD_ROWS; from < rows.length; from += BLOCK_ROWS)
    blocks.push({ from, rows: rows.slice(from, from + BLOCK_ROWS) });
  return blocks;
}

/** Widths of the visible columns in px, measured in the first table. */
function useWidths(head: RefObject<HTMLTableRowElement | null>, wanted: boolean): number[] {
  const [widths, setWidths] = useState<number[]>([]);
  useLayoutEffect(() => {
    const row = head.current;
    if (!wanted || !row) return;
    const measureWidths = () => {
      const now = [...row.cells].map((cell) => cell.getBoundingClientRect().width).filter((width) => width > 0);
      setWidths((before) => (before.join() === now.join() ? before : now));
    };
    measureWidths();
    const watch = new ResizeObserver(measureWidths);
    for (const cell of row.cells) watch.observe(cell);
    return () => watch.disconnect();
  }, [head, wanted]);
  return widths;
}

type RowsProps<T> = Pick<TableProps<T>, "columns" | "keyOf" | "hrefOf" | "selection" | "rows">;

/** Further rows as a separate table below the first, with the same column widths. */
function Block<T>({ label, widths, ...rest }: RowsProps<T> & { label: string; widths: number[] }) {
  return (
    <div
      className="row-block border-t border-line"
      style={{ containIntrinsicBlockSize: `auto ${rest.rows.length * ROW_PX}px` }}
    >
      <table
        className="table-fixed border-collapse text-left"
        aria-label={label}
        style={{ width: widths.reduce((sum, width) => sum + width, 0) }}
      >
        <colgroup>
          {widths.map((width, at) => (
            <col key={at} style={{ width }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {rest.selection && <td className="p-0" />}
            {rest.columns.map(({ title, wide }) => (
              <th key={title} scope="col" className={`p-0 ${wide ? "max-md:hidden" : ""}`}>
                <span className="sr-only">{title}</span>
              </th>
            ))}
          </tr>
        </thead>
        <Rows {...rest} />
      </table>
    </div>
  );
}

const Rows = <T,>({ rows, keyOf, ...rest }: RowsProps<T>) => (
  <tbody>
    {rows.map((row) => (
      <Row key={keyOf(row)} row={row} keyOf={keyOf} {...rest} />
    ))}
  </tbody>
);

/** Height of a two-line row in px. A block that was never in sight is assumed to have such rows. */
const ROW_PX = 58;
type RowProps<T> = Pick<TableProps<T>, "columns" | "keyOf" | "hrefOf" | "selection"> & { row: T };

/** Whether a row would look the same. The rows before a new page then do not render again. */
function isSame<T>(one: RowProps<T>, other: RowProps<T>): boolean {
  const key = one.keyOf(one.row);
  return (
    one.row === other.row &&
    one.columns === other.columns &&
    key === other.keyOf(other.row) &&
    one.hrefOf?.(one.row) === other.hrefOf?.(other.row) &&
    one.selection?.toggle === other.selection?.toggle &&
    one.selection?.chosen.has(key) === other.selection?.chosen.has(key)
  );
}

const Row = memo(DrawnRow, isSame) as typeof DrawnRow;

function DrawnRow<T>({ row, columns, keyOf, hrefOf, selection }: RowProps<T>) {
  const key = keyOf(row);
  const href = hrefOf?.(row);
  return (
    <tr className="relative border-b border-line last:border-0 hover:bg-hover has-[[data-row]:focus-visible]:bg-hover">
      {selection && (
        <td className="relative z-10 w-9 pl-2">
          <Tick label={`Select ${key}`} checked={selection.chosen.has(key)} onChange={() => selection.toggle(key)} />
        </td>
      )}
      {columns.map((column, at) => (
        <td key={column.title} className={cellClass(column, at)}>
          {at === 0 && href ? (
            <Link
              href={href}
              data-row
              className="block scroll-mb-20 outline-offset-2 max-sm:min-h-7 after:absolute after:inset-0 after:content-['']"
            >
              {column.cell(row)}
            </Link>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
  );
}

function SelectAll({ rows, selection }: { rows: string[]; selection: Selection }) {
  const all = rows.length > 0 && rows.every((key) => selection.chosen.has(key));
  return <Tick label="Select all" checked={all} onChange={() => selection.all(all ? [] : rows)} />;
}

/** A checkbox with enough room around it for a finger. */
const Tick = ({ label, ...rest }: { label: string; checked: boolean; onChange(): void }) => (
  <label className="flex size-6 items-center justify-center max-sm:size-11">
    <input type="checkbox" aria-label={label} {...rest} className="size-4 accent-accent" />
  </label>
);

/** A name above a quieter second line. On narrow screens the name may take two lines. Longer text is cut. */
export function TwoLines({ first, second }: { first: ReactNode; second?: ReactNode }) {
  return (
    <span className="block min-w-0">
      <span className="font-medium bidi max-md:line-clamp-2 md:line-clamp-1 md:break-all">{first}</span>
      {second && <span className="line-clamp-1 text-sm text-dim bidi">{second}</span>}
    </span>
  );
}

/** A column with an object's name and a quieter line below it. */
export const nameColumn = <T,>(
  title: string,
  className: string,
  wordsOf: (row: T) => readonly [first: ReactNode, second?: ReactNode],
): Column<T> => ({
  title,
  className,
  cell(row) {
    const [first, second] = wordsOf(row);
    return <TwoLines first={first} second={second} />;
  },
});
