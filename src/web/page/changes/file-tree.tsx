/** All changed files as a tree with a filter. Only visible rows are rendered. */
import { Check, ChevronRight, MessageSquare } from "lucide-react";
import { type KeyboardEvent, useDeferredValue, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { SearchInput } from "../../ui/filter.tsx";
import { formatNumber, pluralize } from "../../ui/format.ts";
import type { FileChange } from "./lines.ts";
import type { Review } from "./review.ts";
import { type ChangedFile, filterFiles, rowsOf, type TreeRow } from "./tree.ts";

/** Height of a row in px: with a mouse, and on a touch screen. */
const ROW = 28;
const TOUCH_ROW = 44;
/** How many rows are rendered beyond the visible area. */
const BEYOND = 12;
const NONE: ReadonlySet<string> = new Set();

interface Props {
  files: readonly ChangedFile[];
  /** Number of files in the whole change. */
  total: number;
  more: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): unknown };
  /** Path of the file that is shown alone. */
  alone: string;
  review: Review;
  onPick(path: string): void;
}

export function FileTree({ files, total, more, alone, review, onPick }: Props) {
  const [text, setText] = useState("");
  const [closed, setClosed] = useState(NONE);
  const wanted = useDeferredValue(text);
  const found = useMemo(() => filterFiles(files, wanted), [files, wanted]);
  // A filter ignores which folders are folded, so that every match is visible.
  const rows = useMemo(() => rowsOf(found, wanted ? NONE : closed), [found, closed, wanted]);
  const toggle = (path: string) =>
    setClosed((old) => {
      const next = new Set(old);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  return (
    <nav
      aria-label="Changed files"
      className="flex flex-col overflow-hidden rounded-lg border border-line bg-panel max-lg:max-h-[40dvh] lg:sticky lg:top-4 lg:max-h-[calc(100dvh-2rem)]"
    >
      {total > 5 && (
        <div className="border-b border-line p-2">
          <SearchInput label="Filter files" value={text} onChange={setText} />
          {wanted && <p className="mt-1 text-xs text-dim">{pluralize(found.length, "file")}</p>}
        </div>
      )}
      <Rows rows={rows} alone={alone} review={review} onPick={onPick} toggle={toggle} />
      {more.hasNextPage && (
        <div className="border-t border-line p-2 text-center text-xs text-dim">
          The first {pluralize(files.length, "file")} of {formatNumber(total)}.{" "}
          <Button label="More" kind="quiet" busy={more.isFetchingNextPage} onClick={() => more.fetchNextPage()} />
        </div>
      )}
    </nav>
  );
}

interface RowsProps extends Pick<Props, "alone" | "review" | "onPick"> {
  rows: TreeRow[];
  toggle(path: string): void;
}

function Rows({ rows, alone, review, onPick, toggle }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ top: 0, height: 600 });
  const [active, setActive] = useState(0);
  const moved = useRef(false);
  const height = useMemo(() => (matchMedia("(width < 40rem)").matches ? TOUCH_ROW : ROW), []);
  useEffect(() => {
    const place = box.current;
    if (!place) return;
    const updateSight = () => setSight({ top: place.scrollTop, height: place.clientHeight });
    const watch = new ResizeObserver(updateSight);
    watch.observe(place);
    place.addEventListener("scroll", updateSight, { passive: true });
    return () => {
      watch.disconnect();
      place.removeEventListener("scroll", updateSight);
    };
  }, []);
  const at = Math.min(active, rows.length - 1);
  // Before the next key: the row that had the focus may be gone, and the key would reach nobody.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the row may be drawn only after the list was scrolled to it.
  useLayoutEffect(() => {
    if (!moved.current) return;
    const row = box.current?.querySelector<HTMLElement>(`[data-at="${at}"]`);
    row?.focus({ preventScroll: true });
    if (row) moved.current = false;
  }, [at, sight]);
  const move = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    const place = box.current!;
    moved.current = true;
    setActive(next);
    if (next * height < place.scrollTop) place.scrollTop = next * height;
    else if ((next + 1) * height > place.scrollTop + place.clientHeight)
      place.scrollTop = (next + 1) * height - place.clientHeight;
  };
  const act = (row: TreeRow) => (row.kind === "folder" ? toggle(row.path) : onPick(row.path));
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[at];
    const page = Math.max(1, Math.floor(sight.height / height) - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length }[
      event.key
    ];
    if (!row) return;
    if (by !== undefined) move(at + by);
    else if (event.key === "Enter" || event.key === " ") act(row);
    else if (event.key === "ArrowRight" && row.kind === "folder" && !row.open) toggle(row.path);
    else if (event.key === "ArrowLeft" && row.kind === "folder" && row.open) toggle(row.path);
    else if (event.key === "ArrowLeft") move(rows.findLastIndex((one, index) => index < at && one.depth < row.depth));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const first = Math.max(0, Math.floor(sight.top / height) - BEYOND);
  const last = Math.min(rows.length, Math.ceil((sight.top + sight.height) / height) + BEYOND);
  if (rows.length === 0) return <p className="p-3 text-sm text-dim">No file has that in its path.</p>;
  return (
    <div ref={box} role="tree" aria-label="Files" onKeyDown={onKeyDown} className="min-h-0 flex-1 overflow-y-auto">
      <div role="presentation" className="relative" style={{ height: rows.length * height }}>
        {rows.slice(first, last).map((row, index) => (
          <Row
            key={`${row.kind} ${row.path}`}
            row={row}
            at={first + index}
            height={height}
            isTarget={first + index === at}
            isAlone={row.kind === "file" && row.path === alone}
            review={review}
            onClick={() => {
              setActive(first + index);
              act(row);
            }}
          />
        ))}
      </div>
    </div>
  );
}

interface RowProps {
  row: TreeRow;
  at: number;
  height: number;
  /** Whether Tab moves the focus to this row. */
  isTarget: boolean;
  isAlone: boolean;
  review: Review;
  onClick(): void;
}

const INDENT = 12;

function Row({ row, at, height, isTarget, isAlone, review, onClick }: RowProps) {
  const viewed = row.kind === "file" && review.viewed.has(row.path);
  return (
    <div
      role="treeitem"
      data-at={at}
      tabIndex={isTarget ? 0 : -1}
      aria-level={row.depth + 1}
      aria-expanded={row.kind === "folder" ? row.open : undefined}
      aria-selected={isAlone}
      title={row.path}
      onClick={onClick}
      style={{ top: at * height, height, paddingLeft: 8 + row.depth * INDENT }}
      className="absolute inset-x-0 flex cursor-pointer items-center gap-1.5 pr-2 text-sm -outline-offset-2 select-none hover:bg-hover aria-selected:bg-hover aria-selected:font-medium"
    >
      {row.kind === "folder" ? (
        <>
          <ChevronRight aria-hidden size={13} className={`shrink-0 text-faint ${row.open ? "rotate-90" : ""}`} />
          <span className="min-w-0 flex-1 truncate text-dim">{row.name}</span>
          {!row.open && <span className="text-xs text-faint tabular-nums">{row.files}</span>}
        </>
      ) : (
        <>
          <span
            className={`min-w-0 flex-1 truncate pl-4 ${viewed ? "text-faint" : ""} ${DELETED[row.file.status] ?? ""}`}
          >
            {row.name}
          </span>
          {review.comments.some(({ path }) => path === row.path) && (
            <MessageSquare role="img" aria-label="has comments" size={13} className="shrink-0 text-wait" />
          )}
          {viewed && <Check role="img" aria-label="viewed" size={13} className="shrink-0 text-ok" />}
          <Amount file={row.file} />
        </>
      )}
    </div>
  );
}

const DELETED: Record<string, string> = { deleted: "line-through" };

/** `+12 −3`, or that the file is binary. */
export function Amount({ file: { insertions, deletions } }: { file: Pick<FileChange, "insertions" | "deletions"> }) {
  if (insertions === null || deletions === null) return <span className="shrink-0 text-xs text-faint">binary</span>;
  return (
    <span className="shrink-0 text-xs tabular-nums">
      {insertions > 0 && <span className="text-ok">+{insertions}</span>}{" "}
      {deletions > 0 && <span className="text-bad">−{deletions}</span>}
    </span>
  );
}
