/** The engine with runs over a real database, the process sandbox and the scripted model, without HTTP. For tests. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { createCatalogue } from "../adapter/model/catalogue.ts";
import { createModelPort } from "../adapter/model/model-port.ts";
import { createScriptedModel } from "../adapter/model/scripted.ts";
import { createProcessSandboxes } from "../adapter/sandbox/process/driver.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { notFound } from "../core/errors.ts";
import type { SkepEvent } from "../core/events.ts";
import { createMasking } from "../core/masking.ts";
import { parseAgentFile } from "../engine/agent-file.ts";
import { createEngine, type EngineDeps } from "../engine/engine.ts";
import type { ModelPort } from "../engine/model.ts";
import { parsePipeline } from "../engine/pipeline/parse.ts";
import { planner } from "../engine/pipeline/planner.ts";
import type { SandboxDriver } from "../engine/sandbox.ts";
import { builtInTools } from "../engine/tool/built-in.ts";
import type { ToolSource } from "../engine/tool.ts";
import { createToolbox } from "../engine/toolbox.ts";
import { createExecutions } from "../feature/executions/service.ts";
import { stepQueued } from "../feature/runs/events.ts";
import { openRuns } from "../feature/runs/open.ts";
import { LOCAL_ADMIN } from "../http/caller.ts";
import { createAudit } from "../store/audit.ts";
import { createBus } from "../store/bus.ts";
import { createEventLog } from "../store/event-log.ts";
import { openStore } from "../store/store.ts";

const AGENT = "---\nname: Worker\n---\nYou work.";

export interface RigOptions {
  /** Pipeline files by id. */
  pipelines: Record<string, string>;
  /** Transcript of the scripted model, YAML or JSON. */
  script?: string;
  /** AGENT.md by id; `worker` is there anyway. */
  agents?: Record<string, string>;
  secrets?: Record<string, string>;
  model?: ModelPort;
  sandboxes?: SandboxDriver;
  clock?: Clock;
  allowHostShell?: boolean;
  overdrawn?: EngineDeps["overdrawn"];
  /** Besides the engine's own. */
  tools?: ToolSource[];
  reserve?: EngineDeps["reserve"];
}

export type Rig = ReturnType<typeof createRig>;

export function createRig(options: RigOptions) {
  const { clock = systemClock, pipelines, agents = {}, secrets = {} } = options;
  const folder = mkdtempSync(join(tmpdir(), "skep-rig-"));
  const store = openStore({ path: join(folder, "skep.db"), clock, checkEvents: true });
  const bus = createBus((error) => {
    throw error;
  });
  store.onCommit(bus.deliver);
  const log = pino({ level: "silent" });
  const masking = createMasking();
  const eventLog = createEventLog(store, clock);
  if (options.script !== undefined) writeFileSync(join(folder, "script.yml"), `version: 1\n${options.script}`);
  const catalogue = createCatalogue({ clock });
  const models =
    options.model ??
    createModelPort({
      keys: { resolve: () => undefined },
      prices: catalogue,
      clock,
      scripted: createScriptedModel({ clock }),
    });
  const calls: string[] = [];
  const executions = createExecutions({
    store,
    clock,
    recordCall: (_tx, execution) => void calls.push(execution.id),
  });
  const agentOf = (id: string) => {
    const text = agents[id] ?? (id === "worker" ? AGENT : undefined);
    if (text === undefined) throw notFound("agent");
    return parseAgentFile(id, text).agent;
  };
  const runs = openRuns({
    store,
    clock,
    audit: createAudit(store, clock),
    planner,
    executions,
    pipelineOf(id) {
      const { definition, problems } = parsePipeline(pipelines[id] ?? "");
      if (!definition) throw new Error(JSON.stringify(problems));
      return definition;
    },
    projectNamed: () => {
      throw notFound("project");
    },
    projectById: () => undefined,
    agentOf,
    isModel: () => true,
    skillsFor: (_agent, _input, always) => [...always],
  });
  const workspaceOf = (id: string) => {
    const path = join(folder, "workspaces", id);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const makeEngine = () =>
    createEngine({
      clock,
      log,
      masking,
      rows: executions.rows,
      models,
      sandboxes:
        options.sandboxes ?? createProcessSandboxes({ allowHostShell: options.allowHostShell ?? false, clock }),
      limits: () => ({ parallel: 8, perAgent: 8 }),
      defaults: () => ({
        model: () => "demo/scripted",
        limits: { max_turns: 50, timeout_seconds: 600 },
        sandbox: { image: null, network: "none", memory_mb: 256, cpus: 1 },
      }),
      agentOf,
      allowsTool: () => () => true,
      skills: { available: () => [] },
      toolbox: createToolbox(() => [
        builtInTools({ fetchPage: () => Promise.reject(notFound("page")) }),
        ...(options.tools ?? []),
      ]),
      secretsOf: () => secrets,
      projectOf: () => undefined,
      guidanceOf: () => null,
      sharedToken: undefined,
      apiUrl: () => undefined,
      workspaces: {
        prepare: async ({ id }) => ({ path: workspaceOf(id) }),
        commitStep: async () => {},
        own: async (id) => workspaceOf(id),
      },
      overdrawn: options.overdrawn ?? (() => undefined),
      reserve: options.reserve ?? (() => true),
      emitSoon: store.emitSoon,
      script: options.script === undefined ? undefined : join(folder, "script.yml"),
      onTick: () => runs.service.tick(),
    });
  let engine = makeEngine();
  executions.onCancel((id) => engine.scheduler.cancel(id));
  bus.subscribe([stepQueued], () => engine.scheduler.wake());

  /** Resolves with the first event that fits, past ones included. */
  const event = (fits: (event: SkepEvent) => boolean): Promise<SkepEvent> =>
    new Promise((resolve) => {
      const past = eventLog.read(0, 100_000).find(fits);
      if (past) return resolve(past);
      const stop = bus.subscribeAll((one) => {
        if (!fits(one)) return;
        stop();
        resolve(one);
      });
    });
  return {
    store,
    bus,
    masking,
    runs,
    get engine() {
      return engine;
    },
    /** Another engine over the same rows, as after a restart. */
    second() {
      engine = makeEngine();
      return engine;
    },
    executions,
    eventLog,
    calls,
    workspaceOf,
    event,
    create: (pipeline: string, task = "do it") =>
      runs.service.create({ pipeline_id: pipeline, task_description: task }, LOCAL_ADMIN),
    /** The run once it has ended. */
    async ended(runId: string) {
      await event(
        ({ kind, run_id }) => run_id === runId && ["run_complete", "run_failed", "run_cancelled"].includes(kind),
      );
      return runs.views.one(runId, LOCAL_ADMIN);
    },
    steps: (runId: string) => runs.rows.stepsOf(runId),
    events: () => eventLog.read(0, 100_000),
    async close() {
      await engine.stop();
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
