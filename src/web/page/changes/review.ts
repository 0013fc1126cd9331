/** What people note while reading changes: comments, kept with the work, and files read, kept in this browser. */
import { useCallback, useEffect, useMemo, useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { refresh, usePages } from "../../api/queries.ts";
import type { FileChange, Line } from "./lines.ts";

export type Comment = Schemas["Comment"];
/** What was changed by whom, as far as a review needs it. */
export type Work = Pick<Schemas["Changes"], "work_id" | "kind" | "project_id" | "branch" | "title" | "at_work">;

interface Kept {
  /** Paths read, at the commit they were read at. */
  viewed: string[];
  head: string;
}

export interface Review {
  /** Id of the run or session that is reviewed. */
  work: string;
  /** Comments that the work was not yet sent back with. */
  comments: Comment[];
  /** Those, and the ones that it was sent back with before. */
  all: Comment[];
  viewed: ReadonlySet<string>;
  /** Whether one may write comments here. */
  mayComment: boolean;
  /** Writes a comment at a line, or changes the text of `before`. @throws Problem. */
  save(path: string, line: Line, body: string, before?: Comment): Promise<void>;
  /** @throws Problem. */
  remove(comment: Comment): Promise<void>;
  toggleViewed(path: string): void;
}

const COMMENTS = "/v1/changes/{id}/comments";
const PAGE = 200;
const keyOf = (work: string) => `skep-review-${work}`;

function read(work: string, head: string): Kept {
  try {
    const kept: Kept | null = JSON.parse(localStorage.getItem(keyOf(work)) ?? "null");
    // A new commit is a new change: files have to be read again.
    if (kept?.head === head) return kept;
  } catch {}
  return { viewed: [], head };
}

/** All comments, sent ones too. */
function useComments(work: string): Comment[] {
  const { rows, hasNextPage, isFetchingNextPage, fetchNextPage } = usePages(COMMENTS, {
    path: { id: work },
    query: { limit: PAGE },
  });
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return rows;
}

export function useReview(work: string, head: string, mayComment: boolean): Review {
  const [kept, setKept] = useState(() => read(work, head));
  const all = useComments(work);
  const toggleViewed = useCallback(
    (path: string) =>
      setKept((old) => {
        const viewed = old.viewed.includes(path) ? old.viewed.filter((one) => one !== path) : [...old.viewed, path];
        if (viewed.length === 0) localStorage.removeItem(keyOf(work));
        else localStorage.setItem(keyOf(work), JSON.stringify({ ...old, viewed }));
        return { ...old, viewed };
      }),
    [work],
  );
  // The same one until something of it changes: a file that is shown is not drawn again for nothing.
  return useMemo(() => {
    const erase = ({ id }: Comment) =>
      must(client.DELETE("/v1/changes/{id}/comments/{comment_id}", { params: { path: { id: work, comment_id: id } } }));
    return {
      work,
      comments: all.filter(({ sent_at }) => sent_at === null),
      all,
      viewed: new Set(kept.viewed),
      mayComment,
      async save(path, line, body, before) {
        const place = line.after === null ? { line: line.before, side: "old" as const } : { line: line.after };
        await must(client.POST(COMMENTS, { params: { path: { id: work } }, body: { path, ...place, body } }));
        if (before) await erase(before);
        await refresh(COMMENTS);
      },
      async remove(comment) {
        await erase(comment);
        await refresh(COMMENTS);
      },
      toggleViewed,
    };
  }, [work, all, kept, mayComment, toggleViewed]);
}

/** Whether the comment is at this line. One that was sent stands there while the line says what it said. */
export const standsAt = ({ path, line, side, quote, sent_at }: Comment, file: FileChange, at: Line): boolean =>
  path === file.path &&
  at.kind !== "note" &&
  line !== null &&
  line === (side === "old" ? at.before : at.after) &&
  (sent_at === null || quote === null || quote === at.text);
