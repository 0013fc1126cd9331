/**
 * Work on text of models, web pages and schemas. Separate processes do it, and are killed at their limits, so that
 * nothing a stranger wrote blocks the server or fills its memory.
 */
import { Problem, unavailable } from "../core/errors.ts";
import { isCheap, schemaFaults } from "../core/json-schema.ts";
import { createWorkerPool } from "../process/worker-pool.ts";
import { type LostHow, WorkerLost, WorkerProcess } from "../process/worker-process.ts";
import type { TextOperation, TextOperations, TextReply } from "./protocol.ts";

export interface TextLimits {
  /** Longest that one piece of work may take. */
  timeoutMs: number;
  /** Resident bytes that a process may hold. */
  memoryBytes: number;
  /** A process without work for this many milliseconds is stopped. */
  idleMs: number;
}

const DEFAULT_TEXT_LIMITS: TextLimits = {
  timeoutMs: 10_000,
  memoryBytes: 768 * 1024 * 1024,
  idleMs: 60_000,
};

export type TextWork = ReturnType<typeof createTextWork>;

interface TextWorkOptions {
  /** Command line of a text worker. */
  command: readonly string[];
  limits?: Partial<TextLimits>;
  /** Called with the reason when a worker was killed or ended, for the log. */
  onRestart?(reason: string): void;
}

const PROCESSES = 2;
const WAITING = 256;
const MEMORY_CHECK_MS = 50;

const FAILURE: Record<LostHow, string> = {
  late: "takes too long to work on",
  memory: "needs too much memory to work on",
  ended: "cannot be worked on",
};

const tooHard = (what: string, how: LostHow) => new Problem(422, "too_hard", `${what} ${FAILURE[how]}.`);

export function createTextWork({ command, onRestart, ...options }: TextWorkOptions) {
  const limits = { ...DEFAULT_TEXT_LIMITS, ...options.limits };
  const { timeoutMs, memoryBytes, idleMs } = limits;
  const workers = new Set<WorkerProcess<TextReply>>();
  let isClosed = false;
  const createStoppingProblem = () => unavailable("stopping", "The server stops.");

  function spawn(): WorkerProcess<TextReply> {
    if (isClosed) throw createStoppingProblem();
    const setup = { name: "text worker", command, env: {}, idleMs, memoryBytes, memoryCheckMs: MEMORY_CHECK_MS };
    const worker = new WorkerProcess<TextReply>(setup, (ended, reason) => {
      if (reason) onRestart?.(reason);
      workers.delete(ended);
      pool.forget(ended);
    });
    workers.add(worker);
    return worker;
  }
  const pool = createWorkerPool<TextReply>({
    processes: PROCESSES,
    waiting: WAITING,
    keptBytes: memoryBytes / 2,
    spawn,
    busy: () => unavailable("text_busy", "Too much work on text waits here. Try again in a moment."),
  });

  async function ask<Name extends TextOperation>(
    owner: string,
    what: string,
    operation: Name,
    ...args: TextOperations[Name]["args"]
  ): Promise<TextOperations[Name]["value"]> {
    try {
      const askWorker = (worker: WorkerProcess<TextReply>) =>
        worker.ask({
          what: operation,
          message: { operation, args },
          timeoutMs,
          take: (reply) =>
            reply.kind === "value" ? { value: reply.value } : { error: createUnusableProblem(what, reply.message) },
        });
      return (await pool.run(owner, askWorker)) as TextOperations[Name]["value"];
    } catch (error) {
      if (isClosed) throw createStoppingProblem();
      throw error instanceof WorkerLost ? tooHard(what, error.how) : error;
    }
  }

  return {
    /**
     * Extracts the readable text of a page; null when the body is not text.
     * @param owner whose work it is: one piece runs at a time.
     * @throws Problem 422 `too_hard` when the work takes too long or too much memory, 503 when too much work waits.
     */
    readableText: (owner: string, contentType: string, body: Uint8Array): Promise<string | null> =>
      ask(owner, "The page", "readableText", contentType, body),
    /**
     * Lists in words where a value does not fit a schema. @throws the same as `readableText`, and 422 for a schema that
     * cannot be used.
     */
    async schemaFaults(owner: string, schema: object, value: unknown): Promise<string[]> {
      if (isCheap(schema, value)) return schemaFaults(schema, value);
      return ask(owner, "The value with this schema", "schemaFaults", schema, JSON.stringify(value) ?? "null");
    },
    /** Process ids of the workers that run now. */
    pids: (): number[] => [...workers].map((worker) => worker.pid),
    /** Ends all workers and waits for them. Work under way fails. */
    async close(): Promise<void> {
      isClosed = true;
      const all = [...workers];
      for (const worker of all) worker.kill("");
      await Promise.all(all.map((worker) => worker.exited));
    },
  };
}

const createUnusableProblem = (what: string, why: string) =>
  new Problem(422, "too_hard", `${what} cannot be worked on: ${why.slice(0, 300)}`);
