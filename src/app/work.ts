/** Everything by which agents work: who they are, what they may, where they work, and the engine. A part of app.ts's map. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createAddressGuard } from "../adapter/address-guard.ts";
import type { DockerClient } from "../adapter/docker.ts";
import { createGit } from "../adapter/git.ts";
import { createGuardedFetch } from "../adapter/guarded-fetch.ts";
import type { Catalogue } from "../adapter/model/catalogue.ts";
import { createModelPort, type ModelKeys } from "../adapter/model/model-port.ts";
import { splitModel } from "../adapter/model/providers.ts";
import { createRecorder, createReplay } from "../adapter/model/record.ts";
import { createScriptedModel, SCRIPTED_MODEL } from "../adapter/model/scripted.ts";
import { chooseSandbox } from "../adapter/sandbox/choice.ts";
import { createAgentImages } from "../adapter/sandbox/docker/agent-image.ts";
import { createDockerSandboxes } from "../adapter/sandbox/docker/driver.ts";
import { createProcessSandboxes } from "../adapter/sandbox/process/driver.ts";
import type { Clock } from "../core/clock.ts";
import type { Config } from "../core/config.ts";
import { notFound } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import type { Sealer } from "../core/sealing.ts";
import { BUILD } from "../core/version.ts";
import { AGENT_CONFIG, AGENT_DEFAULTS, parseAgentFile } from "../engine/agent-file.ts";
import { createEngine } from "../engine/engine.ts";
import type { Execution } from "../engine/execution.ts";
import { readFrontMatter, updateFrontMatter } from "../engine/front-matter.ts";
import type { ModelPort } from "../engine/model.ts";
import { agentsOf } from "../engine/pipeline/definition.ts";
import { parsePipeline } from "../engine/pipeline/parse.ts";
import { planner } from "../engine/pipeline/planner.ts";
import { matchSkills } from "../engine/skill-match.ts";
import { builtInTools } from "../engine/tool/built-in.ts";
import { createToolbox } from "../engine/toolbox.ts";
import { createAgentFiles } from "../feature/agents/files.ts";
import { openAgents } from "../feature/agents/open.ts";
import type { OwnLimits, Spender } from "../feature/budgets/scopes.ts";
import type { Budgets } from "../feature/budgets/service.ts";
import { sessionEnded } from "../feature/executions/events.ts";
import { createExecutions } from "../feature/executions/service.ts";
import type { Jobs } from "../feature/jobs/service.ts";
import { createPipelines } from "../feature/pipelines/service.ts";
import { openProjects } from "../feature/projects/open.ts";
import { stepQueued } from "../feature/runs/events.ts";
import { openRuns } from "../feature/runs/open.ts";
import { createSecrets } from "../feature/secrets/service.ts";
import type { SettingsService } from "../feature/settings/service.ts";
import { createSkills } from "../feature/skills/service.ts";
import type { UsageLog } from "../feature/usage/service.ts";
import { LOCAL_ADMIN } from "../http/caller.ts";
import type { Audit } from "../store/audit.ts";
import type { Bus } from "../store/bus.ts";
import type { DataFolder } from "../store/data-folder.ts";
import { installShipped } from "../store/shipped.ts";
import { SHIPPED_FILES } from "../store/shipped-files.ts";
import type { Store } from "../store/store.ts";
import { createTextFolder } from "../store/text-folder.ts";
import { openCodeGraph } from "./code-graph.ts";

export interface WorkDeps {
  config: Config;
  clock: Clock;
  log: Logger;
  folder: DataFolder;
  store: Store;
  bus: Bus;
  audit: Audit;
  sealer: Sealer;
  docker: DockerClient | undefined;
  instanceId: string;
  catalogue: Catalogue;
  keys: ModelKeys;
  settings: SettingsService;
  usage: UsageLog;
  budgets: Budgets;
  jobs: Jobs;
  /** Whether there is a provider besides the scripted one. */
  hasProvider(): boolean;
  engineToken: string | undefined;
  /** Where this server listens, once it does. */
  url(): string | undefined;
}

export type Work = Awaited<ReturnType<typeof openWork>>;

export async function openWork(deps: WorkDeps) {
  const { clock, log, store, bus, audit, folder, config, settings } = deps;
  const guard = createAddressGuard(config.fetchAllow);
  const agentFolder = createTextFolder(folder.agents);
  const installed = installShipped(store, agentFolder, SHIPPED_FILES);
  if (installed.length > 0) log.info({ files: installed.length }, "shipped agents, skills and pipelines written");
  const agentFiles = createAgentFiles(agentFolder, parseAgentFile);
  const agentIds = agentFiles.ids;
  const format = { read: readFrontMatter, update: updateFrontMatter };
  const skills = createSkills({ store, folder: agentFolder, format, agentIds });
  const pipelines = createPipelines({ store, audit, folder: agentFolder, parse: parsePipeline, agentsOf, agentIds });
  const projects = openProjects({
    ...{ store, log, audit, clock, guard, jobs: deps.jobs, git: createGit({ env: config.hostEnv }) },
    data: folder,
    allowLocal: config.allowLocalRepositories,
    pipelineExists: pipelines.exists,
    activeRuns: (projectId) => runs.rows.activeIn(projectId),
  });
  const codeGraph = openCodeGraph({ store, bus, log, folder, jobs: deps.jobs, projects: projects.projects });
  const executions = createExecutions({ store, clock, recordCall: deps.usage.recordCall });
  const builtIn = builtInTools({
    ...skills.forAgents,
    fetchPage: createGuardedFetch({ resolve: guard.resolve, userAgent: `Skep/${BUILD.version}` }),
    runHistory: ({ agentId }, { limit, ...query }) =>
      runs.views.history({ ...query, agent_id: agentId }, { limit, after: null }, LOCAL_ADMIN).items,
  });
  const toolbox = createToolbox([builtIn, codeGraph.tools], (source, err) =>
    log.warn({ err, source }, "a source of tools failed; agents go on without its tools"),
  );
  const agents = openAgents({
    ...{ store, clock, audit, files: agentFiles, parse: parseAgentFile, updateFrontMatter },
    ...{ fields: AGENT_CONFIG, skillsOf: skills.namesOf },
    defaults() {
      const { limits, sandbox } = settings.get();
      const { max_turns, timeout_seconds } = limits;
      const { network, memory_mb, cpus } = sandbox;
      return { ...AGENT_DEFAULTS, max_turns, timeout_seconds, network, memory_mb, cpus };
    },
    toolNames: toolbox.names,
    runsOf: (agentId, page, caller) => runs.views.ofAgent(agentId, page, caller),
    memoriesOf: () => 0,
  });
  const agentOf = (id: string) => agents.agents.ready(id).agent;
  const runs = openRuns({
    ...{ store, clock, audit, planner, executions, agentOf },
    pipelineOf: pipelines.definitionOf,
    isModel: (id) => deps.catalogue.provider(splitModel(id)?.provider ?? "") !== undefined,
    projectNamed(name) {
      const project = projects.projects.byName(name);
      if (!project) throw notFound("project of this name");
      return project;
    },
    projectById: (id) => (projects.projects.exists(id) ? projects.projects.get(id) : undefined),
    skillsFor(agentId, input, always) {
      const matched = matchSkills(skills.forAgents.available(agentId), input).map(({ name }) => name);
      return [...new Set([...always, ...matched])];
    },
    defaultTimeoutSeconds: () => settings.get().limits.timeout_seconds,
    defaultAttempts: () => settings.get().limits.max_attempts,
    defaultBudgetUsd: () => settings.get().budgets.run_usd,
    ended: ({ id, project_id }) =>
      void projects.workspaces
        .release({ id, project_id })
        .catch((err) => log.warn({ err, run: id }, "worktree not removed")),
  });
  const secrets = createSecrets({ store, clock, sealer: deps.sealer, audit, agentExists: agents.agents.exists });
  const sandbox = await sandboxOf(deps);
  log.info({ sandbox: sandbox.driver.kind }, sandbox.reason);
  const engine = createEngine({
    ...{ clock, log, rows: executions.rows, sandboxes: sandbox.driver, toolbox, agentOf },
    models: await modelsOf(deps),
    limits: () => ({ parallel: config.maxExecutions, perAgent: settings.get().limits.executions_per_agent }),
    defaults: () => ({
      ...settings.get(),
      model: (kind) => settings.modelFor(PURPOSES[kind]) ?? (deps.hasProvider() ? null : SCRIPTED_MODEL),
    }),
    allowsTool: (id) => agents.overrides.allows(id, agentOf(id).config.tools),
    skills: skills.forAgents,
    secretsOf: ({ agentId, id }) => secrets.envOf(agentId, { actor: `execution:${id}` }),
    projectOf: (id) => (projects.projects.exists(id) ? projects.projects.get(id) : undefined),
    guidanceOf: (runId) => runs.rows.run(runId)?.human_context ?? null,
    sharedToken: config.agentToken === "shared" ? deps.engineToken : undefined,
    // A container reaches the server only where the operator says; a process of this host, where it listens.
    apiUrl: () => config.agentApiUrl ?? (sandbox.driver.kind === "process" ? deps.url() : undefined),
    workspaces: {
      prepare: projects.workspaces.prepare,
      commitStep: projects.workspaces.commitStep,
      async own(executionId) {
        const path = join(folder.workspaces, executionId);
        await mkdir(path, { recursive: true });
        return path;
      },
    },
    overdrawn: (execution, estimateUsd) => deps.budgets.check({ ...spenderOf(execution), estimateUsd }),
    reserve: (execution, amountUsd) => deps.budgets.reserve({ ...spenderOf(execution), amountUsd }),
    emitSoon: store.emitSoon,
    script: config.demoScript,
    onTick: runs.service.tick,
  });
  executions.onCancel(engine.scheduler.cancel);
  bus.subscribe([sessionEnded], ({ session_id }) => session_id && deps.budgets.release(session_id));
  bus.subscribe([stepQueued], () => engine.scheduler.wake());
  return {
    ...{ secrets, skills, pipelines, projects, codeGraph, agents, executions, runs, engine, sandbox },
    /** Budgets that the agent's file and the run bring along. */
    ownLimits({ agentId, runId }: Spender): OwnLimits {
      const { budget_usd_per_run, budget_usd_per_day } = (agentId && agentFiles.find(agentId)?.config) || {};
      const run = runId === undefined ? null : runs.budgetUsd(runId);
      return { run, agentPerRun: budget_usd_per_run, agentPerDay: budget_usd_per_day };
    },
    /** Goes on with what the last process left. */
    async start() {
      await projects.projects.recover();
      runs.service.resume();
      await engine.start();
    },
    async stop() {
      codeGraph.stop();
      await engine.stop();
      await sandbox.close();
    },
  };
}

const PURPOSES = {
  pipeline: "pipeline",
  chat: "chat",
  pulse: "pulse",
  swarm: "swarm",
  spawn: "swarm",
  onboarding: "onboarding",
  ingest: "transcript",
} as const;

const spenderOf = ({ id, agentId, runId, userId }: Execution) => ({ agentId, runId, userId, sessionId: id });

async function sandboxOf({ config, clock, log, docker, instanceId, settings }: WorkDeps) {
  const inProcess = createProcessSandboxes({ allowHostShell: config.allowHostShell, instanceId, clock });
  const server = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const onNotice = (message: string) => log.warn(message);
  const images =
    docker && createAgentImages({ docker, pull: config.imagePull, onNotice: (message) => log.info(message) });
  const driver =
    docker &&
    images &&
    createDockerSandboxes({
      docker,
      instanceId,
      defaultImage: settings.get().sandbox.image ?? config.agentImage,
      images,
      server,
      clock,
      onNotice,
    });
  const choice = await chooseSandbox(config.sandbox, docker && driver && { driver, ping: docker.ping }, inProcess);
  /** Leaves nothing of this server in the container engine. */
  const close = async () => (choice.driver === driver ? driver?.close() : undefined);
  const makeImage = images?.make ?? (async () => false);
  return { ...choice, close, makeImage, shell: choice.driver.kind === "docker" || config.allowHostShell };
}

/** The real port, with MODEL_CASSETTE recorded to or replayed from a folder. */
async function modelsOf({ config, clock, log, folder, keys, catalogue }: WorkDeps): Promise<ModelPort> {
  const scripted = createScriptedModel({ clock, ...(config.demoScript ? {} : { scriptsDir: folder.cache }) });
  const port = createModelPort({ keys, prices: catalogue, clock, scripted, log });
  const [, how, path = ""] = /^(record|replay):(.+)$/.exec(config.modelCassette ?? "") ?? [];
  if (how === "record") await mkdir(path, { recursive: true });
  if (how === "record") return createRecorder({ port, path: join(path, "calls.jsonl"), log });
  return how === "replay" ? createReplay({ path: join(path, "calls.jsonl"), clock, info: port }) : port;
}
