/**
 * Comments on what a run changed, by users and by reviewers on the code host. What is open goes to its agents as guidance
 * when the run is sent back.
 */
import { and, asc, count, eq, gt, inArray, isNotNull, isNull } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import { conflict, forbidden, invalidField, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { OUTSIDE_SOURCES } from "../../core/outside-table.ts";
import { visibleText } from "../../core/outside-text.ts";
import { owns } from "../../core/ownership.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import { runComments } from "../../store/tables/reviews.ts";
import type { Run } from "../runs/model.ts";
import type { Runs } from "../runs/service.ts";
import type { RunRow } from "../runs/store.ts";
import type { RunViews } from "../runs/views.ts";
import type { CommentAnswer, RunComment, RunCommentCreate, SendBack } from "./comment-model.ts";
import { runCommented } from "./events.ts";
import { type CommentRow, guidanceOf } from "./guidance.ts";
import { type DiffLine, lineIn } from "./lines.ts";
import type { Merging } from "./merging.ts";

export interface CommentsDeps {
  store: Store;
  clock: Clock;
  views: Pick<RunViews, "rowFor">;
  runs: Pick<Runs, "sendBack">;
  rowOf(runId: string): RunOfComment | undefined;
  fileOf: Merging["file"];
  /** Masks secrets in what is stored. */
  mask(text: string): string;
}

type NewComment = Omit<
  CommentRow,
  "id" | "run_id" | "created_at" | "sent_at" | "answer" | "answered_by" | "answered_at"
>;
type RunOfComment = Pick<RunRow, "id" | "project_id" | "created_by">;

/** What somebody wrote about a pull request. */
export interface HostComment {
  /** Its id on the code host. */
  id: string;
  /** Login on the code host. */
  author: string;
  body: string;
  path: string | null;
  line: number | null;
  url: string;
}

export interface Comments {
  list(runId: string, page: Page, caller: Caller): ListAnswer<RunComment>;
  /**
   * Checks the line; the returned function writes the comment.
   * @throws Problem 404, 409 without a project or `too_many_comments`, 422 for a file or line that is not in the diff.
   */
  add(runId: string, input: RunCommentCreate, caller: Caller): Promise<() => RunComment>;
  /** Stores a reviewer's comment from the code host. @returns false when it is known, or the run has too many open ones. */
  addFromHost(run: RunOfComment, comment: HostComment): boolean;
  /** Whether it was stored before. */
  knows(runId: string, hostId: string): boolean;
  /** Whether there is a comment that the run was not sent back with. */
  hasOpen(runId: string): boolean;
  /** @throws Problem 404, 403 for another user's comments and those from the code host. */
  remove(runId: string, id: string, caller: Caller): void;
  /** Whether the run was sent back with comments that agents can answer. */
  hasSent(runId: string): boolean;
  /** An agent's answer to a comment that its run was sent back with; a later one takes its place. @throws Problem 404. */
  answer(run: string, agentId: string, input: CommentAnswer): void;
  /** Another attempt with the open comments as guidance. @throws Problem 409 `run_not_ended`, `no_comments`; 422. */
  sendBack(runId: string, input: SendBack, caller: Caller): Run;
}

/** Of one run. */
const OPEN_COMMENTS = 500;
const QUOTE_CHARACTERS = 500;

const present = ({ codehost_id: _, ...row }: CommentRow): RunComment => row;

export function createComments({ store, clock, views, runs, rowOf, fileOf, mask }: CommentsDeps): Comments {
  const { db } = store;
  const ofRun = (id: string) => eq(runComments.run_id, id);
  const isOpen = (id: string) => and(ofRun(id), isNull(runComments.sent_at));
  const full = (id: string): boolean =>
    db.select({ rows: count() }).from(runComments).where(isOpen(id)).get()!.rows >= OPEN_COMMENTS;
  const fromHost = (id: string, hostId: string) =>
    db
      .select()
      .from(runComments)
      .where(and(ofRun(id), eq(runComments.codehost_id, hostId)))
      .get();
  const open = (id: string): CommentRow[] =>
    db
      .select()
      .from(runComments)
      .where(isOpen(id))
      .orderBy(asc(runComments.path), asc(runComments.line), asc(runComments.id))
      .all();
  /** @throws Problem 422. */
  async function lineOf(id: string, { path, line, side = "new" }: RunCommentCreate, caller: Caller): Promise<DiffLine> {
    const file = await fileOf(id, path, caller);
    if (!file) throw invalidField("/path", "The run did not change this file");
    if (line === undefined || line === null) return { quote: null };
    const found = lineIn(file.hunks, line, side);
    if (!found && !file.cut) throw invalidField("/line", "This line is not in the diff; leave it out to name the file");
    return found ?? { quote: null };
  }
  const wasSent = (id: string) => and(ofRun(id), isNotNull(runComments.sent_at));
  const emit = (row: CommentRow, run: RunOfComment, change: "added" | "deleted" | "answered") =>
    store.write((tx) =>
      tx.emit(runCommented, {
        ...{ run_id: row.run_id, project_id: run.project_id ?? undefined, user_id: run.created_by ?? undefined },
        data: { comment_id: row.id, path: row.path, line: row.line, codehost_login: row.codehost_login, change },
      }),
    );
  /** Inside a transaction. */
  function insert(run: RunOfComment, fields: NewComment): CommentRow {
    const at = timestamp(clock.now());
    const unanswered = { answer: null, answered_by: null, answered_at: null };
    const row = { id: newId("comment"), run_id: run.id, ...fields, created_at: at, sent_at: null, ...unanswered };
    db.insert(runComments).values(row).run();
    emit(row, run, "added");
    return row;
  }
  return {
    list(runId, page, caller) {
      const { id } = views.rowFor(runId, caller);
      const where = and(ofRun(id), page.after === null ? undefined : gt(runComments.id, page.after));
      const found = db
        .select()
        .from(runComments)
        .where(where)
        .orderBy(asc(runComments.id))
        .limit(page.limit + 1)
        .all();
      return listAnswer(found, page, (row) => row.id, present);
    },
    async add(runId, input, caller) {
      const run = views.rowFor(runId, caller);
      const { quote } = await lineOf(run.id, input, caller);
      const write = () => {
        if (full(run.id))
          throw conflict(
            `A run has at most ${OPEN_COMMENTS} open comments. Delete some, or send it back.`,
            "too_many_comments",
          );
        const row = insert(run, {
          ...{ path: input.path, line: input.line ?? null, side: input.side ?? "new" },
          ...{ quote: quote === null ? null : mask(quote).slice(0, QUOTE_CHARACTERS), body: mask(input.body) },
          ...{ created_by: caller.userId ?? null, codehost_login: null, codehost_id: null, url: null },
        });
        return present(row);
      };
      return () => store.write(write);
    },
    addFromHost(run, { id, author, body, path, line, url }) {
      return store.write(() => {
        if (fromHost(run.id, id) || full(run.id)) return false;
        insert(run, {
          ...{ path, line, side: "new", quote: null, created_by: null, codehost_login: author, codehost_id: id },
          body: mask(visibleText(body)).slice(0, LIMITS.outsideTextCharacters),
          url: /^https?:\/\//.test(url) ? url : null,
        });
        return true;
      });
    },
    knows: (runId, hostId) => fromHost(runId, hostId) !== undefined,
    hasOpen: (runId) =>
      db.select({ id: runComments.id }).from(runComments).where(isOpen(runId)).limit(1).get() !== undefined,
    hasSent: (runId) =>
      db.select({ id: runComments.id }).from(runComments).where(wasSent(runId)).limit(1).get() !== undefined,
    answer(runId, agentId, { comment_id, answer }) {
      store.write(() => {
        const row = db
          .select()
          .from(runComments)
          .where(and(wasSent(runId), eq(runComments.id, comment_id)))
          .get();
        const run = rowOf(runId);
        if (!row || !run) throw notFound("comment that this run was sent back with");
        const fields = { answer: mask(answer), answered_by: agentId, answered_at: timestamp(clock.now()) };
        db.update(runComments).set(fields).where(eq(runComments.id, comment_id)).run();
        emit(row, run, "answered");
      });
    },
    remove(runId, id, caller) {
      const run = views.rowFor(runId, caller);
      store.write(() => {
        const row = db
          .select()
          .from(runComments)
          .where(and(ofRun(run.id), eq(runComments.id, id)))
          .get();
        if (!row) throw notFound("comment of this run");
        if (row.codehost_login !== null) throw forbidden("It was written on the code host and stays.");
        if (!caller.admin && !owns(caller, row.created_by)) throw forbidden("Only its author deletes a comment.");
        db.delete(runComments).where(eq(runComments.id, id)).run();
        emit(row, run, "deleted");
      });
    },
    sendBack(runId, { from_step, message }, caller) {
      const { id } = views.rowFor(runId, caller);
      return store.write(() => {
        const comments = open(id);
        if (comments.length === 0 && message === undefined)
          throw conflict("There is nothing to send back: no open comment and no message.", "no_comments");
        const { text, sent } = guidanceOf(comments, message, mask);
        const isOutside = comments.some((one) => one.codehost_login !== null && sent.includes(one.id));
        const outside = isOutside ? OUTSIDE_SOURCES.review : undefined;
        const run = runs.sendBack(id, { guidance: text, from_step, outside }, caller);
        db.update(runComments)
          .set({ sent_at: timestamp(clock.now()) })
          .where(and(ofRun(id), inArray(runComments.id, sent)))
          .run();
        return run;
      });
    },
  };
}
