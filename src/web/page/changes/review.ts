/**
 * A review of changes: comments, which the server stores with the work, and the files marked as read, stored in this
 * browser.
 */
import { useCallback, useEffect, useMemo, useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { refresh, usePages } from "../../api/queries.ts";
import type { FileChange, Line } from "./lines.ts";

export type Comment = Schemas["Comment"];
/** The work that made the changes, as far as a review needs it. */
export type Work = Pick<Schemas["Changes"], "work_id" | "kind" | "project_id" | "branch" | "title" | "at_work">;

interface Kept {
  /** Paths that were read, at the commit `head`. */
  viewed: string[];
  head: string;
}

export interface Review {
  /** Id of the run or session that is reviewed. */
  work: string;
  /** Comments that were not sent back to the agent yet. */
  comments: Comment[];
  /** All comments: also those that were sent back before. */
  all: Comment[];
  viewed: ReadonlySet<string>;
  /** Whether the person may write comments here. */
  mayComment: boolean;
  /** Adds a comment at a line, or replaces the comment `before`. @throws Problem. */
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
    // After a new commit, the files have to be read again.
    if (kept?.head === head) return kept;
  } catch {}
  return { viewed: [], head };
}

/** All comments of the work, including those that were sent back. */
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
  // Keep the same object while nothing changes, so that files do not render again.
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

/**
 * Whether the comment belongs at this line. One that was sent back stays there only while the line's text is unchanged.
 */
export const standsAt = ({ path, line, side, quote, sent_at }: Comment, file: FileChange, at: Line): boolean =>
  path === file.path &&
  at.kind !== "note" &&
  line !== null &&
  line === (side === "old" ? at.before : at.after) &&
  (sent_at === null || quote === null || quote === at.text);
