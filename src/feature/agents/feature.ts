import { readDockerHosts } from "../../core/docker-options.ts";
import { isProblem } from "../../core/errors.ts";
import { TOOL_SEARCH } from "../../core/outside-table.ts";
import { AGENT_CONFIG, AGENT_DEFAULTS, parseAgentFile } from "../../engine/agent-file.ts";
import { updateFrontMatter } from "../../engine/front-matter.ts";
import { decide } from "../../engine/permission/decide.ts";
import { requestOf } from "../../engine/permission/permit.ts";
import { readRules, ruleProblems } from "../../engine/permission/rules.ts";
import { isToolOfServer } from "../../engine/tool/names.ts";
import { checkFiles } from "../doctor/model.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { SettingsService } from "../settings/service.ts";
import type { Skills } from "../skills/service.ts";
import type { Team } from "../team/feature.ts";
import { createAgentActivity } from "./activity.ts";
import { agentEvents } from "./events.ts";
import { agentBodies } from "./model.ts";
import { createPowers } from "./powers.ts";
import { createPermissionPreview } from "./preview.ts";
import { agentRoutes } from "./routes.ts";
import { createAgents } from "./service.ts";
import { createToolOverrides } from "./tool-overrides.ts";
import { agentToolRoutes } from "./tool-routes.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  team: Team;
  skills: Pick<Skills, "namesOf" | "look">;
};

/** Tools to which no permission rule applies. */
const UNBOUND: ReadonlySet<string> = new Set(["complete", "fail", TOOL_SEARCH]);

export const agents = defineFeature(
  "agents",
  (deps: Needs) => {
    const { store, clock, settings, team, skills, contributions } = deps;
    const activity = createAgentActivity(store);
    const bodies = agentBodies(AGENT_CONFIG);
    const toolNames = () => [...new Set(contributions.tools.flatMap((source) => source.names()))];
    const overrides = createToolOverrides({ store, clock, toolNames });
    const agents = createAgents({
      ...deps,
      files: team.files,
      folder: team.folder,
      look: skills.look,
      overrides,
      parse: parseAgentFile,
      updateFrontMatter,
      fields: bodies.names,
      hosts: readDockerHosts(deps.config.dockerHosts) ?? [],
      defaults() {
        const { limits, sandbox } = settings.get();
        const { max_turns, timeout_seconds } = limits;
        const { network, runtime, memory_mb, cpus } = sandbox;
        return { ...AGENT_DEFAULTS, max_turns, timeout_seconds, network, runtime, memory_mb, cpus };
      },
      ports: {
        toolsOf: (id) =>
          contributions.tools.flatMap((source) =>
            (source.grantedTo?.(id) ?? source.names()).map((name) => ({ name, isGranted: !!source.grantedTo })),
          ),
        toolNames,
        skillsOf: skills.namesOf,
        isWorking: activity.isWorking,
        forget: activity.forget,
        countsOf: (id) => ({ runs: activity.runs(id), memories: activity.memories(id), secrets: activity.secrets(id) }),
      },
    });
    const preview = createPermissionPreview({
      agentOf(id) {
        const { config, tools } = agents.get(id);
        return { permissions: config.permissions, tools };
      },
      toolNames,
      isOfServer: isToolOfServer,
      isUnbound: (tool) => UNBOUND.has(tool),
      decide: (rules, name, input) => decide(readRules(rules), requestOf({ name }, input)),
      problemsOf: ruleProblems,
    });
    const powers = createPowers({
      store,
      agentOf(id) {
        try {
          const { network, starts_in_full } = agents.ready(id).settings;
          return { network, startsInFull: starts_in_full };
        } catch (error) {
          if (isProblem(error)) return undefined;
          throw error;
        }
      },
      toolsOf: agents.toolsOf,
    });
    return {
      service: { ...agents, overrides, powers },
      routes: () => [...agentRoutes(agents, bodies, preview), ...agentToolRoutes(agents, overrides)],
      counts: () => ({ agents: agents.ids().length }),
      checks: () => [checkFiles("agents", agents.files())],
    };
  },
  agentEvents,
);
