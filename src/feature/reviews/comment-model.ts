/** Comments on what a run changed, and sending the run back with them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

const COMMENT_CHARACTERS = 10_000;
const Line = t.Integer({ minimum: 1, maximum: 10_000_000, description: "From 1, in the file as it is on that side." });
const Side = t.Union([t.Literal("new"), t.Literal("old")], {
  description: "`new`: the file as the run left it (default); `old`: as it was before.",
});

export const RunComment = t.Object(
  {
    id: t.String(),
    run_id: t.String(),
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
    sent_at: orNull(Time, { description: "When the run was sent back with it; null: not yet." }),
    answer: orNull(t.String({ description: "What the agent that worked on it answered; null: nothing yet." })),
    answered_by: orNull(t.String({ description: "Id of that agent." })),
    answered_at: orNull(Time),
  },
  { title: "RunComment" },
);
export type RunComment = Static<typeof RunComment>;

export const RunCommentCreate = t.Object({
  path: t.String({ minLength: 1, maxLength: 4_096, description: "A file of the run's diff." }),
  line: t.Optional(orNull(Line)),
  side: t.Optional(Side),
  body: t.String({ minLength: 1, maxLength: COMMENT_CHARACTERS, pattern: "\\S" }),
});
export type RunCommentCreate = Static<typeof RunCommentCreate>;

/** What an agent says to a comment. */
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
