/** Comments on the changes of a run or session, and sending the work back with them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

const COMMENT_CHARACTERS = 10_000;
const Line = t.Integer({ minimum: 1, maximum: 10_000_000, description: "From 1, in the file as it is on that side." });
const Side = t.Union([t.Literal("new"), t.Literal("old")], {
  description: "`new`: the file as the work left it (default); `old`: as it was before.",
});

export const Comment = t.Object(
  {
    id: t.String(),
    work_id: t.String({ description: "The run or session that made the changes." }),
    path: orNull(t.String({ description: "Null: the change as a whole." })),
    line: orNull(t.Integer({ description: "Null: the file as a whole." })),
    side: Side,
    quote: orNull(t.String({ description: "The line's text when it was commented." })),
    body: t.String(),
    created_by: orNull(
      t.String({ description: "User who wrote it; null: a reviewer on the code host, or the server has no accounts." }),
    ),
    codehost_login: orNull(t.String({ description: "Its author on the code host; null: it was written here." })),
    url: orNull(t.String({ description: "Where it is on the code host." })),
    created_at: Time,
    sent_at: orNull(Time, { description: "When the work was sent back with it; null: not yet." }),
    answer: orNull(t.String({ description: "What the agent that worked on it answered; null: nothing yet." })),
    answered_by: orNull(t.String({ description: "Id of that agent." })),
    answered_at: orNull(Time),
  },
  { title: "Comment" },
);
export type Comment = Static<typeof Comment>;
export const RunComment = t.Composite([t.Object({ run_id: t.String() }), Comment], { title: "RunComment" });
export type RunComment = Static<typeof RunComment>;

export const CommentCreate = t.Object({
  path: t.String({ minLength: 1, maxLength: 4_096, description: "A file of the diff." }),
  line: t.Optional(orNull(Line)),
  side: t.Optional(Side),
  body: t.String({ minLength: 1, maxLength: COMMENT_CHARACTERS, pattern: "\\S" }),
});
export type CommentCreate = Static<typeof CommentCreate>;

/** An agent's answer to a comment. */
export const CommentAnswer = t.Object({
  comment_id: t.String({ minLength: 1, maxLength: 64, description: "As it stands before the comment: cmt_…" }),
  answer: t.String({
    minLength: 1,
    maxLength: 4_000,
    pattern: "\\S",
    description: "What you changed, or why nothing has to change. One to three sentences.",
  }),
});
export type CommentAnswer = Static<typeof CommentAnswer>;

export const SendBack = t.Object({
  from_step: t.Optional(t.String({ maxLength: 64, description: "Step to continue from; every step again if absent." })),
  message: t.Optional(
    t.String({ minLength: 1, maxLength: COMMENT_CHARACTERS, description: "Said before the comments." }),
  ),
});
export type SendBack = Static<typeof SendBack>;
/** A request to send back a session, which has no steps. */
export const SendBackMessage = t.Omit(SendBack, ["from_step"]);
