/** The external agents that Skep knows by name: how each is started, so that it asks the model gateway and nobody else. */

import type { HarnessName } from "../../core/harness-names.ts";
import { LIMITS } from "../../core/limits.ts";
import type { HarnessConfig } from "../agent-file.ts";

interface LaunchPlace {
  /** Address of the model gateway, without a path. */
  gateway: string;
  /** The execution's token. */
  token: string;
  model: string;
  /** Tokens that the model's server really takes; undefined: unknown. */
  window?: number | undefined;
  /** Absolute path of the folder that it may keep things in. */
  state: string;
}

export interface Launch {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Texts by absolute path, written inside the sandbox before it starts. `~/`: below its home, which is memory. */
  files: Readonly<Record<string, string>>;
  /** Links by absolute path, to one of the files. */
  links?: Readonly<Record<string, string>>;
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);
/** A text in TOML's basic strings, which are JSON's. */
const toml = (value: string): string => JSON.stringify(value);

/** Of a window, at most so much is kept for the reply. */
const REPLY_PART = 4;

/** opencode wants both. */
const opencodeLimit = (window: number | undefined) =>
  window === undefined
    ? {}
    : { limit: { context: window, output: Math.min(LIMITS.replyTokensAmple, Math.ceil(window / REPLY_PART)) } };

/**
 * opencode installs its package for plugins into its folder of configuration at each start, unless the lock there names it;
 * without a network that costs seconds of processor time. Plugins of the user's own are none in a fresh folder.
 */
const PLUGINS_INSTALLED: Readonly<Record<string, string>> = {
  "node_modules/.package-lock.json": "{}",
  "package-lock.json": json({ packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } }),
};

/** Starts opencode with that configuration. */
export function opencodeWith(
  state: string,
  config: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
): Launch {
  const path = `${state}/opencode.json`;
  const installed = Object.entries(PLUGINS_INSTALLED).map(([name, text]) => [`${state}/config/opencode/${name}`, text]);
  // Each is asked for: the agent's rules decide, whatever another configuration says.
  const permission = { edit: "ask", bash: "ask", webfetch: "ask" };
  return {
    argv: ["opencode", "acp"],
    env: {
      ...env,
      OPENCODE_CONFIG: path,
      OPENCODE_PERMISSION: JSON.stringify(permission),
      // The repository's words are in the prompt, quoted. Its servers and plugins are started by nobody who did not approve them.
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
      [path]: json({ autoupdate: false, share: "disabled", ...config, permission }),
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

/** What the repository says is quoted in the prompt, from the commit where the work began and not from files that work has changed. */
export const NO_PROJECT_DOCUMENTS = "project_doc_max_bytes = 0";

function codex({ gateway, token, model, state, window }: LaunchPlace): Launch {
  const home = `${state}/codex`;
  const config = [
    `model = ${toml(model)}`,
    'model_provider = "skep"',
    ...(window === undefined ? [] : [`model_context_window = ${window}`]),
    // The container is the sandbox.
    'sandbox_mode = "danger-full-access"',
    'approval_policy = "on-request"',
    "check_for_update_on_startup = false",
    'web_search = "disabled"',
    NO_PROJECT_DOCUMENTS,
    "[analytics]",
    "enabled = false",
    "[model_providers.skep]",
    'name = "Skep"',
    `base_url = ${toml(`${gateway}/v1`)}`,
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
    // Google would run them: the gateway refuses both.
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
    files: { [`${home}/.gemini/settings.json`]: json(settings) },
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
  files: { [`${place.state}/home/.qwen/settings.json`]: json({ security: { auth: { selectedType: "openai" } } }) },
});

function pi({ gateway, token, model, state }: LaunchPlace): Launch {
  const folder = `${state}/pi`;
  const provider = { baseUrl: `${gateway}/v1`, api: "openai-completions", apiKey: token, models: [{ id: model }] };
  return {
    argv: ["pi-acp"],
    env: { PI_CODING_AGENT_DIR: folder },
    files: {
      [`${folder}/models.json`]: json({ providers: { skep: provider } }),
      [`${folder}/settings.json`]: json({ defaultProvider: "skep", defaultModel: model }),
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

/** How an agent's program is started. One of the user's own finds the gateway in the usual variables. */
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

/** For people. */
export const harnessTitle = (harness: HarnessConfig): string =>
  typeof harness === "string" ? harness : (harness.acp[0] ?? "");
