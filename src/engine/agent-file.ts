/**
 * Reads `agents/<id>/AGENT.md`: the front matter says who the agent is and what it may do; the body is its system
 * prompt. Pure.
 */
import { type Static, Type as t } from "@sinclair/typebox";
import { DAY_SECONDS } from "../core/clock.ts";
import { HARNESS_NAMES, hasOwnLogin, OWN_LOGIN_NAMES } from "../core/harness-names.ts";
import { HostLabels } from "../core/host-labels.ts";
import { ImageName } from "../core/image-name.ts";
import { LIMITS } from "../core/limits.ts";
import { didYouMean } from "../core/near.ts";
import { Network } from "../core/network.ts";
import { PermissionRules } from "../core/permission-rule.ts";
import { RuntimeName } from "../core/runtime-name.ts";
import { orNull } from "../core/schema.ts";
import { readFrontMatter } from "./front-matter.ts";
import { ruleProblems } from "./permission/rules.ts";
import { placeProblems, schemaProblems, type ValueProblem } from "./schema-problems.ts";
import { isToolOfServer, TOOL_NAMES } from "./tool/names.ts";
import type { SourceProblem } from "./yaml-text.ts";

const usd = t.Number({ exclusiveMinimum: 0, maximum: 100_000, description: "Amount in US dollars." });

/** Who drives the agent: Skep's own loop, or a program that speaks the Agent Client Protocol. */
const HARNESS_CONFIG = t.Union(
  [
    t.Literal("builtin"),
    ...HARNESS_NAMES.map((name) => t.Literal(name)),
    t.Object(
      {
        acp: t.Array(t.String({ minLength: 1, maxLength: 4_096 }), {
          minItems: 1,
          maxItems: 64,
          description: "Command of a program that speaks the Agent Client Protocol on its standard input and output.",
        }),
        image: t.Optional(ImageName),
      },
      { additionalProperties: false },
    ),
  ],
  { description: "What drives the agent: `builtin`, which is Skep's own loop, or an external agent in the sandbox." },
);
export type HarnessConfig = Static<typeof HARNESS_CONFIG>;

/** The settings of an agent. An absent field takes its value from `AGENT_DEFAULTS` or from the instance's settings. */
export const AGENT_CONFIG = t.Object(
  {
    model: t.Optional(
      orNull(
        t.String({
          pattern: "^[a-z0-9][a-z0-9-]{0,63}/\\S{1,200}$",
          description: "Model in the form `provider/model`; by default the instance's.",
        }),
      ),
    ),
    fallback: t.Optional(
      orNull(
        t.Array(t.String({ pattern: "^[a-z0-9][a-z0-9-]{0,63}/\\S{1,200}$" }), {
          maxItems: 10,
          uniqueItems: true,
          description:
            "Models to try, in order, when the agent's model has no quota left, does not answer or refuses. By default the instance's; an empty list means none.",
        }),
      ),
    ),
    thinking_level: t.Optional(t.Union([t.Literal("off"), t.Literal("low"), t.Literal("medium"), t.Literal("high")])),
    temperature: t.Optional(orNull(t.Number({ minimum: 0, maximum: 2 }))),
    max_turns: t.Optional(
      t.Integer({ minimum: 1, maximum: LIMITS.turnsMax, description: "Most model calls in one execution." }),
    ),
    timeout_seconds: t.Optional(
      t.Integer({ minimum: 1, maximum: 7 * DAY_SECONDS, description: "Time limit of one execution, in seconds." }),
    ),
    max_attempts: t.Optional(t.Integer({ minimum: 1, maximum: 10 })),
    tools: t.Optional(
      t.Array(t.String({ minLength: 1, maxLength: 128 }), {
        uniqueItems: true,
        maxItems: 200,
        description: "Names of the tools that the agent may use; by default all.",
      }),
    ),
    permissions: t.Optional(PermissionRules),
    harness: t.Optional(HARNESS_CONFIG),
    credentials: t.Optional(
      t.Union([t.Literal("gateway"), t.Literal("own")], {
        description:
          "Where an external agent sends its model calls: `gateway` is Skep's; `own` is its vendor, with the log-in of the person for whom it works.",
      }),
    ),
    image: t.Optional(orNull(ImageName)),
    network: t.Optional(Network),
    runtime: t.Optional(orNull(RuntimeName)),
    host_labels: t.Optional(HostLabels),
    memory_mb: t.Optional(t.Integer({ minimum: 32, maximum: 1_048_576 })),
    cpus: t.Optional(t.Number({ minimum: 0.1, maximum: 256 })),
    budget_usd_per_run: t.Optional(orNull(usd)),
    budget_usd_per_day: t.Optional(orNull(usd)),
    pulse_enabled: t.Optional(t.Boolean()),
    starts_in_full: t.Optional(
      t.Array(t.String({ minLength: 1, maxLength: 64 }), {
        uniqueItems: true,
        maxItems: 200,
        description:
          "Agents that keep all of their own powers when this agent starts them; `*` means every agent. Other agents get at most this agent's network, tools, secrets and cookies.",
      }),
    ),
    moves_tasks: t.Optional(
      t.Union([t.Literal("own"), t.Literal("all")], {
        description:
          "Tasks that the agent may move with transition_task. `own`: tasks that its work was given or claimed. `all`: every task of the project.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type AgentConfig = Static<typeof AGENT_CONFIG>;

const IDENTITY = t.Object({
  name: t.Optional(t.String({ minLength: 1, maxLength: LIMITS.nameCharacters })),
  description: t.Optional(t.String({ maxLength: 2_000 })),
  role: t.Optional(t.String({ maxLength: LIMITS.nameCharacters })),
  emoji: t.Optional(t.String({ maxLength: 16 })),
  enabled: t.Optional(t.Boolean()),
});
const AGENT_FRONT_MATTER = t.Object(
  { ...IDENTITY.properties, ...AGENT_CONFIG.properties },
  { additionalProperties: false },
);

/** Defaults for the fields that the instance's settings do not cover. */
export const AGENT_DEFAULTS = {
  harness: "builtin",
  credentials: "gateway",
  thinking_level: "off",
  max_attempts: 2,
  pulse_enabled: false,
  permissions: [],
  starts_in_full: [],
  host_labels: [],
  moves_tasks: "own",
} as const satisfies Partial<AgentConfig>;

export interface AgentFile {
  id: string;
  name: string;
  description: string;
  role: string | null;
  emoji: string | null;
  enabled: boolean;
  /** As written; AGENT_DEFAULTS are not filled in. */
  config: AgentConfig;
  /** System prompt. */
  prompt: string;
}

/**
 * Parses an agent's file. Never throws: a broken file gives an agent with problems, and its valid fields still count.
 */
export function parseAgentFile(id: string, text: string): { agent: AgentFile; problems: SourceProblem[] } {
  const { data, body, problems: broken, yaml } = readFrontMatter(text);
  const faults = schemaProblems(AGENT_FRONT_MATTER, data);
  const names = [...toolProblems(data["tools"]), ...ruleProblems(data["permissions"]), ...loginProblems(data)];
  const problems = [...broken, ...(yaml ? placeProblems([...faults, ...names], yaml) : [])];
  if (body.trim() === "")
    problems.push({
      line: 1,
      column: 1,
      pointer: "",
      message: "The text below the front matter is the agent's system prompt; it is empty.",
    });
  const bad = new Set(faults.map(({ path }) => String(path[0])));
  const good = Object.fromEntries(
    Object.entries(data).filter(([key]) => !bad.has(key) && Object.hasOwn(AGENT_FRONT_MATTER.properties, key)),
  ) as Static<typeof AGENT_FRONT_MATTER>;
  const { name = id, description = "", role = null, emoji = null, enabled = true, ...config } = good;
  return { agent: { id, name, description, role, emoji, enabled, config, prompt: body.trim() }, problems };
}

function loginProblems({ credentials, harness }: Record<string, unknown>): ValueProblem[] {
  if (credentials !== "own" || hasOwnLogin(harness)) return [];
  const names = OWN_LOGIN_NAMES.join(", ");
  return [{ path: ["credentials"], message: `\`own\` needs a \`harness\` whose vendor has log-ins: ${names}.` }];
}

/** Reports unknown tool names. Without this check, a misspelled tool would be missing silently. */
function toolProblems(tools: unknown): ValueProblem[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool, i) => {
    if (typeof tool !== "string" || TOOL_NAMES.has(tool) || isToolOfServer(tool)) return [];
    const hint = didYouMean(tool, TOOL_NAMES) || `There are: ${[...TOOL_NAMES].join(", ")}.`;
    return [{ path: ["tools", i], message: `There is no tool "${tool.slice(0, 64)}". ${hint}` }];
  });
}
