/**
 * A server whose surroundings fail at random points of a run: writes, syncs, file descriptors, the clock, the machine's
 * sleep, the engine, the provider, and kill -9. Every run must end like the undisturbed one, with nothing lost and
 * nothing repeated.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dockerForTests, testImage } from "../docker-image.ts";
import { createModelServer, type ModelServer, reply } from "../model-server.ts";
import type { FakeToolCall } from "../model-wire.ts";
import type { TestServer } from "../server.ts";
import { type CrashRun, sixSteps, twoSteps } from "./crash-pipeline.ts";
import { dockerCut } from "./docker-cut.ts";
import { openFaultLibrary } from "./fault-library.ts";
import { chooseFault, type Surroundings } from "./faults.ts";
import { findings, outcomeOf } from "./findings.ts";
import { crashFolder, openLane } from "./lane.ts";
import { createRandom } from "./random.ts";

interface FaultReport {
  /** Which fault happened, and where. */
  what: string;
  /** Number of calls or requests that failed. */
  failed: number;
  findings: string[];
}

export interface FaultCampaign {
  /** "process": scripted model and process sandbox. "docker": containers. "provider": a model behind HTTP. */
  room: "process" | "docker" | "provider";
  seed: number;
  points: number;
  onPoint?(report: FaultReport): void;
}

const PACE = { commandMs: 20, replyMs: 20 };
const FAKETIME = ["x86_64", "aarch64"].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`);

interface Room {
  run: CrashRun;
  env: Record<string, string>;
  surroundings: Surroundings;
  prepare?(server: TestServer): Promise<unknown>;
  close(): unknown;
}

/** System calls that fail, and a clock that jumps. */
function openProcessRoom(data: string): Room {
  const calls = openFaultLibrary();
  const clock = join(data, "skep.clock");
  writeFileSync(clock, "+0\n");
  const { LD_PRELOAD, ...rest } = calls.env(data);
  const faketime = FAKETIME.find((path) => Bun.spawnSync(["test", "-e", path]).exitCode === 0);
  if (!faketime) throw new Error("the campaign needs libfaketime (Debian's package faketime)");
  return {
    run: sixSteps(PACE),
    env: {
      ...rest,
      LD_PRELOAD: `${LD_PRELOAD} ${faketime}`,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    surroundings: { calls, clock },
    close: calls.remove,
  };
}

async function openDockerRoom(data: string): Promise<Room> {
  const docker = await dockerForTests(process.env);
  if (!docker) throw new Error("the campaign needs a Docker engine");
  const engine = await dockerCut(join(data, "skep.docker.sock"));
  return {
    run: twoSteps(PACE),
    env: {
      SANDBOX: "docker",
      DOCKER_HOST: engine.address,
      AGENT_IMAGE: await testImage(docker),
      IMAGE_PULL: "false",
    },
    surroundings: { engine },
    close: engine.cut,
  };
}

/** Plays a script over a provider's protocol. The outputs that `complete` asks for identify the step. */
function playScript({ script }: CrashRun) {
  const turns = Object.values(script.steps) as { text?: string; tool_calls?: { tool: string; input: object }[] }[][];
  return ({ body }: { body: unknown }) => {
    const { messages, tools } = body as { messages: { role: string }[]; tools: object[] };
    const made = messages.filter(({ role }) => role === "assistant").length;
    const asked = JSON.stringify(tools);
    const isAsked = (one: (typeof turns)[number]) => {
      const { outputs } = one.at(-1)!.tool_calls![0]!.input as { outputs: object };
      return Object.keys(outputs).every((name) => asked.includes(`"${name}"`));
    };
    const { text = "", tool_calls = [] } = turns.find(isAsked)![Math.min(made, 1)]!;
    const toolCalls = tool_calls.map(
      ({ tool, input }, at): FakeToolCall => ({
        id: `scripted_${made + 1}_${at + 1}`,
        name: tool,
        input: { ...input },
      }),
    );
    return reply({ text, toolCalls });
  };
}

async function openProviderRoom(): Promise<Room> {
  const run = { ...twoSteps(PACE), model: "custom-lab/m1" };
  const server: ModelServer = await createModelServer();
  const answer = playScript(run);
  server.answerBy(answer);
  const provider = {
    base_url: `${server.origin}/v1`,
    default: "custom-lab/m1",
    models: [{ id: "m1", context_window: 32_768 }],
  };
  return {
    run,
    env: {},
    surroundings: { provider: { server, answer } },
    prepare: (skep) => skep.request("PUT", "/v1/settings/providers/custom-lab", { body: provider }),
    close: server.stop,
  };
}

const openRoom = (room: FaultCampaign["room"], data: string): Promise<Room> | Room => {
  if (room === "process") return openProcessRoom(data);
  return room === "docker" ? openDockerRoom(data) : openProviderRoom();
};

/** @returns a report for each point. The points follow from the seed. */
export async function faultCampaign({ room, seed, points, onPoint = () => {} }: FaultCampaign): Promise<FaultReport[]> {
  const data = crashFolder();
  const { run, env, surroundings, prepare, close } = await openRoom(room, data);
  const reports: FaultReport[] = [];
  try {
    const lane = await openLane(run, env, { data, ...(prepare ? { prepare } : {}) });
    try {
      const calm = await lane.runUndisturbed();
      const expected = outcomeOf(calm);
      const events = calm.log.filter(({ run_id }) => run_id !== undefined).length;
      const random = createRandom(seed);
      for (let point = 0; point < points; point++) {
        const fault = chooseFault(random, surroundings);
        const at = { events: random.upTo(events), laterMs: random.upTo(40) };
        const disturbed = await lane.disturb({ ...at, fault });
        const report = {
          what: `${fault?.what ?? "killed"} at event ${at.events} + ${at.laterMs} ms (${disturbed.run.id})`,
          failed: disturbed.failed,
          findings: findings(disturbed, expected),
        };
        reports.push(report);
        onPoint(report);
      }
    } finally {
      await lane.remove();
    }
  } finally {
    await close();
    rmSync(data, { recursive: true, force: true });
  }
  return reports;
}
