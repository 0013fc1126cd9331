/**
 * External agents that use a person's own log-in: the program asks its vendor, not the model gateway. The log-in is
 * kept only in the container's memory, never in a folder on the server's disk.
 */
import { hasOwnLogin, OWN_LOGINS, type OwnLoginName } from "../../core/harness-names.ts";
import { type Launch, NO_PROJECT_DOCUMENTS, opencodeWith } from "./definitions.ts";

interface LoginPlace {
  model: string;
  /** As in `LaunchPlace`. */
  state: string;
  /** The log-in that the person has stored. */
  login: string;
}

const quoteToml = (value: string): string => JSON.stringify(value);

/**
 * The vendor's name for the model when the agent's model is that vendor's; undefined leaves the program at its default.
 */
function modelAt(name: OwnLoginName, model: string): string | undefined {
  const head = `${OWN_LOGINS[name].provider}/`;
  return model.startsWith(head) ? model.slice(head.length) : undefined;
}

function codex({ model, state, login }: LoginPlace): Launch {
  const home = `${state}/codex`;
  const named = modelAt("codex", model);
  const config = [
    ...(named === undefined ? [] : [`model = ${quoteToml(named)}`]),
    'cli_auth_credentials_store = "file"',
    // The container already isolates the program.
    'sandbox_mode = "danger-full-access"',
    'approval_policy = "on-request"',
    "check_for_update_on_startup = false",
    NO_PROJECT_DOCUMENTS,
    "[analytics]",
    "enabled = false",
    "",
  ];
  return {
    argv: ["codex-acp"],
    env: { CODEX_HOME: home, CODEX_PATH: "codex", INITIAL_AGENT_MODE: "agent-full-access" },
    files: { [`${home}/config.toml`]: config.join("\n"), "~/.skep-login": login },
    links: { [`${home}/auth.json`]: "~/.skep-login" },
  };
}

function claudeCode({ model, state, login }: LoginPlace): Launch {
  const named = modelAt("claude-code", model);
  return {
    argv: ["claude-agent-acp"],
    env: {
      CLAUDE_CODE_OAUTH_TOKEN: login,
      ...(named === undefined ? {} : { ANTHROPIC_MODEL: named }),
      CLAUDE_CONFIG_DIR: `${state}/claude`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    },
    files: {},
  };
}

function opencode({ model, state, login }: LoginPlace): Launch {
  const named = modelAt("opencode", model);
  const config = {
    enabled_providers: ["opencode"],
    ...(named === undefined ? {} : { model: `opencode/${named}` }),
  };
  return opencodeWith(state, config, { OPENCODE_AUTH_CONTENT: login });
}

const DEFINITIONS: Record<OwnLoginName, (place: LoginPlace) => Launch> = {
  codex,
  "claude-code": claudeCode,
  opencode,
};

/** How a program that asks its vendor is started. */
export const launchWithLogin = (harness: OwnLoginName, place: LoginPlace): Launch => DEFINITIONS[harness](place);

/** Provider and model that are logged for calls that the vendor answered. */
export const loginModel = (harness: string, model: string): { provider: string; model: string } => {
  const provider = hasOwnLogin(harness) ? OWN_LOGINS[harness].provider : harness;
  const named = hasOwnLogin(harness) ? modelAt(harness, model) : undefined;
  return { provider, model: `${provider}/${named ?? "default"}` };
};

/** Names that the vendor's program may have for the model; empty when the program uses its default. */
export function vendorNames(harness: string, model: string): string[] {
  const named = hasOwnLogin(harness) ? modelAt(harness, model) : undefined;
  return named === undefined ? [] : [model, named];
}

/** The note about the log-in that is put into the transcript at the start. */
export const loginNote = (harness: string): string =>
  `${harness} works with your own log-in at its vendor. Skep cannot meter that: no budget stops it, only its time limit and its max_turns do.`;
