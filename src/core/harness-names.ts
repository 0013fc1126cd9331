/** The external agents that Skep knows by name. */
export const HARNESS_NAMES = ["opencode", "codex", "claude-code", "qwen", "pi"] as const;
export type HarnessName = (typeof HARNESS_NAMES)[number];

/** The image of agents with a harness that name none; `skep image build --harness` makes it. */
export const HARNESS_IMAGE = "skep/harness:latest";
