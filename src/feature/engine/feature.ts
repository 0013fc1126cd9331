/** The engine with its ports: models, sandboxes, tools, and what agents are given of the features. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createGuardedFetch } from "../../adapter/guarded-fetch.ts";
import type { Catalogue } from "../../adapter/model/catalogue.ts";
import { createModelPort, type ModelKeys } from "../../adapter/model/model-port.ts";
import { createRecorder, createReplay } from "../../adapter/model/record.ts";
import { createScriptedModel, SCRIPTED_MODEL } from "../../adapter/model/scripted.ts";
import { chooseSandbox } from "../../adapter/sandbox/choice.ts";
import { createAgentImages } from "../../adapter/sandbox/docker/agent-image.ts";
import { createDockerSandboxes } from "../../adapter/sandbox/docker/driver.ts";
import { createProcessSandboxes } from "../../adapter/sandbox/process/driver.ts";
import { executionRefs } from "../../core/events.ts";
import { BUILD } from "../../core/version.ts";
import { createEngine, type Engine } from "../../engine/engine.ts";
import { engineEvents } from "../../engine/events.ts";
import type { Execution } from "../../engine/execution.ts";
import type { ModelPort } from "../../engine/model.ts";
import type { SandboxDriver } from "../../engine/sandbox.ts";
import { builtInTools } from "../../engine/tool/built-in.ts";
import { createToolbox } from "../../engine/toolbox.ts";
import type { agents } from "../agents/feature.ts";
import type { Budgets } from "../budgets/service.ts";
import { activity } from "../events/events.ts";
import type { Executions } from "../executions/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { projects } from "../projects/feature.ts";
import type { RunsService } from "../runs/service.ts";
import type { Secrets } from "../secrets/service.ts";
import type { SettingsService } from "../settings/service.ts";
import type { Skills } from "../skills/service.ts";

type Needs = Core & {
  settings: SettingsService;
  providers: { catalogue: Catalogue; keys: ModelKeys; anyConfigured(): boolean };
  skills: Pick<Skills, "forAgents">;
  projects: Pick<ServiceOf<typeof projects>, "find" | "workspaces">;
  agents: Pick<ServiceOf<typeof agents>, "ready" | "overrides">;
  secrets: Pick<Secrets, "envOf">;
  budgets: Pick<Budgets, "check" | "reserve">;
  executions: Executions;
  runs: Pick<RunsService, "rows">;
};

export interface EngineService {
  /** The execution whose token this is, while it runs. */
  executionOf: Engine["tokens"]["find"];
  sandbox: { kind: SandboxDriver["kind"]; shell: boolean };
  /** Executions at work in this process. */
  active(): number;
  /** Makes the agents' image when it is one of ours. @returns whether it is there now. */
  makeImage(image: string): Promise<boolean>;
}

/** What of the settings names the model for an execution of that kind. */
const PURPOSES = {
  pipeline: "pipeline",
  chat: "chat",
  pulse: "pulse",
  swarm: "swarm",
  spawn: "swarm",
  onboarding: "onboarding",
  ingest: "transcript",
} as const;

export const engine = defineFeature(
  "engine",
  async (deps: Needs) => {
    const { clock, log, masking, text, config, store, guard, folder, settings, providers, contributions } = deps;
    const { skills, projects, agents, secrets, budgets, executions, runs } = deps;
    const agentOf = (id: string) => agents.ready(id).agent;
    const sandbox = await sandboxOf(deps);
    log.info({ sandbox: sandbox.driver.kind }, sandbox.reason);
    const engine = createEngine({
      ...{
        clock,
        log,
        masking,
        text,
        rows: executions.rows,
        sandboxes: sandbox.driver,
        agentOf,
        emitSoon: store.emitSoon,
      },
      toolbox: createToolbox(
        () => contributions.tools,
        (source, err) => log.warn({ err, source }, "a source of tools failed; agents go on without its tools"),
      ),
      models: deps.replaced.models ?? (await modelsOf(deps)),
      limits: () => ({ parallel: config.maxExecutions, perAgent: settings.get().limits.executions_per_agent }),
      defaults: () => ({
        ...settings.get(),
        model: (kind) => settings.modelFor(PURPOSES[kind]) ?? (providers.anyConfigured() ? null : SCRIPTED_MODEL),
      }),
      allowsTool: (id) => agents.overrides.allows(id, agentOf(id).config.tools),
      skills: skills.forAgents,
      secretsOf(execution) {
        const { env, damaged } = secrets.envOf(execution.agentId, { actor: `execution:${execution.id}` });
        if (damaged.length > 0) {
          log.warn({ agent: execution.agentId, execution: execution.id, secrets: damaged }, "secrets cannot be opened");
          const data = { title: `Works without what cannot be opened: ${damaged.join(", ")}.` };
          store.emitSoon(activity, { ...executionRefs(execution), data });
        }
        return env;
      },
      projectOf: projects.find,
      guidanceOf: (runId) => runs.rows.run(runId)?.human_context ?? null,
      sharedToken: config.agentToken === "shared" ? deps.keys.engineToken : undefined,
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
      overdrawn: (execution, estimateUsd) => budgets.check({ ...spenderOf(execution), estimateUsd }),
      reserve: (execution, amountUsd) => budgets.reserve({ ...spenderOf(execution), amountUsd }),
      script: config.demoScript,
    });
    executions.listen({ queued: engine.scheduler.wake, cancelled: engine.scheduler.cancel });
    const shell = sandbox.driver.kind === "docker" || config.allowHostShell;
    const service: EngineService = {
      executionOf: engine.tokens.find,
      active: () => engine.scheduler.active,
      sandbox: { kind: sandbox.driver.kind, shell },
      makeImage: sandbox.makeImage,
    };
    return {
      service,
      tools: builtInTools({
        readableText: text.readableText,
        fetchPage: createGuardedFetch({ resolve: guard.resolve, userAgent: `Skep/${BUILD.version}` }),
      }),
      start: engine.start,
      async stop() {
        await engine.stop();
        await sandbox.close();
      },
    };
  },
  engineEvents,
);

const spenderOf = ({ id, agentId, runId, userId }: Execution) => ({ agentId, runId, userId, sessionId: id });

async function sandboxOf({ config, clock, log, docker, instanceId, settings, replaced }: Needs) {
  if (replaced.sandboxes)
    return { driver: replaced.sandboxes, reason: "replaced", close: async () => {}, makeImage: async () => false };
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
  return { ...choice, close, makeImage: images?.make ?? (async () => false) };
}

/** The real port, with MODEL_CASSETTE recorded to or replayed from a folder. */
async function modelsOf({ config, clock, log, masking, folder, providers }: Needs): Promise<ModelPort> {
  const { keys, catalogue } = providers;
  const scripted = createScriptedModel({ clock, ...(config.demoScript ? {} : { scriptsDir: folder.cache }) });
  const port = createModelPort({ keys, prices: catalogue, clock, scripted, log });
  const [, how, path = ""] = /^(record|replay):(.+)$/.exec(config.modelCassette ?? "") ?? [];
  if (how === "record") await mkdir(path, { recursive: true });
  if (how === "record") return createRecorder({ port, path: join(path, "calls.jsonl"), masker: masking, log });
  return how === "replay" ? createReplay({ path: join(path, "calls.jsonl"), clock, info: port }) : port;
}
