/** The external agents that Skep knows by name. */
export const HARNESS_NAMES = ["opencode", "codex", "claude-code", "gemini", "qwen", "pi"] as const;
export type HarnessName = (typeof HARNESS_NAMES)[number];

/** What can drive an agent in an eval; `acp` is the command that the agent's file names. */
export const EVAL_HARNESSES = ["builtin", ...HARNESS_NAMES, "acp"] as const;
export type EvalHarness = (typeof EVAL_HARNESSES)[number];

/** Default image of agents that an external program drives; `skep image build --harness` builds it. */
export const HARNESS_IMAGE = "skep/harness:latest";

/** External agents that can work with a person's own log-in at their vendor instead of Skep's gateway. */
export const OWN_LOGIN_NAMES = ["codex", "claude-code", "opencode"] as const satisfies readonly HarnessName[];
export type OwnLoginName = (typeof OWN_LOGIN_NAMES)[number];

interface OwnLoginForm {
  /** What the log-in is and where to find it: words that follow "This is". */
  what: string;
  /** `json`: the content of a JSON file. `token`: one word. */
  form: "json" | "token";
  /** Provider whose models the vendor serves, as Skep names it. */
  provider: string;
  /** All hosts that the container may reach, in the form of an allow-list. */
  hosts: readonly string[];
}

export const OWN_LOGINS: Readonly<Record<OwnLoginName, OwnLoginForm>> = {
  codex: {
    what: "the text of ~/.codex/auth.json, which `codex login` writes",
    form: "json",
    provider: "openai",
    hosts: ["chatgpt.com:443", "auth.openai.com:443", "api.openai.com:443"],
  },
  "claude-code": {
    what: "the token that `claude setup-token` prints",
    form: "token",
    provider: "anthropic",
    hosts: ["api.anthropic.com:443"],
  },
  opencode: {
    what: "the text of ~/.local/share/opencode/auth.json with the key of opencode's own service",
    form: "json",
    provider: "opencode",
    hosts: ["opencode.ai:443"],
  },
};

export const hasOwnLogin = (name: unknown): name is OwnLoginName => OWN_LOGIN_NAMES.some((one) => one === name);
