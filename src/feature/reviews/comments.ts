/**
 * Comments on the changes of a run or session, by users and by reviewers on the code host. Open comments go to the
 * agents as guidance when the work is sent back.
 */
import { toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound, forbidden, invalidField } from "../../core/errors.ts";
import { isId, newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { OUTSIDE_SOURCES } from "../../core/outside-table.ts";
import { visibleText } from "../../core/outside-text.ts";
import { isOwner } from "../../core/ownership.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import { type Condition, matchInJson, seekAbove } from "../../store/reader.ts";
import { changeComments } from "../../store/tables/reviews.ts";
import type { Core } from "../feature.ts";
import type { WorkRow } from "../projects/works.ts";
import type { Comment, CommentAnswer, CommentCreate, SendBack } from "./comment-model.ts";
import { changesCommented, runCommented } from "./events.ts";
import { type CommentRow, guidanceOf } from "./guidance.ts";
import { type DiffLine, lineIn } from "./lines.ts";
import type { Merging } from "./merging.ts";
import type { Reviewed, ReviewedWork } from "./reviewed.ts";

interface CommentsDeps extends Pick<Core, "store" | "clock"> {
  reviewed: Pick<ReviewedWork, "work" | "find" | "loadUnchecked">;
  /** Has the agents work again with this guidance. Called inside a transaction. @throws Problem 409. */
  workAgain(work: WorkRow, guidance: Guidance, caller: Caller): void;
  fileOf: Merging["file"];
  /** Masks secrets in what is stored. */
  mask(text: string): string;
}

type NewComment = Omit<typeof changeComments.$inferInsert, "id" | "run_id" | "session_id" | "created_at">;
type CommentedWork = Pick<Reviewed, "id" | "project_id" | "user_id">;

export interface Guidance {
  text: string;
  /** The step from which a run continues. */
  from_step?: string | undefined;
  /** Why the guidance may repeat outside text, as a sentence. */
  outside?: string | undefined;
}

/** A comment on a pull request. */
interface HostComment {
  /** The comment's id on the code host. */
  id: string;
  /** The author's login on the code host. */
  author: string;
  body: string;
  path: string | null;
  line: number | null;
  url: string;
}

export type Comments = ReturnType<typeof createComments>;

/** Most open comments on one run or session. */
const OPEN_COMMENTS = 500;
const QUOTE_CHARACTERS = 500;

const present = ({ codehost_id: _, run_id, session_id, ...row }: CommentRow): Comment => ({
  work_id: run_id ?? session_id!,
  ...row,
});

export function createComments({ store, clock, reviewed, workAgain, fileOf, mask }: CommentsDeps) {
  const rows = store.rows(changeComments);
  const ofWork = (id: string) => (isId("run", id) ? { run_id: id } : { session_id: id });
  const ofOpen = (id: string) => ({ ...ofWork(id), sent_at: null });
  const isSent: Condition = ["sent_at IS NOT NULL"];
  const isFull = (id: string): boolean => rows.count(ofOpen(id)) >= OPEN_COMMENTS;
  const fromHost = (id: string, hostId: string) => rows.find({ ...ofWork(id), codehost_id: hostId });
  const open = (id: string): CommentRow[] => rows.list([ofOpen(id)], { order: "path, line, id" });
  /**
   * The line that a comment is about, with its text.
   * @throws Problem 422 for a file or line that is not in the changes.
   */
  async function lineOf(id: string, { path, line, side = "new" }: CommentCreate, caller: Caller): Promise<DiffLine> {
    const file = await fileOf(id, path, caller);
    if (!file) throw invalidField("/path", "This file was not changed");
    if (line === undefined || line === null) return { quote: null };
    const found = lineIn(file.hunks, line, side);
    if (!found && !file.cut) throw invalidField("/line", "This line is not in the diff; leave it out to name the file");
    return found ?? { quote: null };
  }
  const emit = (row: CommentRow, work: CommentedWork, change: "added" | "deleted" | "answered") =>
    store.write((tx) => {
      const about = { project_id: work.project_id, user_id: work.user_id ?? undefined };
      const data = { comment_id: row.id, path: row.path, line: row.line, codehost_login: row.codehost_login, change };
      if (row.run_id !== null) tx.emit(runCommented, { run_id: row.run_id, ...about, data });
      else tx.emit(changesCommented, { session_id: work.id, ...about, data });
    });
  /** Stores a comment. Called inside a transaction. */
  function insert(work: CommentedWork, fields: NewComment): CommentRow {
    const at = toTimestamp(clock.now());
    const row = rows.add({ id: newId("comment"), ...ofWork(work.id), ...fields, created_at: at });
    emit(row, work, "added");
    return row;
  }
  return {
    list(workId: string, page: Page, caller: Caller): ListAnswer<Comment> {
      const { id } = reviewed.find(workId, caller);
      const found = rows.list([ofWork(id), seekAbove("id", page)], { order: "id", limit: page.limit + 1 });
      return listById(found, page, present);
    },
    /**
     * Checks a comment's line.
     * @returns a function that stores the comment.
     * @throws Problem 404, 409 without a project or `too_many_comments`, 422 for a file or line that is not in the
     * diff.
     */
    async add(id: string, input: CommentCreate, caller: Caller): Promise<() => Comment> {
      const work = reviewed.find(id, caller);
      const { quote } = await lineOf(work.id, input, caller);
      const write = () => {
        if (isFull(work.id))
          throw conflict(
            `At most ${OPEN_COMMENTS} comments are open at once. Delete some, or send the work back.`,
            "too_many_comments",
          );
        const row = insert(work, {
          path: input.path,
          line: input.line ?? null,
          side: input.side ?? "new",
          quote: quote === null ? null : mask(quote).slice(0, QUOTE_CHARACTERS),
          body: mask(input.body),
          created_by: caller.userId ?? null,
        });
        return present(row);
      };
      return () => store.write(write);
    },
    /**
     * Stores a reviewer's comment from the code host.
     * @returns false when it is known, or the run has too many open comments.
     */
    addFromHost(run: { id: string }, { id, author, body, path, line, url }: HostComment): boolean {
      return store.write(() => {
        if (fromHost(run.id, id) || isFull(run.id)) return false;
        insert(reviewed.loadUnchecked(run.id), {
          path,
          line,
          side: "new",
          quote: null,
          created_by: null,
          codehost_login: author,
          codehost_id: id,
          body: mask(visibleText(body)).slice(0, LIMITS.outsideTextCharacters),
          url: /^https?:\/\//.test(url) ? url : null,
        });
        return true;
      });
    },
    /** Whether that comment from the code host is stored. */
    knows: (runId: string, hostId: string): boolean => fromHost(runId, hostId) !== undefined,
    /** Whether there is a comment that was not yet sent back to the agents. */
    hasOpen: (id: string): boolean => rows.find(ofOpen(id)) !== undefined,
    /** Whether the work was sent back with comments that agents can answer. */
    hasSent: (id: string): boolean => rows.find(ofWork(id), isSent) !== undefined,
    /**
     * Stores an agent's answer to a comment that its work was sent back with. A later answer replaces it.
     * @throws Problem 404.
     */
    answer(id: string, agentId: string, { comment_id, answer }: CommentAnswer): void {
      store.write(() => {
        const found = rows.find({ ...ofWork(id), id: comment_id }, isSent);
        const row = expectFound(found, "comment that this work was sent back with");
        const fields = { answer: mask(answer), answered_by: agentId, answered_at: toTimestamp(clock.now()) };
        rows.update(fields, { id: comment_id });
        emit(row, reviewed.loadUnchecked(id), "answered");
      });
    },
    /** @throws Problem 404, 403 for comments of other users and from the code host. */
    remove(workId: string, id: string, caller: Caller): void {
      const work = reviewed.find(workId, caller);
      store.write(() => {
        const row = expectFound(rows.find({ ...ofWork(work.id), id }), "comment on these changes");
        if (row.codehost_login !== null) throw forbidden("It was written on the code host and stays.");
        if (!caller.admin && !isOwner(caller, row.created_by)) throw forbidden("Only its author deletes a comment.");
        rows.remove({ id });
        emit(row, work, "deleted");
      });
    },
    /**
     * Has the agents work again with the open comments as guidance.
     * @throws Problem 409 `no_comments` and others; 422.
     */
    sendBack(workId: string, { from_step, message }: SendBack, caller: Caller): WorkRow {
      const work = reviewed.work(workId, caller);
      const { id } = work;
      return store.write(() => {
        const comments = open(id);
        if (comments.length === 0 && message === undefined)
          throw conflict("There is nothing to send back: no open comment and no message.", "no_comments");
        const { text, sent } = guidanceOf(comments, message, mask);
        const isOutside = comments.some((one) => one.codehost_login !== null && sent.includes(one.id));
        const outside = isOutside ? OUTSIDE_SOURCES.review : undefined;
        workAgain(work, { text, from_step, outside }, caller);
        rows.update({ sent_at: toTimestamp(clock.now()) }, ofWork(id), matchInJson("id", sent));
        return work;
      });
    },
  };
}
