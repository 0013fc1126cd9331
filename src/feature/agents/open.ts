/** Puts the parts of this feature together. */
import type { TObject } from "@sinclair/typebox";
import type { Clock } from "../../core/clock.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import { createAgentActivity } from "./activity.ts";
import type { AgentFiles } from "./files.ts";
import { agentBodies } from "./model.ts";
import { type AgentPorts, type Agents, type AgentsDeps, createAgents } from "./service.ts";
import { createToolOverrides, type ToolOverrides } from "./tool-overrides.ts";

export interface OpenAgents extends Pick<AgentsDeps, "parse" | "defaults" | "updateFrontMatter"> {
  store: Store;
  clock: Clock;
  audit: Audit;
  files: AgentFiles;
  /** Fields of agent files, from `engine/agent-file.ts`. */
  fields: TObject;
  toolNames: AgentPorts["toolNames"];
  skillsOf: AgentPorts["skillsOf"];
  runsOf: AgentPorts["runsOf"];
  /** Entries of its memory. */
  memoriesOf(agentId: string): number;
}

export interface AgentsFeature {
  agents: Agents;
  overrides: ToolOverrides;
  bodies: ReturnType<typeof agentBodies>;
}

export function openAgents(deps: OpenAgents): AgentsFeature {
  const { store, clock, audit, files, fields, toolNames, skillsOf, runsOf, memoriesOf } = deps;
  const { parse, defaults, updateFrontMatter } = deps;
  const activity = createAgentActivity(store);
  const bodies = agentBodies(fields);
  const overrides = createToolOverrides({ store, clock, toolNames });
  const agents = createAgents({
    ...{ store, audit, files, overrides, parse, defaults, updateFrontMatter },
    fields: bodies.names,
    ports: {
      ...{ toolNames, skillsOf, runsOf, isWorking: activity.isWorking, forget: activity.forget },
      countsOf: (id) => ({ runs: activity.runs(id), memories: memoriesOf(id), secrets: activity.secrets(id) }),
    },
  });
  return { agents, overrides, bodies };
}
