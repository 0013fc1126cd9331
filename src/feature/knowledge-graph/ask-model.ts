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
      description:
        "Subject of the question: a symbol (`path`, `tests`), the name of a key or variable (`reads`), or words (`flow`).",
    }),
  ),
  to: t.Optional(t.String({ minLength: 1, maxLength: 1_000, description: "Symbol at the other end of a `path`." })),
  path: t.Optional(
    t.String({ maxLength: 2_000, description: "Folder to which the questions `dead_code` and `cycles` are limited." }),
  ),
  limit: t.Optional(
    t.Integer({ minimum: 1, maximum: 200, default: 50, description: "Maximum number of entries in a group." }),
  ),
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
            via: t.Optional(t.String({ description: "How the previous entry is related to this one." })),
            depth: t.Optional(
              t.Integer({ description: "Number of calls between this entry and the subject of the question." }),
            ),
            text: t.Optional(t.String({ description: "Text of the line, without its indentation." })),
          }),
        ),
        total: t.Integer({ description: "Number of entries in the group, including those that are not shown." }),
      }),
    ),
    truncated: t.Boolean(),
  }),
  Candidates,
]);
