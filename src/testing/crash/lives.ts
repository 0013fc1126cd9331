/**
 * A database that outlives its processes. Each life is the product, without HTTP, on this database. The test plays the
 * model: agents wait until it says how they end. A crash leaves the rows as they are.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openHouse } from "../../app.ts";
import type { Clock } from "../../core/clock.ts";
import { readConfig } from "../../core/config.ts";
import type { ModelPort, ModelReply } from "../../engine/model.ts";
import type { AssistantPart } from "../../engine/parts.ts";
import type { Sandbox, SandboxDriver } from "../../engine/sandbox.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { createEventLog } from "../../store/event-log.ts";
import { openStore, type Store } from "../../store/store.ts";

/** A clock that only the test moves, forwards or backwards. */
interface HandClock extends Clock {
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

/** How long a life may take until all agents wait for the model, in ms. */
const PATIENCE_MS = 240_000;

const SANDBOX = {
  capabilities: {
    shell: false,
    network: "own",
    isolation: "container",
    files: "shared",
    filesAtOnce: 100,
    previews: "none",
  },
  workspace: { bringBack: async () => {} },
  freeze: async () => {},
  isAlive: async () => true,
  stop: async () => {},
} as unknown as Sandbox;
const SANDBOXES: SandboxDriver = {
  name: "none",
  capabilities: SANDBOX.capabilities,
  noticeMs: 0,
  about: async () => ({ files: "", commands: "", network: "" }),
  start: async () => SANDBOX,
  sweep: async () => ({ removed: 0, left: [] }),
};

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

export type Lives = Awaited<ReturnType<typeof openLives>>;

export async function openLives(pipelines: Record<string, string>) {
  const clock = createHandClock();
  const data = mkdtempSync(join(tmpdir(), "skep-lives-"));
  const files = { "worker/AGENT.md": "You work.", ...toFiles(pipelines) };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(data, "agents", path)), { recursive: true });
    writeFileSync(join(data, "agents", path), text);
  }
  const config = readConfig({ DATA: data, SANDBOX: "process", LOG_LEVEL: "silent", MAX_EXECUTIONS: "50" });
  const store = openStore({ path: ":memory:", clock, checkEvents: true });
  const eventLog = createEventLog(store);
  let life = await startLife();
  life.services.settings.update({ limits: { executions_per_agent: 50 } }, LOCAL_ADMIN);

  async function startLife() {
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
        id,
        context_window: null,
        max_context_window: null,
        max_output_tokens: null,
        input_usd_per_mtok: 0,
        output_usd_per_mtok: 0,
        reasoning: false,
        tools: true,
        images: false,
        documents: false,
      }),
      estimateUsd: () => 0,
    };
    const assertAlive = () => {
      if (dead) throw new Error("dead");
    };
    const house = await openHouse(config, { clock, models, sandboxes: SANDBOXES, store: mortal(store, assertAlive) });
    return {
      asked,
      services: house.services,
      async start() {
        await house.start();
        await house.resume();
      },
      die() {
        dead = true;
        asked.clear();
        // Clear the timers. Whatever the old life still tries to do fails at its dead store.
        void house.stop();
        house.core.close();
      },
    };
  }

  /** Whether every active agent waits for the model and there is nothing else to do. */
  const isQuiet = () =>
    life.services.sessions
      .liveExecutions()
      .every((one) => one.status === "running" && life.asked.has(one.session_id)) &&
    life.services.engine.active() === life.asked.size;

  return {
    clock,
    store,
    eventLog,
    get runs() {
      return life.services.runs;
    },
    get sessions() {
      return life.services.sessions;
    },
    start: () => life.start(),
    /** Ends the process without warning and starts another. */
    async crash() {
      life.die();
      life = await startLife();
      await life.start();
    },
    /** Does what the engine's timer does each second. */
    tick() {
      let isLeft = true;
      while (isLeft) {
        isLeft = false;
        life.services.runs.tick(() => {
          isLeft = true;
        });
      }
    },
    /** Waits until all active agents wait for the model. */
    async settle() {
      // Limit the time, not the number of turns: on a busy machine thousands of turns pass while another thread reads
      // one file.
      const until = performance.now() + PATIENCE_MS;
      while (performance.now() < until) {
        if (isQuiet()) return;
        await new Promise((resolve) => setImmediate(resolve));
      }
      throw new Error(`never quiet: ${JSON.stringify(life.services.sessions.liveExecutions())}`);
    },
    /** Makes the session's model call `complete` with these outputs, or `fail`. */
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
      rmSync(data, { recursive: true, force: true });
    },
  };
}

const toFiles = (pipelines: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(pipelines).map(([id, text]) => [`_pipelines/${id}.yml`, text]));

/** A store that refuses to write once its process is dead. */
const mortal = (store: Store, assertAlive: () => void): Store => ({
  ...store,
  write(change) {
    assertAlive();
    return store.write(change);
  },
  emitSoon(...given) {
    assertAlive();
    store.emitSoon(...given);
  },
});
