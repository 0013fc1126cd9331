/** The external agents that Skep knows by name. */
export const HARNESS_NAMES = ["opencode", "codex", "claude-code", "qwen", "pi"] as const;
export type HarnessName = (typeof HARNESS_NAMES)[number];

/** What can drive an agent in an eval; `acp` is the command that the agent's file names. */
export const EVAL_HARNESSES = ["builtin", ...HARNESS_NAMES, "acp"] as const;
export type EvalHarness = (typeof EVAL_HARNESSES)[number];

/** The image of agents with a harness that name none; `skep image build --harness` makes it. */
export const HARNESS_IMAGE = "skep/harness:latest";
