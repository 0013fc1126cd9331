/** Comments on the lines that a run changed. What is open goes to its agents as guidance when the run is sent back. */
import { and, asc, count, eq, gt, isNull } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import { conflict, forbidden, invalidField, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { isRunEnd } from "../../core/run-states.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import { runComments } from "../../store/tables/reviews.ts";
import type { Run } from "../runs/model.ts";
import type { Runs } from "../runs/service.ts";
import type { RunViews } from "../runs/views.ts";
import type { RunComment, RunCommentCreate, SendBack } from "./comment-model.ts";
import { runCommented } from "./events.ts";
import { type DiffLine, lineIn } from "./lines.ts";
import type { Merging } from "./merging.ts";

export interface CommentsDeps {
  store: Store;
  clock: Clock;
  views: Pick<RunViews, "rowFor">;
  runs: Pick<Runs, "restart">;
  fileOf: Merging["file"];
  /** For what is quoted from files. */
  mask(text: string): string;
}

export interface Comments {
  list(runId: string, page: Page, caller: Caller): ListAnswer<RunComment>;
  /**
   * Looks at the line; what is returned writes the comment.
   * @throws Problem 404, 409 without a project or `too_many_comments`, 422 for a file or line that is not in the diff.
   */
  add(runId: string, input: RunCommentCreate, caller: Caller): Promise<() => RunComment>;
  /** @throws Problem 404, 403 for another's. */
  remove(runId: string, id: string, caller: Caller): void;
  /** Restarts the run with its open comments as guidance. @throws Problem 409 `run_not_ended`, `no_comments`; 422. */
  sendBack(runId: string, input: SendBack, caller: Caller): Run;
}

const PER_RUN = 500;
const QUOTE_CHARACTERS = 500;
/** Of the guidance of one sending back. */
const GUIDANCE_CHARACTERS = 50_000;
const GUIDANCE_QUOTE_CHARACTERS = 120;
type Row = typeof runComments.$inferSelect;

export function createComments({ store, clock, views, runs, fileOf, mask }: CommentsDeps): Comments {
  const { db } = store;
  const ofRun = (id: string) => eq(runComments.run_id, id);
  const open = (id: string): Row[] =>
    db
      .select()
      .from(runComments)
      .where(and(ofRun(id), isNull(runComments.sent_at)))
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
  const emit = (
    row: Row,
    owner: { project_id: string | null; created_by: string | null },
    change: "added" | "deleted",
  ) =>
    store.write((tx) =>
      tx.emit(runCommented, {
        ...{ run_id: row.run_id, project_id: owner.project_id ?? undefined, user_id: owner.created_by ?? undefined },
        data: { comment_id: row.id, path: row.path, line: row.line, change },
      }),
    );
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
      return listAnswer(
        found,
        page,
        (row) => row.id,
        (row) => row,
      );
    },
    async add(runId, input, caller) {
      const run = views.rowFor(runId, caller);
      const { quote } = await lineOf(run.id, input, caller);
      const write = () => {
        if (db.select({ rows: count() }).from(runComments).where(ofRun(run.id)).get()!.rows >= PER_RUN)
          throw conflict(`A run has at most ${PER_RUN} comments. Delete some, or send it back.`, "too_many_comments");
        const row: Row = {
          ...{ id: newId("comment"), run_id: run.id, path: input.path, line: input.line ?? null },
          ...{ side: input.side ?? "new", quote: quote === null ? null : mask(quote).slice(0, QUOTE_CHARACTERS) },
          ...{ body: mask(input.body), created_by: caller.userId ?? null, created_at: timestamp(clock.now()) },
          sent_at: null,
        };
        db.insert(runComments).values(row).run();
        emit(row, run, "added");
        return row;
      };
      return () => store.write(write);
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
        if (!caller.admin && row.created_by !== (caller.userId ?? null))
          throw forbidden("Only its author deletes a comment.");
        db.delete(runComments).where(eq(runComments.id, id)).run();
        emit(row, run, "deleted");
      });
    },
    sendBack(runId, { from_step, message }, caller) {
      const run = views.rowFor(runId, caller);
      return store.write(() => {
        if (!isRunEnd(run.status))
          throw conflict(`The run is ${run.status}. Send it back when it has ended.`, "run_not_ended");
        const comments = open(run.id);
        if (comments.length === 0 && message === undefined)
          throw conflict("There is nothing to send back: no open comment and no message.", "no_comments");
        const first = run.status === "succeeded" ? run.definition.steps[0]?.id : undefined;
        const from = from_step ?? first;
        const wish = {
          ...(from === undefined ? {} : { from_step: from }),
          human_context: guidanceOf(comments, message),
        };
        const sent = runs.restart(run.id, wish, caller);
        db.update(runComments)
          .set({ sent_at: timestamp(clock.now()) })
          .where(and(ofRun(run.id), isNull(runComments.sent_at)))
          .run();
        return sent;
      });
    },
  };
}

/** A line of a file is material: it stays inside its quotes, and short. */
const quoted = (line: string): string => `\`${line.trim().replaceAll("`", "'").slice(0, GUIDANCE_QUOTE_CHARACTERS)}\``;

/** What the agents read. */
export function guidanceOf(comments: readonly Row[], message: string | undefined): string {
  const head = "A person reviewed the changes of this run and sent it back.";
  const lines = comments.map(({ path, line, side, quote, body }) => {
    const place = line === null ? path : `${path}:${line}${side === "old" ? " (before the change)" : ""}`;
    return `- ${place}${quote === null ? "" : `, at ${quoted(quote)}`}: ${body.trim().replaceAll("\n", "\n  ")}`;
  });
  const list = lines.length === 0 ? [] : ["Settle each of these comments:", lines.join("\n")];
  const text = [head, message?.trim(), ...list].filter(Boolean).join("\n\n");
  return text.length > GUIDANCE_CHARACTERS ? `${text.slice(0, GUIDANCE_CHARACTERS)}\n… and more` : text;
}
