/**
 * Resolves an agent's settings for one execution: from its file, else from the instance's settings, else from
 * `AGENT_DEFAULTS`.
 */
import { conflict } from "../core/errors.ts";
import { type EvalHarness, HARNESS_IMAGE, hasOwnLogin, OWN_LOGINS } from "../core/harness-names.ts";
import type { Network } from "../core/network.ts";
import { NO_AGENT } from "../core/no-agent.ts";
import { AGENT_DEFAULTS, type AgentFile, type HarnessConfig } from "./agent-file.ts";
import type { Kind } from "./kinds.ts";
import type { CodeEnvironment, EngineAgent } from "./ports.ts";

/** The instance's settings that fill in for fields an agent's file leaves out. */
export interface EngineDefaults {
  model(purpose: NonNullable<Kind["purpose"]>): string | null;
  models?: { summary: string | null; fallback: readonly string[] };
  limits: { max_turns: number; timeout_seconds: number };
  sandbox: {
    image: string | null;
    network: Network;
    runtime?: string | null;
    memory_mb: number;
    cpus: number;
    git_depth?: number;
    /** How long a chat's sandbox waits for the next turn. */
    idle_minutes: number;
  };
}

/** Stands in for the agent when a command runs in no agent's sandbox. */
export const AGENTLESS: Pick<AgentFile, "id" | "config"> = { id: NO_AGENT, config: {} };

/** The agent's own settings, else the instance's, else the defaults of agents. */
export function settingsOf(
  { id, config }: Pick<AgentFile, "id" | "config">,
  { limits, sandbox }: EngineDefaults,
  harness: HarnessConfig,
  environment: CodeEnvironment = {},
): Omit<EngineAgent, "network"> & { network: Network } {
  const ownLogin = ownLoginOf(config, harness);
  const ownImage = config.image ?? imageOf(harness);
  return {
    id,
    harness,
    ownLogin,
    thinkingLevel: config.thinking_level ?? AGENT_DEFAULTS.thinking_level,
    temperature: config.temperature ?? undefined,
    maxTurns: config.max_turns ?? limits.max_turns,
    image: ownImage ?? environment.image ?? sandbox.image ?? undefined,
    // The setup layer is built on the project's image, so an agent with an image of its own goes without it.
    layer: ownImage === undefined ? environment.layer : undefined,
    kept: environment.kept,
    env: environment.env ?? {},
    // An agent that holds a person's log-in may reach that log-in's vendor only.
    network: ownLogin ? { allow: [...OWN_LOGINS[ownLogin].hosts] } : (config.network ?? sandbox.network),
    runtime: config.runtime ?? sandbox.runtime ?? undefined,
    hostLabels: [...new Set([...(config.host_labels ?? []), ...(environment.host_labels ?? [])])],
    memoryMb: config.memory_mb ?? sandbox.memory_mb,
    cpus: config.cpus ?? sandbox.cpus,
  };
}

/** When an eval replaces the program that the agent's file names, the replacement has no log-in. */
function ownLoginOf({ credentials, harness: own }: AgentFile["config"], harness: HarnessConfig) {
  return credentials === "own" && harness === own && hasOwnLogin(harness) ? harness : undefined;
}

/**
 * The program that drives the agent in this execution.
 * @throws Problem 409 `no_command` when `acp` is wanted but the agent's file no longer names a command.
 */
export function harnessOf(
  { id, config }: Pick<AgentFile, "id" | "config">,
  wanted: EvalHarness | undefined,
): HarnessConfig {
  const own = config.harness ?? AGENT_DEFAULTS.harness;
  if (wanted === undefined) return own;
  if (wanted !== "acp") return wanted;
  if (typeof own === "string")
    throw conflict(`The file of the agent ${id} names no command of its own (harness: acp).`, "no_command");
  return own;
}

/** The image for an external agent, which must hold its program; undefined for the built-in loop. */
function imageOf(harness: HarnessConfig): string | undefined {
  if (harness === "builtin") return undefined;
  return typeof harness === "string" ? HARNESS_IMAGE : (harness.image ?? HARNESS_IMAGE);
}
