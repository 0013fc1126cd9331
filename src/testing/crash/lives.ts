/**
 * One database that outlives its processes: each life is what a started server has of executions, runs and engine over
 * it. The test plays the model: agents wait until it says how they end. A crash leaves the rows as they are.
 */
import { join } from "node:path";
import pino from "pino";
import type { Clock } from "../../core/clock.ts";
import { notFound } from "../../core/errors.ts";
import { createMasking } from "../../core/masking.ts";
import { parseAgentFile } from "../../engine/agent-file.ts";
import { createEngine } from "../../engine/engine.ts";
import type { ExecutionRows } from "../../engine/execution.ts";
import type { AssistantPart, ModelPort, ModelReply } from "../../engine/model.ts";
import { parsePipeline } from "../../engine/pipeline/parse.ts";
import { planner } from "../../engine/pipeline/planner.ts";
import type { Sandbox, SandboxDriver } from "../../engine/sandbox.ts";
import { builtInTools } from "../../engine/tool/built-in.ts";
import { createToolbox } from "../../engine/toolbox.ts";
import { createExecutions } from "../../feature/executions/service.ts";
import { stepQueued } from "../../feature/runs/events.ts";
import { openRuns } from "../../feature/runs/open.ts";
import { createAudit } from "../../store/audit.ts";
import { createBus } from "../../store/bus.ts";
import { createEventLog } from "../../store/event-log.ts";
import { openStore } from "../../store/store.ts";

/** A clock that only the test moves, both ways. */
export interface HandClock extends Clock {
  move(ms: number): void;
}

export function createHandClock(): HandClock {
  let now = Date.parse("2026-01-01T00:00:00.000Z");
  return {
    now: () => now,
    monotonic: () => performance.now(),
    move: (ms) => {
      now += ms;
    },
  };
}

const AGENT = parseAgentFile("worker", "---\nname: Worker\n---\nYou work.").agent;
const refuse = () => {
  throw notFound("thing in this test");
};

const SANDBOX = { kind: "process", hasShell: false, stop: async () => {} } as unknown as Sandbox;
const SANDBOXES: SandboxDriver = { kind: "process", start: async () => SANDBOX, sweep: async () => 0 };

function reply(parts: AssistantPart[], finish: ModelReply["finish"]): ModelReply {
  const usage = {
    input_tokens: 1,
    output_tokens: 1,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
  };
  const source = {
    cost_usd: 0,
    cost_source: "table",
    key_source: "none",
    provider: "demo",
    model: "demo/hand",
  } as const;
  return { parts, finish, usage, ...source, duration_ms: 1, time_to_first_token_ms: 1, attempts: 1 };
}

export type Lives = ReturnType<typeof createLives>;

export function createLives(pipelines: Record<string, string>) {
  const clock = createHandClock();
  const store = openStore({ path: ":memory:", clock, checkEvents: true });
  const bus = createBus((error) => {
    throw error;
  });
  store.onCommit(bus.deliver);
  const eventLog = createEventLog(store, clock);
  let life = born();

  function born() {
    let dead = false;
    const asked = new Map<string, (answer: ModelReply) => void>();
    const models: ModelPort = {
      call: ({ scope, signal }) =>
        new Promise((resolve) => {
          const answer = (given: ModelReply) => {
            if (dead) return;
            asked.delete(scope.sessionId);
            resolve(given);
          };
          asked.set(scope.sessionId, answer);
          signal.addEventListener("abort", () => answer(reply([], "aborted")), { once: true });
        }),
      info: (id) => ({
        ...{ id, context_window: null, input_usd_per_mtok: 0, output_usd_per_mtok: 0, reasoning: false, tools: true },
      }),
      estimateUsd: () => 0,
    };
    const executions = createExecutions({ store, clock, recordCall: () => {} });
    // Whatever a dead process would still write never reaches the rows.
    const rows = new Proxy(executions.rows, {
      get: (target, name: keyof ExecutionRows) => {
        if (dead) throw new Error("dead");
        return target[name];
      },
    });
    const runs = openRuns({
      ...{ store, clock, audit: createAudit(store, clock), planner, executions },
      pipelineOf: (id) => parsePipeline(pipelines[id] ?? "").definition ?? refuse(),
      projectNamed: refuse,
      projectById: () => undefined,
      agentOf: () => AGENT,
      skillsFor: () => [],
      isModel: () => true,
    });
    const engine = createEngine({
      ...{ clock, log: pino({ level: "silent" }), rows, models, sandboxes: SANDBOXES, agentOf: () => AGENT },
      masking: createMasking(),
      limits: () => ({ parallel: 50, perAgent: 50 }),
      defaults: () => ({
        model: () => "demo/hand",
        limits: { max_turns: 50, timeout_seconds: 86_400 },
        sandbox: { image: null, network: "none", memory_mb: 64, cpus: 1 },
      }),
      allowsTool: () => () => true,
      skills: { available: () => [] },
      toolbox: createToolbox(() => [builtInTools({ fetchPage: refuse })]),
      secretsOf: () => ({}),
      projectOf: () => undefined,
      guidanceOf: () => null,
      ...{ sharedToken: undefined, apiUrl: () => undefined, script: undefined },
      workspaces: {
        prepare: async ({ id }) => ({ path: join("/nowhere", id) }),
        commitStep: async () => {},
        own: async (id) => join("/nowhere", id),
      },
      overdrawn: () => undefined,
      reserve: () => true,
      emitSoon: store.emitSoon,
      onTick: () => runs.service.tick(),
    });
    executions.onCancel((id) => engine.scheduler.cancel(id));
    const deaf = bus.subscribe([stepQueued], () => engine.scheduler.wake());
    return {
      ...{ executions, runs, engine, asked },
      async start() {
        runs.service.resume();
        await engine.start();
      },
      die() {
        deaf();
        dead = true;
        asked.clear();
        // Clears its timers; what it would still do ends at the dead rows.
        void engine.stop();
      },
    };
  }

  /** Agents that work and wait for the model, and nothing else to do. */
  const isQuiet = () =>
    life.executions.live().every(({ id, status }) => status === "running" && life.asked.has(id)) &&
    life.engine.scheduler.active === life.asked.size;

  return {
    ...{ clock, store, eventLog },
    get runs() {
      return life.runs;
    },
    get executions() {
      return life.executions;
    },
    start: () => life.start(),
    /** The process is gone from one moment to the next, and another starts. */
    async crash() {
      life.die();
      life = born();
      await life.start();
    },
    /** As the engine's timer does each second. */
    tick: () => life.runs.service.tick(),
    /** Waits until every agent waits for the model. */
    async settle() {
      for (let turn = 0; turn < 2_000; turn++) {
        if (isQuiet()) return;
        await new Promise((resolve) => setImmediate(resolve));
      }
      throw new Error(`never quiet: ${JSON.stringify(life.executions.live())}`);
    },
    /** The model of that session calls `complete` with these outputs, or `fail`. */
    answer(sessionId: string, outputs: Record<string, unknown> | null) {
      const call =
        outputs === null
          ? { tool: "fail", input: { reason: "cannot" } }
          : { tool: "complete", input: { outputs, summary: "done" } };
      life.asked.get(sessionId)!(reply([{ type: "tool_call", call_id: "call_1", ...call }], "tool_calls"));
    },
    close() {
      life.die();
      store.close();
    },
  };
}
