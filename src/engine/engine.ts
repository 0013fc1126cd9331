/**
 * Puts the engine together: its ports from what `app.ts` provides, its scheduler, and the functions that others may
 * call.
 */
import { MINUTE_MS } from "../core/clock.ts";
import { forbidden, unavailable } from "../core/errors.ts";
import type { EvalHarness } from "../core/harness-names.ts";
import { type Network, narrow } from "../core/network.ts";
import { NO_AGENT } from "../core/no-agent.ts";
import { kindOfTool } from "../core/permission-rule.ts";
import type { AgentFile } from "./agent-file.ts";
import { AGENTLESS, type EngineDefaults, harnessOf, settingsOf } from "./agent-settings.ts";
import type { Attachments } from "./attachments.ts";
import { createBetweenTurns } from "./between-turns.ts";
import type { Execution } from "./execution.ts";
import { createFairTurns } from "./fair-turns.ts";
import { kindOf } from "./kinds.ts";
import { textOf } from "./parts.ts";
import { refusesAlways } from "./permission/decide.ts";
import type { PermissionRows } from "./permission/permit.ts";
import { readRules } from "./permission/rules.ts";
import type { CodeEnvironment, EnginePorts, GivenPorts } from "./ports.ts";
import { assemblePrompt, type PromptParts } from "./prompt.ts";
import type { HarnessFolders, SandboxDriver } from "./sandbox.ts";
import { createSandboxPool, type SandboxPool, type SandboxPoolDeps } from "./sandbox-pool.ts";
import { createScheduler, type SchedulerLimits } from "./scheduler.ts";
import { type MatchableSkill, matchSkills } from "./skill-match.ts";
import { createExecutionTokens, type ExecutionTokens } from "./tokens.ts";
import type { Toolbox } from "./toolbox.ts";

interface SkillSource {
  /** All enabled, confirmed skills that the agent sees in this user's work. */
  available(execution: Execution): { name: string; description: string; tags: string[]; content: string }[];
  /** Skills that agents proposed in this user's work and that nobody has confirmed yet. */
  listUnconfirmed(execution: Execution): unknown[];
}

interface EngineDeps extends GivenPorts {
  sandboxes: SandboxDriver;
  limits(): SchedulerLimits;
  defaults(): EngineDefaults;
  /** @throws Problem 404 when the agent is unknown, 409 when it is switched off or its file is broken. */
  agentOf(agentId: string): AgentFile;
  /** Which tools the agent may use. Asked before every turn. */
  allowsTool(agentId: string): (tool: string, isGranted: boolean) => boolean;
  /** What the agents that started the execution's session leave of its own agent's powers. */
  powers: {
    /** Ids of the agents whose powers bound the session. */
    boundsOf(sessionId: string): string[];
    /** Networks of the agents that started the session, except where their files let it work in full. */
    networksOf(sessionId: string): Network[];
    allows(sessionId: string): (tool: string) => boolean;
  };
  /** Stored questions to people about tool calls. */
  permissions: PermissionRows;
  skills: SkillSource;
  toolbox: Toolbox;
  /**
   * The network that a pipeline step sets for the executions that work for it, directly or through sessions they
   * started.
   */
  stepNetworkOf?(execution: Execution): Network | undefined;
  environmentOf?(execution: Execution): CodeEnvironment | undefined;
  /** See `EnginePorts`. */
  servicesOf?: EnginePorts["services"];
  /**
   * The program that drives the execution instead of the one in its agent's file; `acp` is the command in that file.
   */
  harnessIn?(execution: Execution): EvalHarness | undefined;
  /** Apps of steps that people can open. */
  previews?: EnginePorts["previews"];
  /** Opens the proxy out of a sandbox whose network is an allow-list. */
  wayOut?: SandboxPoolDeps["wayOut"];
  projectOf(projectId: string): PromptParts["project"];
  /** See `PromptParts`. */
  baselineOf?(projectId: string): PromptParts["baseline"] | null;
  /** What the execution's repository says to agents; undefined when the execution works in no repository. */
  repositoryOf(execution: Execution): Promise<PromptParts["repository"]>;
  /** What the execution's agent remembers that may help with this input, as text for the prompt. */
  memoryOf(execution: Execution): Promise<string | undefined>;
  guidanceOf(runId: string): string | null;
  /** Values that containers get: the shared token, if the operator chose it, and this server's address. */
  sharedToken: string | undefined;
  apiUrl(): string | undefined;
  workspaces: {
    prepare(work: WorkOfExecution, signal: AbortSignal): Promise<{ path: string }>;
    commit(work: WorkOfExecution, message: string): Promise<unknown>;
    /** Merges the committed work into the branch that it belongs to. @throws Problem 409 `merge_conflict`. */
    join(work: WorkOfExecution, message: string): Promise<void>;
    /** The branch of a run or session, and the branch that it is merged into when it succeeds. */
    branchOf(workId: string): { branch: string; into: string | null } | undefined;
    /** The folder of a session that works on no branch. */
    own(sessionId: string): Promise<string>;
    /** The folders of a session that an external agent drives. */
    harness(sessionId: string): Promise<HarnessFolders>;
  };
  attachments(): Attachments;
  /** Calls back once this instance may work. @returns a function that cancels the callback. */
  whenActive(act: () => void): () => void;
  /** Transcript of the scripted model, from the configuration. */
  script: string | undefined;
}

export type Engine = ReturnType<typeof createEngine>;

const SWEEP_MS = 60_000;

export function createEngine(deps: EngineDeps) {
  const { clock, log, sandboxes } = deps;
  const tokens = createExecutionTokens();
  const idleMs = () => deps.defaults().sandbox.idle_minutes * MINUTE_MS;
  const pool = createSandboxPool({ driver: sandboxes, log, idleMs, wayOut: deps.wayOut });
  const ports = portsOf(deps, tokens, pool);
  const scheduler = createScheduler(ports, deps.limits, log);
  let timer: ReturnType<typeof setInterval> | undefined;
  let stopped = false;
  let forgetStart = () => {};
  const sweep = async (): Promise<void> => {
    try {
      const removed = await pool.sweep();
      if (removed > 0) log.info({ removed }, "sandboxes left behind were removed");
    } catch (error) {
      log.debug({ err: error }, "no sweep: the container engine does not answer");
    }
  };
  return {
    tokens,
    scheduler,
    betweenTurns: createBetweenTurns(ports),
    /** Stops the sandbox that a session kept for its next turn, once the session has ended. */
    release: pool.end,
    /** Stops sandboxes kept for a next turn that cannot run in them. */
    endUseless: pool.endUseless,
    /** Gives the executions of the last process back to the queue. */
    start: scheduler.reclaim,
    /** Removes sandboxes that no execution owns, then starts work. */
    async resume(): Promise<void> {
      await sweep();
      if (stopped) return;
      timer = setInterval(() => void sweep(), SWEEP_MS);
      forgetStart = deps.whenActive(scheduler.start);
      log.debug({ at: clock.now() }, "engine started");
    },
    async stop(): Promise<void> {
      stopped = true;
      forgetStart();
      clearInterval(timer);
      await scheduler.stop();
      await pool.close();
    },
  };
}

interface WorkOfExecution {
  /** Id of the run or session that has the working copy. */
  id: string;
  project_id?: string | undefined;
  /** The user it works for; undefined when it works for nobody. */
  user_id?: string | undefined;
}

function portsOf(deps: EngineDeps, tokens: ExecutionTokens, sandboxes: SandboxPool): EnginePorts {
  const { skills, toolbox, workspaces } = deps;
  const filesOf = ({ workId, projectId, kind, sessionId }: Execution): PromptParts["files"] => {
    if (workId === undefined || projectId === undefined) return undefined;
    const found = workspaces.branchOf(workId);
    const hasGit = (deps.defaults().sandbox.git_depth ?? 0) > 0;
    return found && { ...found, hasGit, isShared: kindOf(kind).startedBy !== "run" && workId !== sessionId };
  };
  const rulesOf: EnginePorts["permissions"]["rulesOf"] = ({ agentId, sessionId }) =>
    [agentId, ...deps.powers.boundsOf(sessionId)].flatMap((id) => {
      const rules = id === NO_AGENT ? [] : readRules(deps.agentOf(id).config.permissions ?? []);
      return rules.length > 0 ? [rules] : [];
    });
  return {
    ...deps,
    permissions: { ...deps.permissions, rulesOf },
    turn: createFairTurns(),
    sandboxes,
    agentOf(execution) {
      const { agentId, sessionId } = execution;
      const file = agentId === NO_AGENT ? AGENTLESS : deps.agentOf(agentId);
      const harness = harnessOf(file, deps.harnessIn?.(execution));
      const settings = settingsOf(file, deps.defaults(), harness, deps.environmentOf?.(execution));
      return {
        ...settings,
        network: narrow([settings.network, deps.stepNetworkOf?.(execution), ...deps.powers.networksOf(sessionId)]),
      };
    },
    assertShell({ agentId }) {
      if (agentId === NO_AGENT || deps.allowsTool(agentId)("bash", false)) return;
      throw forbidden(
        `The agent ${agentId} may not use bash, so no command runs in its sandbox. Name another agent, or none.`,
        "shell_denied",
      );
    },
    modelOf({ wantedModel, agentId, kind }) {
      const { purpose } = kindOf(kind);
      const findFallback = () => (purpose === null ? null : deps.defaults().model(purpose));
      const model = wantedModel ?? deps.agentOf(agentId).config.model ?? findFallback();
      if (model) return model;
      throw unavailable(
        "no_model",
        "No model is set. Name one with the run (--model), in the agent or in settings; demo/scripted is a dry run.",
      );
    },
    fallbackModels: ({ agentId }) => deps.agentOf(agentId).config.fallback ?? deps.defaults().models?.fallback ?? [],
    summaryModel: () => deps.defaults().models?.summary ?? undefined,
    scriptOf: () => deps.script,
    toolsFor(execution, { capabilities }) {
      const { agentId, sessionId, onlyTools, contract } = execution;
      const [allowed, within] = [deps.allowsTool(agentId), deps.powers.allows(sessionId)];
      const rules = rulesOf(execution);
      const isRefused = (tool: string) => rules.some((one) => refusesAlways(one, { tool, kind: kindOfTool(tool) }));
      const allows = (tool: string, isGranted: boolean) =>
        allowed(tool, isGranted) &&
        within(tool) &&
        (onlyTools === undefined || onlyTools.includes(tool)) &&
        !isRefused(tool);
      return toolbox.for({ execution, allows, hasShell: capabilities.shell, contract });
    },
    async promptFor(execution, tools, about) {
      const { agentId, projectId, runId } = execution;
      const agent = deps.agentOf(agentId);
      const project = projectId === undefined ? undefined : deps.projectOf(projectId);
      const available = skills.available(execution);
      const injected = skillsFor(execution, available);
      const prompt = assemblePrompt({
        kind: execution.kind,
        agent,
        files: filesOf(execution),
        project,
        // Only for work in the project's files.
        baseline:
          execution.workId === undefined || projectId === undefined
            ? undefined
            : (deps.baselineOf?.(projectId) ?? undefined),
        repository: await deps.repositoryOf(execution),
        // An agent that may not use `recall` gets no memories in its prompt either.
        memory: tools.some(({ name }) => name === "recall") ? await deps.memoryOf(execution) : undefined,
        skills: available,
        hasUnconfirmedSkills: skills.listUnconfirmed(execution).length > 0,
        injected,
        toolNames: tools.map(({ name }) => name),
        sandbox: about,
        contract: execution.contract,
        input: execution.input,
        guidance: runId === undefined ? null : deps.guidanceOf(runId),
      });
      return { ...prompt, skills: injected.map(({ name }) => name) };
    },
    variablesOf({ id, sessionId, agentId, runId }, token) {
      const apiUrl = deps.apiUrl();
      return {
        session: {
          ...(apiUrl ? { API_BASE_URL: apiUrl } : {}),
          ...(agentId ? { SKEP_AGENT_ID: agentId } : {}),
          SKEP_SESSION_ID: sessionId,
          ...(runId ? { SKEP_RUN_ID: runId } : {}),
        },
        execution: {
          // A command calls no API on behalf of a user.
          ...(token === null ? {} : { ENGINE_INTERNAL_TOKEN: deps.sharedToken ?? token }),
          SKEP_EXECUTION_ID: id,
        },
      };
    },
    tokens,
    services: deps.servicesOf ?? (async () => undefined),
    previews: deps.previews ?? NO_PREVIEWS,
    workspaces: workspacesOf(deps),
    get attachments() {
      return deps.attachments();
    },
  };
}

function workspacesOf({ log, rows, workspaces }: EngineDeps): EnginePorts["workspaces"] {
  const workOf = ({ workId, projectId, userId }: Execution): WorkOfExecution | undefined =>
    workId === undefined ? undefined : { id: workId, project_id: projectId, user_id: userId };
  const messageOf = (execution: Execution, words: string): string => {
    const firstLine = words.split("\n")[0]?.slice(0, 72) || "work";
    const reason = rows.outside.reasonOf(execution);
    const trailer = reason === undefined ? "" : `\n\nOutside-Text: ${reason}`;
    return `${execution.stepId ?? execution.agentId}: ${firstLine}${trailer}`;
  };
  return {
    async prepare(execution, signal) {
      const work = workOf(execution);
      return work ? (await workspaces.prepare(work, signal)).path : workspaces.own(execution.sessionId);
    },
    harness: ({ sessionId }) => workspaces.harness(sessionId),
    async commit(execution, { status, text }) {
      const work = workOf(execution);
      if (!work) return;
      const message = messageOf(execution, text);
      await workspaces.commit(work, message);
      // Work in a session's own working copy is merged; work in the files of another is part of that one's work.
      if (status === "succeeded" && work.id === execution.sessionId) await workspaces.join(work, message);
    },
    async keep(execution, { status }) {
      const work = workOf(execution);
      if (!work || execution.runId !== undefined) return;
      try {
        await workspaces.commit(
          work,
          messageOf(execution, `Kept of work that was ${status === "failed" ? "not done" : "stopped"}`),
        );
      } catch (err) {
        log.warn({ err, execution: execution.id }, "what an agent left is not committed");
      }
    },
  };
}

const NO_PREVIEWS: EnginePorts["previews"] = {
  of: () => undefined,
  keepScreenshots() {},
  open: () => ({ keep() {}, close() {} }),
};

/**
 * Skills for the prompt: those always given to the execution and, for a piece of work, those whose tags match the task.
 * A skill that was switched off since is left out.
 */
function skillsFor<Skill extends MatchableSkill>(execution: Execution, available: readonly Skill[]): Skill[] {
  const { kind, skills, input } = execution;
  const matched = kindOf(kind).reads === "execution" ? matchSkills(available, textOf(input)) : [];
  const given = available.filter(({ name }) => skills.includes(name));
  return [...new Set([...given, ...matched])];
}
