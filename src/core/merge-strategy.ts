/** How a run's commits get into a branch: with a merge commit, as a single commit, or replayed one after another. */
export const MERGE_STRATEGIES = ["merge", "squash", "rebase"] as const;
export type MergeStrategy = (typeof MERGE_STRATEGIES)[number];
