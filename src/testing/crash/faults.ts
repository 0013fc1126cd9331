/** Faults in a server's surroundings, chosen by a seed. Each fault ends by itself, and the server survives it. */
import { writeFileSync } from "node:fs";
import type { Behaviour, ModelServer } from "../model-server.ts";
import type { TestServer } from "../server.ts";
import type { DockerCut } from "./docker-cut.ts";
import type { CallFault, FaultLibrary } from "./fault-library.ts";
import type { Random } from "./random.ts";

export interface Fault {
  /** Description for the report. */
  what: string;
  /** Causes the fault, waits, and ends it. @returns how many calls or requests failed, if known. */
  strike(server: TestServer): Promise<number>;
}

/** The parts of a server's surroundings that can be disturbed. */
export interface Surroundings {
  calls?: FaultLibrary;
  /** Path of the file that libfaketime reads; its content is for example "+0". */
  clock?: string;
  engine?: DockerCut;
  provider?: { server: ModelServer; answer: (request: { body: unknown }) => Behaviour };
}

const LONGEST_MS = 1_500;
const MOST_CALLS = 12;
const HOUR_S = 3_600;

function suspension(random: Random): Fault {
  const ms = 50 + random.upTo(LONGEST_MS);
  return {
    what: `suspended for ${ms} ms`,
    async strike({ pid }) {
      process.kill(pid, "SIGSTOP");
      await Bun.sleep(ms);
      process.kill(pid, "SIGCONT");
      return 0;
    },
  };
}

function clockJump(random: Random, file: string): Fault {
  const seconds = random.upTo(4 * HOUR_S) - 2 * HOUR_S;
  const offset = seconds < 0 ? `${seconds}s` : `+${seconds}s`;
  return {
    what: `clock set by ${offset}`,
    async strike() {
      writeFileSync(file, `${offset}\n`);
      return 0;
    },
  };
}

function failingCalls(random: Random, calls: FaultLibrary): Fault {
  const kinds: CallFault[] = ["no space", "bad write", "bad sync", "no descriptor"];
  const kind = kinds[random.upTo(kinds.length - 1)]!;
  const [spared, failing, ms] = [random.upTo(20), 1 + random.upTo(MOST_CALLS), 50 + random.upTo(LONGEST_MS)];
  return {
    what: `${kind}: ${failing} calls after ${spared}, within ${ms} ms`,
    async strike() {
      calls.set(kind, spared, failing);
      await Bun.sleep(ms);
      return calls.mend();
    },
  };
}

function failingEngine(random: Random, engine: DockerCut): Fault {
  const ms = 50 + random.upTo(2 * LONGEST_MS);
  const way = (["gone", "refuses", "hangs"] as const)[random.upTo(2)]!;
  return {
    what: `engine ${way} for ${ms} ms`,
    async strike() {
      if (way === "gone") await engine.cut();
      else if (way === "refuses") engine.refuse(/./);
      else engine.hold(true);
      await Bun.sleep(ms);
      if (way === "gone") await engine.mend();
      engine.refuse(null);
      engine.hold(false);
      return 1;
    },
  };
}

function failingProvider(random: Random, { server, answer }: NonNullable<Surroundings["provider"]>): Fault {
  const ms = 50 + random.upTo(LONGEST_MS);
  const words = { text: "First I" };
  const ways: [string, Behaviour][] = [
    ["429 with a time", { kind: "status", status: 429, headers: { "retry-after": "1" } }],
    ["429", { kind: "status", status: 429 }],
    ["500", { kind: "status", status: 500 }],
    ["529", { kind: "status", status: 529 }],
    ["a stream that is torn", { kind: "cut", reply: words, how: "torn" }],
    ["a stream that ends early", { kind: "cut", reply: words, how: "closed" }],
    ["a stream that is not JSON", { kind: "malformed", reply: words }],
    ["an error in a stream", { kind: "error-frame", reply: words, message: "overloaded" }],
  ];
  const [name, behaviour] = ways[random.upTo(ways.length - 1)]!;
  return {
    what: `provider: ${name} for ${ms} ms`,
    async strike() {
      let failed = 0;
      server.answerBy(() => {
        failed++;
        return behaviour;
      });
      await Bun.sleep(ms);
      server.answerBy(answer);
      return failed;
    },
  };
}

/** @returns the fault chosen by the random numbers, among those that are possible here; undefined means kill -9. */
export function chooseFault(random: Random, { calls, clock, engine, provider }: Surroundings): Fault | undefined {
  const ways: (() => Fault | undefined)[] = [() => undefined, () => suspension(random)];
  if (clock !== undefined) ways.push(() => clockJump(random, clock));
  if (calls)
    ways.push(
      () => failingCalls(random, calls),
      () => failingCalls(random, calls),
    );
  if (engine)
    ways.push(
      () => failingEngine(random, engine),
      () => failingEngine(random, engine),
    );
  if (provider)
    ways.push(
      () => failingProvider(random, provider),
      () => failingProvider(random, provider),
    );
  return ways[random.upTo(ways.length - 1)]!();
}
