/** What a person notes while reading a run's changes: comments at lines, files that were read. Kept in this browser. */
import { useCallback, useState } from "react";

export interface Comment {
  path: string;
  /** As `lineKey` gives it. */
  line: string;
  /** The line itself, so that the agent finds it after others moved. */
  quote: string;
  text: string;
}

interface Kept {
  comments: Comment[];
  /** Paths read, at the commit they were read at. */
  viewed: string[];
  head: string;
}

export interface Review {
  comments: Comment[];
  viewed: ReadonlySet<string>;
  /** Sets the comment at a line; an empty text takes it away. */
  comment(comment: Comment): void;
  toggleViewed(path: string): void;
  clear(): void;
}

const keyOf = (run: string) => `skep-review-${run}`;

function read(run: string, head: string): Kept {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(run)) ?? "null") as Kept | null;
    // Another commit is another change: what was read is to be read again, comments stay.
    if (kept) return kept.head === head ? kept : { ...kept, head, viewed: [] };
  } catch {}
  return { comments: [], viewed: [], head };
}

export function useReview(run: string, head: string): Review {
  const [kept, setKept] = useState(() => read(run, head));
  const change = useCallback(
    (next: (old: Kept) => Kept) =>
      setKept((old) => {
        const now = next(old);
        if (now.comments.length + now.viewed.length === 0) localStorage.removeItem(keyOf(run));
        else localStorage.setItem(keyOf(run), JSON.stringify(now));
        return now;
      }),
    [run],
  );
  return {
    comments: kept.comments,
    viewed: new Set(kept.viewed),
    comment: (comment) =>
      change((old) => {
        const others = old.comments.filter(({ path, line }) => path !== comment.path || line !== comment.line);
        return { ...old, comments: comment.text.trim() ? [...others, comment] : others };
      }),
    toggleViewed: (path) =>
      change((old) => ({
        ...old,
        viewed: old.viewed.includes(path) ? old.viewed.filter((one) => one !== path) : [...old.viewed, path],
      })),
    clear: () => change((old) => ({ ...old, comments: [] })),
  };
}

/** All comments as the guidance that agents read. */
export function guidanceOf(comments: Comment[], remark: string): string {
  const parts = comments.map(({ path, line, quote, text }) => {
    const [side, number] = line.split(" ");
    return `${path}, line ${number}${side === "old" ? " before the change" : ""}:\n> ${quote}\n${text.trim()}`;
  });
  return [...(remark ? [remark] : []), ...(parts.length > 0 ? ["Comments on the changes:", ...parts] : [])].join(
    "\n\n",
  );
}
