/** One changed file: its hunks, unified or side by side, with comments at their lines. */
import { ChevronRight, MessageSquarePlus } from "lucide-react";
import { type KeyboardEvent, memo, type ReactNode, useMemo, useRef, useState } from "react";
import { Pieces } from "../../ui/code/pieces.tsx";
import { draftKeys } from "../../ui/draft.ts";
import { Badge } from "../../ui/facts.tsx";
import { pluralize } from "../../ui/format.ts";
import { CopyButton } from "../../ui/page.tsx";
import { CommentEditor, CommentNote } from "./comments.tsx";
import { copyCode } from "./copy-code.ts";
import { Amount } from "./file-tree.tsx";
import { type FileChange, foldedBecause, type Line, lineKey, numberLines, pairsIn, sideBySide } from "./lines.ts";
import { useNear } from "./near.ts";
import { type Paint, usePaint } from "./paint.ts";
import { type Comment, type Review, standsAt } from "./review.ts";

const STATUS = { added: "new", deleted: "deleted", type_changed: "type changed", modified: null };

interface Props {
  file: FileChange;
  split: boolean;
  review: Review;
}

/** Heights of a line and of a hunk's heading in px, to reserve space for lines that are rendered later. */
const LINE = 24;
const HEADING = 30;

/** Heights in px of a file's heading, and of the sentence below it that says why the file is folded. */
const FILE_HEADING = 41;
const REASON = 37;

/** Estimates a file's height in px. Two lines side by side count as one; lines that wrap are taller than estimated. */
const heightOf = (file: FileChange, split: boolean): number =>
  file.hunks.reduce((sum, { lines }) => sum + HEADING + LINE * (split ? pairsIn(lines) : lines.length), 0);

interface SectionProps extends Props {
  /** Whether the file was chosen by itself: it is then open, however long it is. */
  unfolded?: boolean;
}

/** Memoized, so that up to a thousand files do not render again when more files load or one is marked as read. */
export const FileSection = memo(
  DrawnSection,
  (before, after) =>
    before.file === after.file &&
    before.split === after.split &&
    before.unfolded === after.unfolded &&
    before.review.all === after.review.all &&
    before.review.mayComment === after.review.mayComment &&
    before.review.viewed.has(before.file.path) === after.review.viewed.has(after.file.path),
);

function DrawnSection({ file, split, review, unfolded = false }: SectionProps) {
  const viewed = review.viewed.has(file.path);
  const because = foldedBecause(file);
  const [open, setOpen] = useState(unfolded || (because === null && !viewed));
  const section = useRef<HTMLElement>(null);
  const near = useNear(section);
  const slash = file.path.lastIndexOf("/") + 1;
  const below = open ? heightOf(file, split) : because && !viewed ? REASON : 0;
  return (
    <section
      ref={section}
      aria-label={file.path}
      data-file={file.path}
      tabIndex={-1}
      onKeyDown={walkLines}
      // The browser neither lays out nor paints a file out of sight: with a thousand files a frame would otherwise take
      // 200 ms.
      style={{ contentVisibility: "auto", containIntrinsicBlockSize: `auto ${FILE_HEADING + below}px` }}
      className="scroll-mt-14 overflow-clip rounded-lg border border-line bg-panel outline-offset-0"
    >
      <div className="sticky top-0 z-10 flex flex-wrap items-center gap-x-2 border-b border-line bg-panel px-2 py-1 max-md:top-12">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          data-row
          className="flex min-h-8 min-w-0 flex-1 items-center gap-1.5 text-left max-sm:min-h-11"
        >
          <ChevronRight aria-hidden size={14} className={`shrink-0 text-faint ${open ? "rotate-90" : ""}`} />
          <span className="min-w-0 font-mono text-xs">
            <span className="text-dim">{file.path.slice(0, slash)}</span>
            <b className="font-semibold">{file.path.slice(slash)}</b>
          </span>
        </button>
        <CopyButton text={file.path} label="Copy the path" />
        {STATUS[file.status] && <Badge>{STATUS[file.status]}</Badge>}
        <Amount file={file} />
        <label className="inline-flex min-h-8 items-center gap-1.5 text-sm text-dim max-sm:min-h-11">
          <input
            type="checkbox"
            checked={viewed}
            onChange={() => {
              setOpen(viewed);
              review.toggleViewed(file.path);
            }}
            className="size-4 accent-accent"
          />
          Viewed
        </label>
      </div>
      {open && near && <Hunks file={file} split={split} review={review} />}
      {open && !near && <div style={{ height: heightOf(file, split) }} />}
      {!open && because && !viewed && (
        <p className="px-3 py-2 text-sm text-dim">
          {because}{" "}
          {file.hunks.length > 0 && (
            <button type="button" className="underline" onClick={() => setOpen(true)}>
              Show it
            </button>
          )}
        </p>
      )}
    </section>
  );
}

/** Moves from line to line of the file with the arrow keys, except inside fields. */
function walkLines(event: KeyboardEvent<HTMLElement>): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by || event.target instanceof HTMLTextAreaElement) return;
  const lines = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-comment]")];
  const at = event.target instanceof HTMLElement ? lines.indexOf(event.target) : -1;
  const next = lines[at + by];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function Hunks({ file, split, review }: Props) {
  const hunks = useMemo(() => file.hunks.map(numberLines), [file.hunks]);
  const paint = usePaint(file.path, hunks);
  // A file that is new or deleted has only one side.
  const sides = file.status === "added" ? "new" : file.status === "deleted" ? "gone" : split ? "split" : "both";
  const drafts = `comment/${review.work}/${file.path}/`;
  // After a reload, an unfinished comment is open again.
  const [at, setAt] = useState<{ line: string; before?: Comment } | null>(() => {
    const line = draftKeys(drafts)[0]?.slice(drafts.length);
    return line && /^(new|old) \d+$/.test(line) ? { line } : null;
  });
  const box = useRef<HTMLDivElement>(null);
  const close = () => {
    // Return the focus to the line.
    box.current?.querySelector<HTMLElement>(`[data-comment="${at?.line}"]`)?.focus();
    setAt(null);
  };
  if (file.hunks.length === 0)
    return (
      <p className="px-3 py-2 text-sm text-dim">
        {file.insertions === null ? "A binary file: its content is not shown." : "No line differs."}
      </p>
    );
  const noteAt = (line: Line): ReactNode => {
    if (line.kind === "note") return null;
    const key = lineKey(line);
    const here = review.all.filter((one) => standsAt(one, file, line));
    const editing = at?.line === key;
    if (here.length === 0 && !editing) return null;
    return (
      <>
        {here.map((one) =>
          editing && at.before?.id === one.id ? null : (
            <CommentNote
              key={one.id}
              comment={one}
              review={review}
              edit={() => setAt({ line: key, before: one })}
              {...(one === here.at(-1) && one.answer !== null ? { reply: () => setAt({ line: key }) } : {})}
            />
          ),
        )}
        {editing && (
          <CommentEditor
            key={at.before?.id ?? "new"}
            text={at.before?.body ?? ""}
            draftKey={at.before ? `${drafts}comment ${at.before.id}` : `${drafts}${key}`}
            save={(body) => review.save(file.path, line, body, at.before)}
            close={close}
          />
        )}
      </>
    );
  };
  const shared = { noteAt, paint, comment: review.mayComment ? (line: Line) => setAt({ line: lineKey(line) }) : null };
  return (
    <div ref={box} onCopy={copyCode} className="font-mono text-xs leading-6">
      {hunks.map(({ header, lines }, index) => (
        <div key={`${header}${index.toString()}`}>
          {/* Always rendered: an estimated heading height would shift the lines below it one frame after a scroll. */}
          <div className="border-y border-line bg-sunken px-3 py-0.5 text-faint select-none first:border-t-0">
            {header}
          </div>
          {sides === "split" ? (
            <SplitLines lines={lines} {...shared} />
          ) : (
            <UnifiedLines lines={lines} one={sides !== "both"} {...shared} />
          )}
        </div>
      ))}
      {file.cut && (
        <p className="border-t border-line px-3 py-2 font-sans text-sm text-dim">
          The rest of this file's change is not shown (
          {pluralize((file.insertions ?? 0) + (file.deletions ?? 0), "line")} in all). The patch has all of it.
        </p>
      )}
    </div>
  );
}

interface LinesProps {
  lines: Line[];
  paint: Paint;
  noteAt(line: Line): ReactNode;
  /** Null for people who may only read. */
  comment: ((line: Line) => void) | null;
}

const TONE = { same: "", gone: "bg-bad-soft", new: "bg-ok-soft", note: "text-faint" };
const MARK = { same: " ", gone: "−", new: "+", note: " " };

/** @param one all lines belong to one side, so there is only one column of numbers. */
function UnifiedLines({ lines, one, paint, noteAt, comment }: LinesProps & { one: boolean }) {
  const columns = one ? "grid-cols-[2.75rem_minmax(0,1fr)]" : "grid-cols-[2.75rem_2.75rem_minmax(0,1fr)]";
  return lines.map((line, at) => (
    <div key={`${line.before}/${line.after}/${at.toString()}`}>
      <div className={`group grid ${columns} ${TONE[line.kind]}`}>
        {line.kind === "gone" ? (
          <LineNumber of={line.before} line={line} comment={comment} />
        ) : (
          !one && <Counted of={line.before} />
        )}
        {line.kind !== "gone" && <LineNumber of={line.after} line={line} comment={comment} />}
        {line.kind === "gone" && !one && <span />}
        <Code line={line} paint={paint} />
      </div>
      {noteAt(line)}
    </div>
  ));
}

function SplitLines({ lines, paint, noteAt, comment }: LinesProps) {
  return sideBySide(lines).map(([left, right], at) => (
    <div key={`${left?.before}/${right?.after}/${at.toString()}`}>
      <div className="grid grid-cols-[2.75rem_minmax(0,1fr)_2.75rem_minmax(0,1fr)]">
        {[left, right].map((line, side) =>
          line ? (
            <div
              key={side.toString()}
              data-side={side}
              className={`group col-span-2 grid grid-cols-subgrid ${TONE[line.kind]} ${side === 1 ? "border-l border-line" : ""}`}
            >
              {/* An unchanged line can be commented on only on its new side. */}
              {side === 0 && line.kind === "same" ? (
                <Counted of={line.before} />
              ) : (
                <LineNumber of={side === 0 ? line.before : line.after} line={line} comment={comment} />
              )}
              <Code line={line} paint={paint} />
            </div>
          ) : (
            <div key={side.toString()} className={`col-span-2 bg-sunken ${side === 1 ? "border-l border-line" : ""}`} />
          ),
        )}
      </div>
      {left && left.kind === "gone" && noteAt(left)}
      {right && noteAt(right)}
    </div>
  ));
}

const Counted = ({ of }: { of: number | null }) => (
  <span className="pr-2 text-right text-faint tabular-nums select-none">{of}</span>
);

/** A line's number. It is a button for commenting while hovered or focused. */
function LineNumber({ of, line, comment }: Pick<LinesProps, "comment"> & { of: number | null; line: Line }) {
  if (line.kind === "note") return <span />;
  if (comment === null) return <Counted of={of} />;
  return (
    <button
      type="button"
      tabIndex={-1}
      data-comment={lineKey(line)}
      data-changed={line.kind === "same" ? undefined : ""}
      aria-label={`Comment on ${line.kind === "gone" ? "removed line" : "line"} ${of}`}
      onClick={() => comment(line)}
      className="relative flex justify-end pr-2 text-faint tabular-nums select-none hover:text-accent"
    >
      {of}
      <MessageSquarePlus
        aria-hidden
        size={14}
        className="absolute top-1 left-1 hidden text-accent group-hover:block group-focus-within:block"
      />
    </button>
  );
}

const WORD = { same: "", gone: "bg-bad-mark", new: "bg-ok-mark", note: "" };

const Code = ({ line, paint }: { line: Line; paint: Paint }) => (
  <span className="flex min-w-0">
    <span aria-hidden className="w-4 shrink-0 text-faint select-none">
      {MARK[line.kind]}
    </span>
    {line.kind !== "same" && (
      <span className="sr-only select-none">
        {line.kind === "gone" ? "removed" : line.kind === "new" ? "added" : ""}
      </span>
    )}
    <span data-code={line.kind === "note" ? undefined : ""} className="min-w-0 break-words whitespace-pre-wrap">
      <Pieces
        text={line.text}
        colors={paint.colors(line)}
        marks={paint.marks(line)}
        mark={`rounded-xs ${WORD[line.kind]}`}
      />
    </span>
  </span>
);
