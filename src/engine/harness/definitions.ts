/** How each external agent that Skep knows by name is started, configured so that it asks only the model gateway. */

import type { HarnessName } from "../../core/harness-names.ts";
import { LIMITS } from "../../core/limits.ts";
import type { HarnessConfig } from "../agent-file.ts";

interface LaunchPlace {
  /** Address of the model gateway, without a path. */
  gateway: string;
  /** The execution's token. */
  token: string;
  model: string;
  /** Tokens that the model's server really accepts; undefined when unknown. */
  window?: number | undefined;
  /** Absolute path of the folder where the program may keep its state. */
  state: string;
}

export interface Launch {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  /**
   * Files by absolute path, written inside the sandbox before the program starts. `~/` is below its home, which is in
   * memory.
   */
  files: Readonly<Record<string, string>>;
  /** Symbolic links by absolute path; each leads to one of the files. */
  links?: Readonly<Record<string, string>>;
}

const formatJson = (value: unknown): string => JSON.stringify(value, null, 2);
/** Quotes a text as a TOML basic string; JSON strings have the same form. */
const quoteToml = (value: string): string => JSON.stringify(value);

/** One quarter of the context window, at most, is reserved for the reply. */
const REPLY_PART = 4;

/** opencode requires both limits when one is set. */
const opencodeLimit = (window: number | undefined) =>
  window === undefined
    ? {}
    : { limit: { context: window, output: Math.min(LIMITS.replyTokensAmple, Math.ceil(window / REPLY_PART)) } };

/**
 * At each start, opencode installs its plugin package into its configuration folder unless the lock file there names
 * it. Without a network, that attempt costs seconds of processor time. A fresh folder has no plugins of the user's own.
 */
const PLUGINS_INSTALLED: Readonly<Record<string, string>> = {
  "node_modules/.package-lock.json": "{}",
  "package-lock.json": formatJson({ packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } }),
};

/** Starts opencode with this configuration. */
export function opencodeWith(
  state: string,
  config: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
): Launch {
  const path = `${state}/opencode.json`;
  const installed = Object.entries(PLUGINS_INSTALLED).map(([name, text]) => [`${state}/config/opencode/${name}`, text]);
  // opencode asks about each of these, so that the agent's rules decide, no matter what another configuration says.
  const permission = { edit: "ask", bash: "ask", webfetch: "ask" };
  return {
    argv: ["opencode", "acp"],
    env: {
      ...env,
      OPENCODE_CONFIG: path,
      OPENCODE_PERMISSION: JSON.stringify(permission),
      // The repository's instructions are in the prompt, quoted. Its MCP servers and plugins must not start without a
      // person's approval.
      OPENCODE_DISABLE_PROJECT_CONFIG: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      XDG_DATA_HOME: `${state}/data`,
      XDG_CONFIG_HOME: `${state}/config`,
      XDG_STATE_HOME: `${state}/state`,
      XDG_CACHE_HOME: `${state}/cache`,
    },
    files: {
      [path]: formatJson({ autoupdate: false, share: "disabled", ...config, permission }),
      ...Object.fromEntries(installed),
    },
  };
}

const opencode = ({ gateway, token, model, state, window }: LaunchPlace): Launch =>
  opencodeWith(state, {
    model: `skep/${model}`,
    small_model: `skep/${model}`,
    enabled_providers: ["skep"],
    provider: {
      skep: {
        npm: "@ai-sdk/openai-compatible",
        name: "Skep",
        options: { baseURL: `${gateway}/v1`, apiKey: token },
        models: { [model]: { name: model, ...opencodeLimit(window) } },
      },
    },
  });

/**
 * The prompt quotes the repository's instructions from the commit where the work began. codex must not also read the
 * files, which the work may have changed.
 */
export const NO_PROJECT_DOCUMENTS = "project_doc_max_bytes = 0";

function codex({ gateway, token, model, state, window }: LaunchPlace): Launch {
  const home = `${state}/codex`;
  const config = [
    `model = ${quoteToml(model)}`,
    'model_provider = "skep"',
    ...(window === undefined ? [] : [`model_context_window = ${window}`]),
    // The container already isolates the program.
    'sandbox_mode = "danger-full-access"',
    'approval_policy = "on-request"',
    "check_for_update_on_startup = false",
    'web_search = "disabled"',
    NO_PROJECT_DOCUMENTS,
    "[analytics]",
    "enabled = false",
    "[model_providers.skep]",
    'name = "Skep"',
    `base_url = ${quoteToml(`${gateway}/v1`)}`,
    'env_key = "SKEP_GATEWAY_KEY"',
    'wire_api = "responses"',
    "",
  ];
  return {
    argv: ["codex-acp"],
    env: { CODEX_HOME: home, CODEX_PATH: "codex", INITIAL_AGENT_MODE: "agent-full-access", SKEP_GATEWAY_KEY: token },
    files: { [`${home}/config.toml`]: config.join("\n") },
  };
}

const claudeCode = ({ gateway, token, model, state }: LaunchPlace): Launch => ({
  argv: ["claude-agent-acp"],
  env: {
    ANTHROPIC_BASE_URL: gateway,
    ANTHROPIC_AUTH_TOKEN: token,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_SMALL_FAST_MODEL: model,
    CLAUDE_CONFIG_DIR: `${state}/claude`,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  },
  files: {},
});

function gemini({ gateway, token, model, state }: LaunchPlace): Launch {
  const home = `${state}/gemini`;
  const settings = {
    security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    model: { name: model },
    // Google would run these tools, and the gateway refuses both.
    tools: { exclude: ["google_web_search", "web_fetch"] },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    ide: { enabled: false },
  };
  return {
    argv: ["gemini", "--acp"],
    env: {
      GEMINI_API_KEY: token,
      GOOGLE_GEMINI_BASE_URL: gateway,
      GEMINI_CLI_HOME: home,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      NO_BROWSER: "1",
    },
    files: { [`${home}/.gemini/settings.json`]: formatJson(settings) },
  };
}

const openaiVariables = ({ gateway, token, model }: LaunchPlace) => ({
  OPENAI_BASE_URL: `${gateway}/v1`,
  OPENAI_API_KEY: token,
  OPENAI_MODEL: model,
});

const qwen = (place: LaunchPlace): Launch => ({
  argv: ["qwen", "--acp"],
  env: { ...openaiVariables(place), HOME: `${place.state}/home` },
  files: {
    [`${place.state}/home/.qwen/settings.json`]: formatJson({ security: { auth: { selectedType: "openai" } } }),
  },
});

function pi({ gateway, token, model, state }: LaunchPlace): Launch {
  const folder = `${state}/pi`;
  const provider = { baseUrl: `${gateway}/v1`, api: "openai-completions", apiKey: token, models: [{ id: model }] };
  return {
    argv: ["pi-acp"],
    env: { PI_CODING_AGENT_DIR: folder },
    files: {
      [`${folder}/models.json`]: formatJson({ providers: { skep: provider } }),
      [`${folder}/settings.json`]: formatJson({ defaultProvider: "skep", defaultModel: model }),
    },
  };
}

const DEFINITIONS: Record<HarnessName, (place: LaunchPlace) => Launch> = {
  opencode,
  codex,
  "claude-code": claudeCode,
  gemini,
  qwen,
  pi,
};

/**
 * How an agent's program is started. A program that the user provides gets the gateway in the usual environment
 * variables.
 */
export function launchOf(harness: Exclude<HarnessConfig, "builtin">, place: LaunchPlace): Launch {
  if (typeof harness === "string") return DEFINITIONS[harness](place);
  return {
    argv: harness.acp,
    env: {
      ...openaiVariables(place),
      ANTHROPIC_BASE_URL: place.gateway,
      ANTHROPIC_AUTH_TOKEN: place.token,
      ANTHROPIC_MODEL: place.model,
      GOOGLE_GEMINI_BASE_URL: place.gateway,
      GEMINI_API_KEY: place.token,
      GEMINI_MODEL: place.model,
    },
    files: {},
  };
}

/** The program's name as people see it. */
export const harnessTitle = (harness: HarnessConfig): string =>
  typeof harness === "string" ? harness : (harness.acp[0] ?? "");
