/** Comments on changes: a comment, the editor of one, and the comments that belong to no visible line. */
import { useId, useState } from "react";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { Actor } from "../../session/actor.tsx";
import { useAdmin, useOwnId } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { useDraft } from "../../ui/draft.ts";
import { TextArea } from "../../ui/field.tsx";
import { pluralize } from "../../ui/format.ts";
import { MarkdownText } from "../../ui/markdown-text.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Ago } from "../../ui/time.tsx";
import { type FileChange, numberLines } from "./lines.ts";
import { type Comment, type Review, standsAt } from "./review.ts";

interface NoteProps {
  comment: Comment;
  review: Review;
  /** Opens one's own comment for editing. */
  edit?: () => void;
  /** Begins the next comment in the thread. */
  reply?: () => void;
}

/** A comment, and below it the answer of the agent that worked on it. */
export function CommentNote({ comment, review, edit, reply }: NoteProps) {
  const ownId = useOwnId();
  const admin = useAdmin();
  const [deleting, setDeleting] = useState(false);
  const { codehost_login, created_by, created_at, url, body, sent_at, answer, answered_by, answered_at } = comment;
  const own = codehost_login === null && created_by === ownId;
  const isOpen = sent_at === null;
  return (
    <div className="border-y border-wait/40 bg-wait-soft px-3 py-2 font-sans text-sm">
      <div className="flex flex-wrap items-baseline gap-x-2">
        <p className="min-w-0 flex-1 text-xs text-dim">
          <b className="font-medium text-ink">
            {own ? "You" : codehost_login === null ? <Actor id={created_by ?? "local"} /> : codehost_login}
          </b>
          {codehost_login !== null && " on the code host"} <Ago at={created_at} sentence />
          {url && (
            <>
              {" · "}
              <a href={url} target="_blank" rel="noreferrer" className="underline">
                Open
              </a>
            </>
          )}
          {!isOpen && answer === null && (
            <>
              {" · Sent to the agents "}
              <Ago at={sent_at} sentence />
            </>
          )}
        </p>
        {own && edit && isOpen && review.mayComment && (
          <button type="button" className="underline max-sm:min-h-11" onClick={edit}>
            Edit
          </button>
        )}
        {codehost_login === null && isOpen && (own || admin) && (
          <button type="button" className="underline max-sm:min-h-11" onClick={() => setDeleting(true)}>
            Delete
          </button>
        )}
      </div>
      <p className="mt-0.5 break-words whitespace-pre-wrap">{body}</p>
      {answer !== null && (
        <div className="mt-2 border-l-2 border-wait/60 pl-3">
          <p className="text-xs text-dim">
            <b className="font-medium text-ink">
              <Actor id={answered_by ?? "agent"} />
            </b>{" "}
            answered <Ago at={answered_at} sentence />
          </p>
          <MarkdownText text={answer} />
          {reply && review.mayComment && (
            <button type="button" className="mt-1 underline max-sm:min-h-11" onClick={reply}>
              Reply
            </button>
          )}
        </div>
      )}
      {deleting && (
        <Confirm
          title="Delete the comment?"
          word="Delete the comment"
          onClose={() => setDeleting(false)}
          changes={[]}
          act={() => review.remove(comment)}
        >
          It cannot be brought back.
        </Confirm>
      )}
    </div>
  );
}

export function CommentEditor({
  text,
  draftKey,
  save,
  close,
}: {
  text: string;
  /** Key under which the unfinished text is stored. */
  draftKey: string;
  save(body: string): Promise<void>;
  close(): void;
}) {
  const { text: draft, set: setDraft, clear, isChanged } = useDraft(draftKey, { saved: text, what: "a comment" });
  const [missing, setMissing] = useState(false);
  const missingId = useId();
  const action = useChange();
  const keep = async () => {
    if (action.busy) return;
    if (draft.trim() === "") return setMissing(true);
    if (draft === text) return close();
    if (!(await action.run(() => save(draft)))) return;
    clear();
    close();
  };
  return (
    <div className="border-y border-line bg-sunken p-2 font-sans">
      <TextArea
        rows={2}
        autoFocus
        aria-label="Comment"
        aria-invalid={missing || undefined}
        aria-describedby={missing ? missingId : undefined}
        value={draft}
        onChange={(event) => {
          setDraft(event.target.value);
          setMissing(false);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void keep();
        }}
        placeholder="What should be different here?"
      />
      {missing && (
        <p id={missingId} role="alert" className="mt-1 text-sm text-bad">
          Write the comment first{text ? ", or delete it" : ""}.
        </p>
      )}
      <ProblemNote error={action.error} />
      <div className="mt-1 flex justify-end gap-2">
        {isChanged && (
          <Button
            label="Discard"
            kind="quiet"
            onClick={() => {
              clear();
              close();
            }}
          />
        )}
        <Button onClick={close}>{isChanged ? "Close, keep the draft" : "Cancel"}</Button>
        <Button label="Keep the comment" kind="primary" busy={action.busy} onClick={() => void keep()} />
      </div>
    </div>
  );
}

function isShown(comment: Comment, files: FileChange[]): boolean {
  const file = files.find(({ path }) => path === comment.path);
  return file?.hunks.some((hunk) => numberLines(hunk).lines.some((line) => standsAt(comment, file, line))) ?? false;
}

/** Comments on the whole change or a whole file, and on lines that are not shown. */
export function OtherComments({ files, review }: { files: FileChange[]; review: Review }) {
  const others = review.all.filter((comment) => !isShown(comment, files));
  const open = others.filter(({ sent_at }) => sent_at === null);
  const sent = others.filter(({ sent_at }) => sent_at !== null);
  return (
    <>
      <CommentList comments={open} review={review} />
      {sent.length > 0 && (
        <details className="mb-4">
          <summary className="text-sm text-dim">
            {pluralize(sent.length, "comment")} sent before, on lines that are different now
          </summary>
          <CommentList comments={sent} review={review} />
        </details>
      )}
    </>
  );
}

function CommentList({ comments, review }: { comments: Comment[]; review: Review }) {
  if (comments.length === 0) return null;
  return (
    <section aria-label="Comments" className="mb-4 overflow-clip rounded-lg border border-line bg-panel">
      {comments.map((comment) => (
        <div key={comment.id}>
          {comment.path !== null && (
            <p className="px-3 pt-1.5 font-mono text-xs text-dim">
              {comment.path}
              {comment.line !== null && `:${comment.line}`}
              {comment.side === "old" && " (before the change)"}
            </p>
          )}
          <CommentNote comment={comment} review={review} />
        </div>
      ))}
    </section>
  );
}
