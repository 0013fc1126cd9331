/** How a run's work is taken into a branch: its commits with a merge commit, as one commit, or one after another. */
export const MERGE_STRATEGIES = ["merge", "squash", "rebase"] as const;
export type MergeStrategy = (typeof MERGE_STRATEGIES)[number];
