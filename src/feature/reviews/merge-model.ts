/** What a run changed, and merging it into a branch. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { MERGE_STRATEGIES } from "../../core/merge-strategy.ts";
import { oneOf, orNull } from "../../core/schema.ts";
import { PageQuery } from "../../http/list.ts";

const Count = orNull(t.Integer({ description: "Lines; null for a binary file." }));
const changed = {
  path: t.String(),
  status: oneOf("added", "modified", "deleted", "type_changed"),
  insertions: Count,
  deletions: Count,
};
const Stats = t.Object({ files: t.Integer(), insertions: t.Integer(), deletions: t.Integer() });

/** Files that are listed at once. */
export const MAX_FILES = 5_000;
export const RunFiles = t.Object(
  {
    run_id: t.String(),
    head: t.String({ description: "Last commit of its branch." }),
    stats: Stats,
    items: t.Array(t.Object(changed), { description: `In git's order; at most ${MAX_FILES}.` }),
    next_cursor: orNull(t.String()),
  },
  { title: "RunFiles" },
);
export type RunFiles = Static<typeof RunFiles>;

export const RunDiff = t.Object(
  {
    run_id: t.String(),
    branch: t.String(),
    base: t.String({ description: "Commit that the run began from." }),
    head: t.String({ description: "Last commit of its branch." }),
    merged_commit: orNull(t.String()),
    merged_into: orNull(t.String()),
    stats: Stats,
    items: t.Array(
      t.Object({
        ...changed,
        hunks: t.Array(t.Object({ header: t.String(), lines: t.Array(t.String()) })),
        cut: t.Boolean({ description: "The file's change is longer than what is shown." }),
      }),
    ),
    next_cursor: orNull(t.String()),
  },
  { title: "RunDiff" },
);
export type RunDiff = Static<typeof RunDiff>;

export const DiffQuery = t.Object({
  ...PageQuery,
  path: t.Optional(t.String({ minLength: 1, maxLength: 4_096, description: "This file alone." })),
  format: t.Optional(oneOf("json", "patch")),
});

export const RunMerge = t.Object({
  strategy: t.Optional(oneOf(...MERGE_STRATEGIES)),
  into: t.Optional(t.String({ minLength: 1, maxLength: 200, description: "Branch; the project's default if absent." })),
  message: t.Optional(t.String({ minLength: 1, maxLength: LIMITS.nameCharacters * 8 })),
  task: t.Optional(t.Boolean({ description: "On a conflict: create a task for solving it, named in the answer." })),
  push: t.Optional(t.Boolean({ description: "Push the branch to the repository afterwards." })),
});
export type RunMerge = Static<typeof RunMerge>;

export const Merge = t.Object(
  {
    run_id: t.String(),
    strategy: oneOf(...MERGE_STRATEGIES),
    into: t.String(),
    commit: t.String({ description: "The branch's new commit." }),
    pushed: t.Boolean(),
  },
  { title: "Merge" },
);
export type Merge = Static<typeof Merge>;
