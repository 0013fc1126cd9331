/** Agents for the API: their files, combined with what other features know about them. */
import { isDeepStrictEqual } from "node:util";
import { conflict, invalid, invalidField, notFound } from "../../core/errors.ts";
import { type LabeledHost, lackOfHost } from "../../core/host-labels.ts";
import { isSlug } from "../../core/ids.ts";
import { didYouMean } from "../../core/near.ts";
import { textOfRule } from "../../core/permission-rule.ts";
import { shownOf } from "../../core/schema.ts";
import type { AgentConfig } from "../../engine/agent-file.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import type { TextFolder } from "../../store/text-folder.ts";
import { activity } from "../events/events.ts";
import type { Core } from "../feature.ts";
import type { AgentFiles, ParseAgentFile, StoredAgent } from "../team/files.ts";
import { agentChanged } from "./events.ts";
import { Agent, type AgentChange, type AgentCreate, type AgentDetail, type AgentSettings } from "./model.ts";
import type { ToolOverrides } from "./tool-overrides.ts";

/** What other features know about an agent. */
interface AgentPorts {
  toolNames(): string[];
  /** All tools that exist for the agent: those granted to it, and those that need no grant. */
  toolsOf(agentId: string): { name: string; isGranted: boolean }[];
  skillsOf(agentId: string): string[];
  countsOf(agentId: string): { runs: number; memories: number; secrets: number };
  isWorking(agentId: string): boolean;
  /** Removes what other features keep for a deleted agent, such as grants. */
  forget(agentId: string): void;
}

interface AgentsDeps extends Pick<Core, "store" | "audit"> {
  files: AgentFiles;
  /** The folder that holds the files and skills of agents. */
  folder: Pick<TextFolder, "snapshot" | "snapshotInTurns">;
  /** Reads all agents and skills, a few files before each `yield`. */
  look(): Generator<void>;
  overrides: ToolOverrides;
  ports: AgentPorts;
  /** From `engine/agent-file.ts`. */
  parse: ParseAgentFile;
  /** Values for the fields that a file leaves out: from the instance's settings, else from `AGENT_DEFAULTS`. */
  defaults(): Omit<
    AgentSettings,
    "model" | "fallback" | "temperature" | "tools" | "image" | "budget_usd_per_run" | "budget_usd_per_day"
  >;
  /** From `engine/front-matter.ts`. @throws Error when the front matter is broken. */
  updateFrontMatter(text: string, patch: Readonly<Record<string, unknown>>, body?: string): string;
  /** Front matter fields that a body may set. */
  fields: readonly string[];
  /** The hosts that agents work on, where there is more than one. */
  hosts: readonly LabeledHost[];
}

export type Agents = ReturnType<typeof createAgents>;

export interface AgentSummary extends Pick<StoredAgent, "id" | "enabled" | "problems"> {
  file: string;
  model: string | null;
  /** Models to ask instead when the first one fails, as the file names them. */
  fallback: readonly string[];
  harness: AgentSettings["harness"];
  /** The image as the file names it. */
  image: string | null;
  hostLabels: readonly string[];
}

export function createAgents(deps: AgentsDeps) {
  const { store, audit, files, folder, overrides, ports, parse, defaults, updateFrontMatter, fields } = deps;
  const find = (id: string): StoredAgent => {
    const agent = files.find(id);
    if (!agent) throw notFound("agent", didYouMean(id, files.ids()));
    return agent;
  };
  const listAll = (): StoredAgent[] => folder.snapshot(() => files.ids().flatMap((id) => files.find(id) ?? []));
  const settingsOf = ({ config }: StoredAgent): AgentSettings => withDefaults(config, defaults());
  const toolsOf = ({ id, config }: StoredAgent): string[] => {
    const allows = overrides.allows(id, config.tools);
    const has = ports.toolsOf(id).filter(({ name, isGranted }) => allows(name, isGranted));
    return [...new Set(has.map(({ name }) => name))];
  };
  const present = (agent: StoredAgent): Agent => {
    const { id, config } = agent;
    return {
      ...shownOf(Agent, agent),
      model: config.model ?? null,
      tools: toolsOf(agent),
      config: settingsOf(agent),
      rules: (config.permissions ?? []).map(textOfRule),
      skills: ports.skillsOf(id),
      counts: ports.countsOf(id),
      status: ports.isWorking(id) ? "working" : "idle",
      source_file: agent.sourceFile,
      updated_at: agent.updatedAt,
    };
  };
  const loadDetail = (id: string): AgentDetail => {
    const agent = find(id);
    return { ...present(agent), prompt: agent.prompt };
  };
  /** Writes the file only if the new text has no problem that the old text did not have. */
  const save = (id: string, text: string, before: readonly { message: string }[]): void => {
    const known = new Set(before.map((problem) => problem.message));
    const { problems } = parse(id, text);
    const fresh = problems.filter((problem) => !known.has(problem.message));
    if (fresh.length > 0) throw invalid(`The agent would not be valid: ${fresh[0]!.message}`, fresh);
    files.write(id, text);
  };
  const assertHost = ({ host_labels: wanted }: AgentChange): void => {
    const lack = lackOfHost(deps.hosts, Array.isArray(wanted) ? wanted : []);
    if (lack !== undefined) throw invalidField("/host_labels", lack);
  };
  const record = (
    action: "created" | "configured" | "deleted",
    id: string,
    caller: Caller,
    data: { fields?: string[] } = {},
  ): void =>
    store.write(({ emit }) => {
      audit({ action: `agent.${action}`, ...actedBy(caller), subject: id, data });
      emit(activity, { agent_id: id, data: { title: `agent ${action}`, ...data } });
      emit(agentChanged, { agent_id: id, data: { change: action } });
    });
  const patchOf = (change: AgentChange): Record<string, unknown> =>
    Object.fromEntries(
      fields.filter((name) => Object.hasOwn(change, name)).map((name) => [name, change[name] ?? undefined]),
    );

  return {
    ids: files.ids,
    exists: (id: string): boolean => files.find(id) !== undefined,
    /** Lists agents; yields to other work while it reads the files. */
    listInTurns(page: Page): Promise<ListAnswer<Agent>> {
      const shown: ListAnswer<Agent> = { items: [], next_cursor: null };
      function* look() {
        yield* deps.look();
        const ids = files.ids().map((id) => ({ id }));
        const { items, next_cursor } = pageOfArray(ids, page, ({ id }) => id);
        shown.next_cursor = next_cursor;
        for (const { id } of items) {
          const agent = files.find(id);
          if (agent) shown.items.push(present(agent));
          yield;
        }
      }
      return folder.snapshotInTurns(look, () => shown);
    },
    /** All agents, without the fields that need computing. */
    listSummaries: (): Pick<Agent, "id" | "name" | "description">[] => listAll(),
    /** @throws Problem 404. */
    get: loadDetail,
    /** The value behind the entity tag: the text of the file, without the agent's activity. */
    version: (id: string): string => find(id).text,
    /** Names of the tools that the agent can use, grants and overrides included. @throws Problem 404. */
    toolsOf: (id: string): string[] => toolsOf(find(id)),
    /** @throws Problem 404, 409 broken file, 422. */
    configure(id: string, change: AgentChange, caller: Caller): AgentDetail {
      const agent = find(id);
      if (change["config"] !== undefined && !isDeepStrictEqual(change["config"], settingsOf(agent)))
        throw invalidField(
          "/config",
          "The fields of config stand beside it, not in it: a change in it would have no effect",
        );
      assertTools(change, ports.toolNames());
      assertHost(change);
      const patch = patchOf(change);
      save(id, rewrite(agent, patch, change.prompt, updateFrontMatter), agent.problems);
      record("configured", id, caller, { fields: [...Object.keys(patch), ...(change.prompt ? ["prompt"] : [])] });
      return loadDetail(id);
    },
    /** @throws Problem 409 same id, 422. */
    create({ id, ...input }: AgentCreate, caller: Caller): AgentDetail {
      if (!isSlug(id)) throw invalidField("/id", "This word is reserved; choose another id");
      assertTools(input, ports.toolNames());
      assertHost(input);
      if (files.find(id)) throw conflict("An agent with this id exists. Change it, or choose another id.");
      save(id, updateFrontMatter("", { name: id, ...patchOf(input) }, `\n${String(input.prompt).trim()}\n`), []);
      record("created", id, caller);
      return loadDetail(id);
    },
    /** @throws Problem 409 while the agent works. */
    remove(id: string, caller: Caller): void {
      find(id);
      if (ports.isWorking(id)) throw conflict("The agent is at work. Wait, or cancel its work.", "agent_working");
      store.write(() => {
        overrides.removeAll(id);
        ports.forget(id);
        record("deleted", id, caller);
      });
      files.remove(id);
    },
    /** Every agent file with its problems. */
    files: (): AgentSummary[] => listAll().map(summaryOf),
    /**
     * The agent and its settings, for an execution. @throws Problem 404 unknown, 409 `agent_broken`, 409
     * `agent_disabled`.
     */
    ready(id: string): { agent: StoredAgent; settings: AgentSettings } {
      const agent = find(id);
      const [problem] = agent.problems;
      if (problem)
        throw conflict(`${agent.sourceFile}, line ${problem.line}: ${problem.message}`, "agent_broken", {
          agent_id: id,
        });
      if (!agent.enabled) throw conflict(`The agent ${id} is switched off.`, "agent_disabled", { agent_id: id });
      return { agent, settings: settingsOf(agent) };
    },
  };
}

const summaryOf = ({ id, sourceFile, config, enabled, problems }: StoredAgent): AgentSummary => ({
  id,
  file: sourceFile,
  model: config.model ?? null,
  fallback: config.fallback ?? [],
  enabled,
  problems,
  harness: config.harness ?? "builtin",
  image: config.image ?? null,
  hostLabels: config.host_labels ?? [],
});

/** @throws Problem 422 for an unknown tool. */
function assertTools({ tools }: AgentChange, known: readonly string[]): void {
  for (const [at, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    if (known.includes(tool)) continue;
    const hint = didYouMean(tool, known) || `There are: ${known.join(", ")}.`;
    throw invalidField(`/tools/${at}`, `There is no tool "${tool}". ${hint}`);
  }
}

function withDefaults(config: AgentConfig, defaults: ReturnType<AgentsDeps["defaults"]>): AgentSettings {
  const given = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
  return {
    model: null,
    fallback: null,
    temperature: null,
    tools: null,
    image: null,
    budget_usd_per_run: null,
    budget_usd_per_day: null,
    ...defaults,
    ...given,
  };
}

function rewrite(
  agent: StoredAgent,
  patch: Record<string, unknown>,
  prompt: string | undefined,
  update: AgentsDeps["updateFrontMatter"],
): string {
  try {
    return update(agent.text, patch, prompt === undefined ? undefined : `\n${prompt.trim()}\n`);
  } catch {
    throw conflict(`The front matter of ${agent.sourceFile} is broken; fix it in the file.`, "agent_broken");
  }
}
