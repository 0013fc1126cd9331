/** Comments on the changes of a run or session, and sending the work back with them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

const COMMENT_CHARACTERS = 10_000;
const Line = t.Integer({
  minimum: 1,
  maximum: 10_000_000,
  description: "Line number, from 1, in the version of the file that `side` names.",
});
const Side = t.Union([t.Literal("new"), t.Literal("old")], {
  description: "Version of the file: `new` as the work left it (default), or `old` as it was before.",
});

export const Comment = t.Object(
  {
    id: t.String(),
    work_id: t.String({ description: "The run or session that made the changes." }),
    path: orNull(t.String({ description: "Path of the file; null if the comment is about all changes." })),
    line: orNull(t.Integer({ description: "Line of the file; null if the comment is about the whole file." })),
    side: Side,
    quote: orNull(t.String({ description: "Text of the line when the comment was written." })),
    body: t.String(),
    created_by: orNull(
      t.String({
        description:
          "User who wrote the comment; null for a reviewer on the code host, or if the server has no accounts.",
      }),
    ),
    codehost_login: orNull(t.String({ description: "Author on the code host; null if the comment was written here." })),
    url: orNull(t.String({ description: "Address of the comment on the code host." })),
    created_at: Time,
    sent_at: orNull(Time, { description: "When the work was sent back with the comment; null if it has not been." }),
    answer: orNull(
      t.String({ description: "Answer of the agent that worked on the comment; null if there is none yet." }),
    ),
    answered_by: orNull(t.String({ description: "Id of the agent that answered." })),
    answered_at: orNull(Time),
  },
  { title: "Comment" },
);
export type Comment = Static<typeof Comment>;
export const RunComment = t.Composite([t.Object({ run_id: t.String() }), Comment], { title: "RunComment" });
export type RunComment = Static<typeof RunComment>;

export const CommentCreate = t.Object({
  path: t.String({ minLength: 1, maxLength: 4_096, description: "Path of a file in the diff." }),
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
  from_step: t.Optional(
    t.String({ maxLength: 64, description: "Step from which to continue; by default all steps run again." }),
  ),
  message: t.Optional(
    t.String({
      minLength: 1,
      maxLength: COMMENT_CHARACTERS,
      description: "Message that the agent reads before the comments.",
    }),
  ),
});
export type SendBack = Static<typeof SendBack>;
/** A request to send back a session, which has no steps. */
export const SendBackMessage = t.Omit(SendBack, ["from_step"]);
