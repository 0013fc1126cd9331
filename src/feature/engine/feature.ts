/** The engine with its ports: models, sandboxes, tools, and what features provide to agents. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { harnessPort } from "../../adapter/acp/harness-port.ts";
import { createGuardedFetch } from "../../adapter/guarded-fetch.ts";
import { SCRIPTED_MODEL } from "../../adapter/model/scripted.ts";
import type { HostedSandboxes } from "../../adapter/sandbox/hosts/driver.ts";
import { HOUR_MS } from "../../core/clock.ts";
import { readDockerHosts } from "../../core/docker-options.ts";
import { conflict } from "../../core/errors.ts";
import { executionRefs } from "../../core/events.ts";
import { LIMITS } from "../../core/limits.ts";
import { NO_AGENT } from "../../core/no-agent.ts";
import { isAtLeast } from "../../core/ownership.ts";
import { BUILD } from "../../core/version.ts";
import { createEngine, type Engine } from "../../engine/engine.ts";
import { engineEvents } from "../../engine/events.ts";
import type { Execution } from "../../engine/execution.ts";
import { textOf } from "../../engine/parts.ts";
import type { EnginePorts } from "../../engine/ports.ts";
import type { PromptParts } from "../../engine/prompt.ts";
import type { Capabilities, SandboxDriver } from "../../engine/sandbox.ts";
import { builtInTools } from "../../engine/tool/built-in.ts";
import { createToolbox } from "../../engine/toolbox.ts";
import { removeFolder } from "../../working-copy/folder.ts";
import type { agents } from "../agents/feature.ts";
import type { Budgets } from "../budgets/service.ts";
import type { Cookies } from "../cookies/service.ts";
import type { Egress } from "../egress/service.ts";
import type { EnvironmentCaches } from "../environment-caches/service.ts";
import type { EnvironmentServicesService } from "../environment-services/service.ts";
import type { Environments } from "../environments/service.ts";
import type { Evals } from "../evals/service.ts";
import { activity } from "../events/events.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { HarnessLogins } from "../harness-logins/service.ts";
import type { Inbox } from "../inbox/service.ts";
import type { Jobs } from "../jobs/service.ts";
import type { memory } from "../memory/feature.ts";
import type { Requests } from "../permissions/requests.ts";
import type { PreviewsService } from "../previews/feature.ts";
import type { projects } from "../projects/feature.ts";
import type { providers } from "../providers/feature.ts";
import type { RunsService } from "../runs/service.ts";
import type { Secrets } from "../secrets/service.ts";
import { sessionEnded } from "../sessions/events.ts";
import type { SessionFiles } from "../sessions/files.ts";
import type { Sessions } from "../sessions/service.ts";
import type { SettingsService } from "../settings/service.ts";
import type { Setups } from "../setups/service.ts";
import type { Skills } from "../skills/service.ts";
import type { UsageLog } from "../usage/service.ts";
import { checkSandboxes, harnessFindings, labelFindings, modelFindings, windowFindings } from "./checks.ts";
import { createModelTrials } from "./model-trial.ts";
import { openModels } from "./models.ts";
import { modelTrialRoutes } from "./routes.ts";
import { openSandboxes, type Sandboxes } from "./sandboxes.ts";

type Needs = Core & {
  jobs: Pick<Jobs, "enqueue" | "live" | "payloadOf">;
  settings: SettingsService;
  providers: Pick<
    ServiceOf<typeof providers>,
    "catalogue" | "keys" | "anyConfigured" | "stateOf" | "windowOf" | "wrongModel"
  >;
  usage: Pick<UsageLog, "record">;
  skills: Pick<Skills, "forAgents">;
  projects: Pick<ServiceOf<typeof projects>, "find" | "workspaces" | "branches" | "works" | "texts">;
  environments: Pick<Environments, "of">;
  environmentCaches: Pick<EnvironmentCaches, "foldersOf">;
  agents: Pick<ServiceOf<typeof agents>, "ready" | "overrides" | "files" | "powers">;
  secrets: Pick<Secrets, "envOf" | "edgeNames">;
  cookies: Pick<Cookies, "fileFor" | "grantedFor">;
  harnessLogins: Pick<HarnessLogins, "open">;
  budgets: Pick<Budgets, "admit">;
  sessions: Sessions & { files: Pick<SessionFiles, "assertComplete"> };
  permissions: Pick<Requests, "engine">;
  runs: Pick<RunsService, "rows">;
  memory: Pick<ServiceOf<typeof memory>, "recallFor">;
  inbox: Pick<Inbox, "deliver">;
  evals: Pick<Evals, "turnsOf" | "harnessIn">;
  egress: Pick<Egress, "open">;
  previews: PreviewsService;
  setups: Pick<Setups, "layerFor" | "baselineOf">;
  environmentServices: Pick<EnvironmentServicesService, "ready">;
};

export interface EngineService {
  /** Finds a running execution by its token. */
  executionOf: Engine["tokens"]["find"];
  sandbox: { name: string } & Capabilities;
  /** Lists sandboxes that are not containers of this server's engine. Undefined when they are. */
  show: SandboxDriver["show"];
  /** Number of executions that this process is running. */
  active(): number;
  /** Builds the agents' image if it is one that Skep builds. @returns whether the image exists now. */
  makeImage(image: string): Promise<boolean>;
  /** The hosts, where there are several container engines. */
  hosts:
    | (Pick<HostedSandboxes, "look" | "onChange"> & { setDrained(name: string, drained: boolean): void })
    | undefined;
}

export const engine = defineFeature(
  "engine",
  async (deps: Needs) => {
    const { log, text, config, store, guard, folder, settings, providers, contributions } = deps;
    const { skills, projects, agents, budgets, sessions, runs } = deps;
    const agentOf = (id: string) => agents.ready(id).agent;
    const sandbox = await openSandboxes(deps);
    log[sandbox.waits ? "warn" : "info"]({ sandbox: sandbox.driver.name }, sandbox.reason);
    const models = deps.replaced.models ?? (await openModels(deps));
    const trials = createModelTrials({
      ...deps,
      models,
      record: deps.usage.record,
      wrongModel: providers.wrongModel,
    });
    const engine = createEngine({
      ...deps,
      rows: sessions.rows,
      sandboxes: sandbox.driver,
      agentOf,
      emitSoon: store.emitSoon,
      toolbox: createToolbox(
        () => contributions.tools,
        (source, err) => log.warn({ err, source }, "a source of tools failed; agents continue without its tools"),
      ),
      harness: harnessPort,
      models,
      limits: () => ({ parallel: config.maxExecutions, perAgent: settings.get().limits.executions_per_agent }),
      defaults: () => ({
        ...settings.get(),
        model: (purpose) => settings.modelFor(purpose) ?? (providers.anyConfigured() ? null : SCRIPTED_MODEL),
      }),
      allowsTool: (id) => agents.overrides.allows(id, agentOf(id).config.tools),
      powers: agents.powers,
      permissions: deps.permissions.engine,
      skills: skills.forAgents,
      secretsOf: secretsFor(deps, sandbox.driver.capabilities),
      stepNetworkOf: stepNetworks(deps),
      harnessIn: deps.evals.harnessIn,
      wayOut: deps.egress.open,
      previews: { of: previewsFor(deps, sandbox.driver.capabilities), ...deps.previews.engine },
      cookiesOf: cookiesFor(deps, sandbox.driver.capabilities),
      ownLoginOf: ownLoginsFor(deps, sandbox.driver.capabilities),
      attachments: () => contributions.attachments,
      projectOf: projects.find,
      environmentOf(execution) {
        const { projectId } = execution;
        const found = projectId === undefined ? undefined : deps.environments.of(projectId);
        const layer = projectId && deps.setups.layerFor(projectId);
        return found && { ...found, layer, kept: deps.environmentCaches.foldersOf(execution) };
      },
      servicesOf: (work, { runtime }, signal) =>
        deps.environmentServices.ready(work, { runtime, isolation: sandbox.driver.capabilities.isolation }, signal),
      baselineOf: deps.setups.baselineOf,
      repositoryOf: repositoryFor(deps),
      memoryOf: memoryFor(deps),
      deliver: deps.inbox.deliver,
      guidanceOf: (runId) => runs.rows.run(runId)?.human_context ?? null,
      sharedToken: config.agentToken === "shared" ? deps.keys.engineToken : undefined,
      // A container can reach the server only at the address that the operator sets. A process on this host uses the
      // address on which the server listens.
      apiUrl: () => config.agentApiUrl ?? (sandbox.driver.capabilities.network === "host" ? deps.url() : undefined),
      workspaces: {
        async prepare(work, signal) {
          sessions.files.assertComplete(work.id);
          return projects.workspaces.prepare(work, signal);
        },
        commit: projects.workspaces.commit,
        join: ({ id }, message) => projects.branches.join(id, message),
        branchOf(id) {
          const branch = projects.works.branchOf(id);
          const joins = projects.works.find(id)?.joins;
          return branch === null ? undefined : { branch, into: joins ? projects.works.branchOf(joins) : null };
        },
        async own(sessionId) {
          sessions.files.assertComplete(sessionId);
          const path = join(folder.workspaces, sessionId);
          await mkdir(path, { recursive: true });
          return path;
        },
        async harness(sessionId) {
          const state = join(harnessFolder(deps, sessionId), "state");
          await mkdir(state, { recursive: true });
          return { state };
        },
      },
      shutOut({ projectId, userId }) {
        if (projectId === undefined) return undefined;
        const role = deps.access.roleOf(userId ?? null, projectId, projectId);
        if (role !== null && isAtLeast(role, "contributor")) return undefined;
        return "Whom this works for may not work in its project any more: they are no member, or a viewer. A maintainer of it can add them again.";
      },
      admit: (execution, price) => budgets.admit({ ...spenderOf(execution), ...price }),
      providerWaitMs: () => settings.get().limits.provider_wait_hours * HOUR_MS,
      whenActive: deps.standby.whenActive,
      script: config.demoScript,
    });
    sessions.connect(engine.scheduler, engine.betweenTurns);
    const unsubscribe = deps.bus.subscribe([sessionEnded], ({ session_id }) => {
      if (!session_id) return;
      engine.release(session_id);
      removeFolder(harnessFolder(deps, session_id)).catch((err) =>
        log.debug({ err, session: session_id }, "an external agent's folder could not be removed"),
      );
    });
    const { name, capabilities } = sandbox.driver;
    const service: EngineService = {
      executionOf: engine.tokens.find,
      active: () => engine.scheduler.active,
      sandbox: { name, ...capabilities },
      show: sandbox.driver.show,
      makeImage: sandbox.makeImage,
      hosts: hostsOf(sandbox.hosts, engine),
    };
    return {
      service,
      routes: () => modelTrialRoutes(trials),
      jobs: [trials.definition],
      tools: builtInTools({
        readableText: text.readableText,
        fetchPage: createGuardedFetch({ resolve: guard.resolve, userAgent: `Skep/${BUILD.version}` }),
      }),
      checks: async () => [
        ...modelFindings(deps),
        ...(await windowFindings(deps)),
        ...(await checkSandboxes(deps, sandbox)),
        ...(await harnessFindings(deps)),
        ...labelFindings(agents, readDockerHosts(config.dockerHosts) ?? []),
      ],
      start: engine.start,
      resume: engine.resume,
      async stop() {
        unsubscribe();
        await engine.stop();
        await sandbox.close();
      },
    };
  },
  engineEvents,
);

/** When a host is drained, the sandboxes of waiting chats there end at once: the next turn starts on another host. */
function hostsOf(hosts: Sandboxes["hosts"], { endUseless }: Pick<Engine, "endUseless">): EngineService["hosts"] {
  if (!hosts) return undefined;
  const setDrained = (name: string, drained: boolean): void => {
    hosts.setDrained(name, drained);
    if (drained) void endUseless();
  };
  return { look: hosts.look, onChange: hosts.onChange, setDrained };
}

/** Folder for what an external agent keeps between turns. It may be lost, so it is in the cache folder. */
const harnessFolder = ({ folder }: Pick<Core, "folder">, sessionId: string): string =>
  join(folder.cache, "harness", sessionId);

const spenderOf = ({ sessionId, agentId, runId, userId }: Execution) => ({ agentId, runId, userId, sessionId });

/** The network of the step at the root of a session: agents that a step's agent starts are limited to it too. */
function stepNetworks({ store, runs }: Pick<Needs, "store" | "runs">) {
  const root = store.statement<{ step_id: string | null }>(
    "SELECT root.step_id FROM sessions JOIN sessions AS root ON root.id = sessions.root_id WHERE sessions.id = ?",
  );
  return ({ runId, sessionId }: Execution) => {
    const stepId = root.get([sessionId])?.step_id ?? null;
    if (runId === undefined || stepId === null) return undefined;
    const step = runs.rows.run(runId)?.definition.steps.find(({ id }) => id === stepId);
    return step && "network" in step ? step.network : undefined;
  };
}

/** The preview that a step asks for. Only the step's own execution gets it, not the agents that it starts. */
const previewsFor = (deps: Needs, { previews }: Capabilities): EnginePorts["previews"]["of"] => {
  const worksWithout = reportMissing(deps);
  return (execution) => {
    const { runId, stepId, parentId } = execution;
    if (runId === undefined || stepId === undefined || parentId !== undefined) return undefined;
    const step = deps.runs.rows.run(runId)?.definition.steps.find(({ id }) => id === stepId);
    const preview = step && "preview" in step ? step.preview : undefined;
    if (!preview) return undefined;
    if (previews === "none") {
      worksWithout(execution, "a preview: it needs containers, SANDBOX=docker or kubernetes");
      return undefined;
    }
    const { port, path = "/", keep_minutes: keepMinutes = LIMITS.previewKeepMinutes, screenshots = [] } = preview;
    return { port, path, keepMinutes, screenshots };
  };
};

/** What the agent remembers. If memory cannot be read, the work continues without it. */
const memoryFor =
  ({ log, memory }: Needs) =>
  async (execution: Execution): Promise<string | undefined> => {
    try {
      return await memory.recallFor(execution, textOf(execution.input));
    } catch (err) {
      log.warn({ err, execution: execution.id }, "memory could not be searched");
      return undefined;
    }
  };

/**
 * The repository's instructions and skills, for a run or a session on a branch. Work that has read outside text may
 * have changed its files. Such work gets only the text of the commit where it began: no skills and no further
 * instructions. Work that the code host started counts as such from the beginning.
 */
const repositoryFor =
  ({ log, projects, sessions, store }: Needs) =>
  async (execution: Execution): Promise<PromptParts["repository"]> => {
    const { runId, sessionId, projectId } = execution;
    // The root's commit is used: a session that an agent started begins with what that agent wrote.
    const rootId = store.statement<string>("SELECT root_id FROM sessions WHERE id = ?").pluck();
    const root = projects.works.find(runId ?? rootId.get([sessionId]) ?? "");
    const commit = root?.branch === null ? undefined : root?.base_commit;
    if (projectId === undefined || root?.project_id !== projectId || !commit) return undefined;
    try {
      const text = await projects.texts.at(projectId, commit);
      if (!text) return undefined;
      return sessions.outside.reasonOf(execution) === undefined ? text : { ...text, nested: [], skills: [] };
    } catch (err) {
      log.warn({ err, execution: execution.id }, "what the repository says could not be read");
      return undefined;
    }
  };

/**
 * Secrets that the agent was granted. Those that cannot be opened are reported, and the work continues without them.
 */
const secretsFor = (deps: Needs, { isolation }: Capabilities) => {
  const worksWithout = reportMissing(deps);
  const hasList = (agentId: string) =>
    isolation === "container" &&
    typeof (deps.agents.ready(agentId).agent.config.network ?? deps.settings.get().sandbox.network) === "object";
  return (execution: Execution): Record<string, string> => {
    if (execution.agentId === NO_AGENT) return {};
    const { env, damaged } = deps.secrets.envOf(execution.agentId, {
      actor: `execution:${execution.id}`,
      sessionId: execution.sessionId,
    });
    if (damaged.length > 0) worksWithout(execution, `what cannot be opened: ${damaged.join(", ")}`);
    const bound = deps.secrets.edgeNames(execution.agentId, execution);
    if (bound.length > 0 && !hasList(execution.agentId))
      worksWithout(execution, `secrets bound to hosts, since its network is no list of hosts: ${bound.join(", ")}`);
    return env;
  };
};

/** Cookies are given only to containers: between processes on this machine, one could read what another was given. */
const cookiesFor = (deps: Needs, { isolation }: Capabilities) => {
  const worksWithout = reportMissing(deps);
  return (execution: Execution): string | undefined => {
    if (isolation === "container") {
      const { text, damaged } = deps.cookies.fileFor(execution);
      if (damaged.length > 0) worksWithout(execution, `cookie sets that cannot be opened: ${damaged.join(", ")}`);
      return text;
    }
    const granted = deps.cookies.grantedFor(execution);
    if (granted.length > 0)
      worksWithout(execution, `the cookies ${granted.join(", ")}: they are given in containers only`);
    return undefined;
  };
};

/** Like cookies, log-ins are given only to containers. */
const ownLoginsFor =
  ({ harnessLogins, agents }: Needs, { isolation }: Capabilities): EnginePorts["ownLoginOf"] =>
  ({ userId, agentId, sessionId, id }, harness) => {
    if (isolation !== "container")
      throw conflict(
        "A person's own log-in is given in containers only. Set SANDBOX=docker, or the agent's credentials to gateway.",
        "own_login_needs_container",
      );
    const agentIds = [agentId, ...agents.powers.boundsOf(sessionId)];
    return harnessLogins.open({ userId, harness, agentIds, actor: `execution:${id}` });
  };

/** Reports what is missing: to people in the activity of the work, to the operator in the log. */
const reportMissing =
  ({ log, store }: Needs) =>
  (execution: Execution, what: string): void => {
    log.warn({ agent: execution.agentId, execution: execution.id }, `an agent works without ${what}`);
    store.emitSoon(activity, { ...executionRefs(execution), data: { title: `Works without ${what}.` } });
  };
