/** Agents as the API shows them. */
import { type Static, type TObject, Type as t } from "@sinclair/typebox";
import { SLUG } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { Network } from "../../core/network.ts";
import { EFFECTS, PermissionRules } from "../../core/permission-rule.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { FileProblem } from "../skills/model.ts";

export const AgentSettings = t.Object({
  model: orNull(t.String({ description: "Model as `provider/model`; `null` for the instance's default model." })),
  fallback: orNull(
    t.Array(t.String(), {
      description:
        "Models to ask in this order when the agent's own model cannot answer; `null` for the models in the settings.",
    }),
  ),
  thinking_level: oneOf("off", "low", "medium", "high"),
  temperature: orNull(t.Number()),
  max_turns: t.Integer(),
  timeout_seconds: t.Integer(),
  max_attempts: t.Integer(),
  tools: orNull(t.Array(t.String(), { description: "Tools that the agent may use; `null` for all tools." })),
  permissions: PermissionRules,
  harness: t.Union([t.String(), t.Object({ acp: t.Array(t.String()), image: t.Optional(t.String()) })], {
    description:
      "What drives the agent: `builtin`, the name of an external agent, or an object with the command of one.",
  }),
  credentials: oneOf("gateway", "own"),
  image: orNull(t.String()),
  network: Network,
  runtime: orNull(t.String({ description: "Container runtime; `null` for the container engine's default." })),
  host_labels: t.Array(t.String(), {
    description: "Labels that a host of `DOCKER_HOSTS` needs for the agent to work there; any host if empty.",
  }),
  memory_mb: t.Integer(),
  cpus: t.Number(),
  budget_usd_per_run: orNull(t.Number()),
  budget_usd_per_day: orNull(t.Number()),
  pulse_enabled: t.Boolean(),
  starts_in_full: t.Array(t.String()),
  moves_tasks: oneOf("own", "all"),
});
export type AgentSettings = Static<typeof AgentSettings>;

export const Agent = t.Object({
  id: t.String(),
  name: t.String(),
  emoji: orNull(t.String()),
  role: orNull(t.String()),
  description: t.String(),
  model: orNull(t.String()),
  tools: t.Array(t.String(), { description: "Tools that the agent can use, with the overrides applied." }),
  enabled: t.Boolean(),
  config: AgentSettings,
  rules: t.Array(t.String(), {
    description: "Permission rules of the agent as text, worded as in questions to people.",
  }),
  skills: t.Array(t.String(), { description: "Skills that the agent may load." }),
  counts: t.Object({ runs: t.Integer(), memories: t.Integer(), secrets: t.Integer() }),
  status: oneOf("idle", "working"),
  source_file: t.String(),
  problems: t.Array(FileProblem),
  updated_at: Time,
});
export type Agent = Static<typeof Agent>;

export const AgentDetail = t.Object({
  ...Agent.properties,
  prompt: t.String({ description: "System prompt of the agent." }),
});
export type AgentDetail = Static<typeof AgentDetail>;

const identity = {
  name: t.Optional(orNull(t.String({ minLength: 1, maxLength: LIMITS.nameCharacters }))),
  emoji: t.Optional(orNull(t.String({ maxLength: 16 }))),
  role: t.Optional(orNull(t.String({ maxLength: LIMITS.nameCharacters }))),
  description: t.Optional(orNull(t.String({ maxLength: 2_000 }))),
  enabled: t.Optional(t.Boolean()),
};
const Prompt = t.String({ minLength: 1, maxLength: LIMITS.textCharacters, pattern: "\\S" });

export type AgentChange = Record<string, unknown> & { prompt?: string };
export type AgentCreate = AgentChange & { id: string; prompt: string };

const SHOWN = { description: "Shown by `GET /v1/agents/{id}`, so it may be sent back; it changes nothing." };

/**
 * Request bodies for agents, made of the fields of agent files. Null clears a field.
 * @param fields the fields as `engine/agent-file.ts` declares them.
 */
export function agentBodies(fields: TObject) {
  const clearing = Object.fromEntries(
    Object.entries(fields.properties).map(([name, schema]) => [name, t.Optional(orNull(schema))]),
  );
  const change = { ...identity, ...clearing, prompt: t.Optional(Prompt) };
  const shown = Object.fromEntries(
    Object.entries(AgentDetail.properties)
      .filter(([name]) => !Object.hasOwn(change, name))
      .map(([name, schema]) => [name, t.Optional(name === "config" ? t.Unknown(SHOWN) : { ...schema, ...SHOWN })]),
  );
  return {
    change: t.Unsafe<AgentChange>(t.Object({ ...change, ...shown }, { additionalProperties: false })),
    create: t.Unsafe<AgentCreate>(t.Object({ ...change, id: t.String({ pattern: SLUG.source }), prompt: Prompt })),
    /** Names of the front matter fields that a body may set. */
    names: [...Object.keys(identity), ...Object.keys(clearing)],
  };
}

export const ToolOverride = t.Object({
  agent_id: t.String(),
  tool: t.String(),
  enabled: t.Boolean(),
  updated_at: Time,
  updated_by: t.String(),
});
export type ToolOverride = Static<typeof ToolOverride>;

export const PermissionPreviewBody = t.Object({
  tool: t.String({ minLength: 1, maxLength: 128, description: "Name of the tool that is called." }),
  path: t.Optional(
    t.String({
      maxLength: LIMITS.textCharacters,
      description: "File or folder that the tool would use, relative to the workspace.",
    }),
  ),
  command: t.Optional(
    t.String({ maxLength: LIMITS.textCharacters, description: "Command line, for the tool `bash`." }),
  ),
  address: t.Optional(
    t.String({ maxLength: LIMITS.textCharacters, description: "Address of the page, for the tool `fetch_url`." }),
  ),
  permissions: t.Optional(
    t.Array(PermissionRules.items, {
      maxItems: PermissionRules.maxItems!,
      description: "Rules to test instead of the agent's own, for example before you save them.",
    }),
  ),
});
export type PermissionPreviewBody = Static<typeof PermissionPreviewBody>;

export const PermissionPreview = t.Object(
  {
    effect: oneOf(...EFFECTS),
    position: orNull(
      t.Integer({ description: "Position of the rule that decides, counted from 1; `null` if no rule matches." }),
    ),
    rule: orNull(t.String()),
    asking: t.Array(t.String(), {
      description: "Every rule that asks a person. A remembered answer applies to each of them.",
    }),
    is_uncertain: t.Boolean({
      description:
        "Whether the effect of the command cannot be determined from its text. An answer then holds only once.",
    }),
    has_tool: t.Boolean({ description: "Whether the agent has the tool now." }),
    message: t.String({ description: "The decision as a sentence." }),
  },
  { title: "PermissionPreview" },
);
export type PermissionPreview = Static<typeof PermissionPreview>;
