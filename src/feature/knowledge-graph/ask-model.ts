/** Questions about a project's code as a whole, as the API takes and answers them. */
import { Type as t } from "@sinclair/typebox";
import { oneOf } from "../../core/schema.ts";
import { QUESTIONS } from "../../graph/model.ts";
import { Candidates, GraphSymbol, Line } from "./model.ts";

export const AskRequest = t.Object({
  question: oneOf(...QUESTIONS),
  subject: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 1_000,
      description: "A symbol (`path`, `tests`), the name of a key or variable (`reads`), or words (`flow`).",
    }),
  ),
  to: t.Optional(t.String({ minLength: 1, maxLength: 1_000, description: "The other end of a `path`." })),
  path: t.Optional(t.String({ maxLength: 2_000, description: "Only below this folder: `dead_code`, `cycles`." })),
  limit: t.Optional(t.Integer({ minimum: 1, maximum: 200, default: 50, description: "Most entries of a group." })),
});

export const AskAnswer = t.Union([
  t.Object({
    question: oneOf(...QUESTIONS),
    summary: t.String({ description: "What was found, in one or two sentences." }),
    groups: t.Array(
      t.Object({
        title: t.String(),
        entries: t.Array(
          t.Object({
            symbol: GraphSymbol,
            line: t.Optional(Line),
            via: t.Optional(t.String({ description: "How the entry before is related to this one." })),
            depth: t.Optional(t.Integer({ description: "Calls between this and what was asked about." })),
            text: t.Optional(t.String({ description: "The line, without its indentation." })),
          }),
        ),
        total: t.Integer({ description: "Shown or not." }),
      }),
    ),
    truncated: t.Boolean(),
  }),
  Candidates,
]);
