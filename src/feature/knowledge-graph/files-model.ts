/** What the indexer did with each file, as the API shows it. */
import { Type as t } from "@sinclair/typebox";

export const Skipped = t.Array(t.Object({ path: t.String(), reason: t.String() }), {
  description: "The first 1,000 skipped files.",
});
export const Failed = t.Array(t.Object({ path: t.String(), error: t.String() }));
export const Unread = t.Object(
  {
    files: t.Integer(),
    lines: t.Integer(),
    share: t.Number({ minimum: 0, maximum: 1, description: "Share of all lines, from 0 to 1." }),
    worst: t.Array(t.Object({ path: t.String(), lines: t.Integer(), of: t.Integer() }), {
      description: "The 100 files with the most such lines.",
    }),
  },
  { description: "Lines that a parser could not read. Answers may lack what these lines contain." },
);
