/** The changes of runs and sessions, and merging them, as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { MERGE_STRATEGIES } from "../../core/merge-strategy.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { PageQuery } from "../../http/list.ts";

const Count = orNull(t.Integer({ description: "Number of lines; null for a binary file." }));
const changed = {
  path: t.String(),
  status: oneOf("added", "modified", "deleted", "type_changed"),
  insertions: Count,
  deletions: Count,
};
const Stats = t.Object({ files: t.Integer(), insertions: t.Integer(), deletions: t.Integer() });

/** Most files in one list. */
export const MAX_FILES = 5_000;
const workId = { work_id: t.String({ description: "The run or session that made the changes." }) };
const RunId = t.Object({ run_id: t.String() });
export const ChangedFiles = t.Object(
  {
    ...workId,
    head: t.String({ description: "Last commit of the branch." }),
    stats: Stats,
    items: t.Array(t.Object(changed), { description: `Changed files in git's order; at most ${MAX_FILES}.` }),
    next_cursor: orNull(t.String()),
  },
  { title: "ChangedFiles" },
);
export type ChangedFiles = Static<typeof ChangedFiles>;
export const RunFiles = t.Composite([RunId, ChangedFiles], { title: "RunFiles" });

export const Diff = t.Object(
  {
    ...workId,
    branch: t.String(),
    base: t.String({ description: "Commit with which the branch is compared." }),
    head: t.String({ description: "Last commit of the branch." }),
    merged_commit: orNull(t.String()),
    merged_into: orNull(t.String()),
    stats: Stats,
    items: t.Array(
      t.Object({
        ...changed,
        hunks: t.Array(t.Object({ header: t.String(), lines: t.Array(t.String()) })),
        cut: t.Boolean({ description: "Whether the diff of the file is longer than what is shown." }),
      }),
    ),
    next_cursor: orNull(t.String()),
  },
  { title: "Diff" },
);
export type Diff = Static<typeof Diff>;
export const RunDiff = t.Composite([RunId, Diff], { title: "RunDiff" });
export type RunDiff = Static<typeof RunDiff>;

export const DiffQuery = t.Object({
  ...PageQuery,
  path: t.Optional(t.String({ minLength: 1, maxLength: 4_096, description: "Only this file." })),
  format: t.Optional(oneOf("json", "patch")),
});

export const MergeRequest = t.Object({
  strategy: t.Optional(oneOf(...MERGE_STRATEGIES)),
  into: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 200,
      description: "Branch to merge into; by default the project's default branch.",
    }),
  ),
  message: t.Optional(t.String({ minLength: 1, maxLength: LIMITS.nameCharacters * 8 })),
  task: t.Optional(
    t.Boolean({ description: "Whether a conflict creates a task to solve it. The answer names the task." }),
  ),
  push: t.Optional(t.Boolean({ description: "Whether the branch is pushed to the repository afterwards." })),
});
export type MergeRequest = Static<typeof MergeRequest>;

export const Merged = t.Object(
  {
    ...workId,
    strategy: oneOf(...MERGE_STRATEGIES),
    into: t.String(),
    commit: t.String({ description: "New commit of the branch." }),
    pushed: t.Boolean(),
  },
  { title: "Merged" },
);
export type Merged = Static<typeof Merged>;
export const Merge = t.Composite([RunId, Merged], { title: "Merge" });
export type Merge = Static<typeof Merge>;

/** Work on a branch of a project. */
export const Changes = t.Object(
  {
    ...workId,
    kind: oneOf("run", "chat", "routine", "swarm", "spawn"),
    title: t.String({ description: "What the work was asked to do, in short." }),
    agent_id: orNull(
      t.String({ description: "Agent that did the work; null for a run, in which several agents may work." }),
    ),
    project_id: t.String(),
    branch: t.String(),
    base_commit: orNull(
      t.String({ description: "Commit with which the branch is compared; null if the work has not begun." }),
    ),
    notice: orNull(
      t.String({ description: "What the working copy lacks, or why the work began from an older commit." }),
    ),
    merged_commit: orNull(t.String()),
    merged_into: orNull(t.String()),
    at_work: t.Boolean({
      description: "Whether an agent may change the files now. The changes cannot be merged until that ends.",
    }),
    ended_at: orNull(Time, { description: "When the work ended; null if more work may follow." }),
  },
  { title: "Changes" },
);
export type Changes = Static<typeof Changes>;
