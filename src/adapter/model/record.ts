/**
 * Records the model calls of a run in a cassette (JSON lines, one per call, mode 0600), and replays them offline. A
 * cassette holds fingerprints of requests and whole replies, never a key.
 * Requests are found by content, not by order, so parallel steps replay, too. A request that was made twice gets the
 * first reply, then the second.
 */
import { appendFile, readFile } from "node:fs/promises";
import PQueue from "p-queue";
import type { Clock } from "../../core/clock.ts";
import { messageOf } from "../../core/errors.ts";
import type { Masker } from "../../core/masking.ts";
import { ownJson } from "../../core/own-json.ts";
import type { ModelPort, ModelReply, ModelRequest } from "../../engine/model.ts";
import { describeDifference, type Fingerprint, measureLikeness, toFingerprint } from "./fingerprint.ts";
import type { ModelLog } from "./retries.ts";
import { FREE, refusedReply } from "./usage.ts";

interface CassetteLine {
  v: 1;
  agent: string;
  step: string | null;
  request: Fingerprint;
  reply: ModelReply;
}

interface RecorderDeps {
  port: ModelPort;
  /** Path of the cassette, to which lines are appended. Its folder must exist. */
  path: string;
  /** Masks the run's secrets in what is written. */
  masker?: Pick<Masker, "json"> | undefined;
  log?: ModelLog | undefined;
}

interface Recorder extends ModelPort {
  /** Resolves when all replies so far are in the file. */
  flush(): Promise<void>;
}

/**
 * Wraps a port and records every call. If the cassette cannot be written, only the recording is lost; the call is not
 * affected.
 */
export function createRecorder({ port, path, masker, log }: RecorderDeps): Recorder {
  // Lines are written one after the other, in the order of the replies.
  const writes = new PQueue({ concurrency: 1 });

  function write(line: CassetteLine): void {
    // The leading line feed ends a partial line that a killed process may have left. Empty lines are ignored.
    const text = `\n${JSON.stringify(masker ? masker.json(line) : line)}\n`;
    writes
      .add(() => appendFile(path, text, { mode: 0o600 }))
      .catch((error) => log?.warn({ reason: messageOf(error) }, "a model call could not be recorded"));
  }

  return {
    info: port.info,
    ...(port.windowOf ? { windowOf: port.windowOf } : {}),
    estimateUsd: port.estimateUsd,
    flush: () => writes.onIdle(),
    async call(request) {
      const reply = await port.call(request);
      const { agentId: agent, stepId } = request.scope;
      // An aborted call says nothing about the model, and would make a replay end for no reason.
      if (reply.finish !== "aborted")
        write({ v: 1, agent, step: stepId ?? null, request: toFingerprint(request), reply });
      return reply;
    },
  };
}

function parseCassette(text: string): CassetteLine[] {
  const lines = text.split("\n").filter((line) => line.trim());
  return lines.flatMap((line, at) => {
    try {
      const value = ownJson<CassetteLine>(line);
      if (value.v === 1 && value.request?.hash && value.reply?.parts) return [value];
    } catch {
      // A process that was killed while writing leaves a partial line, after which a later process may have written.
      return [];
    }
    throw new Error(`line ${at + 1} is not a recorded model call`);
  });
}

function missMessage(lines: CassetteLine[], request: ModelRequest, now: Fingerprint): string {
  const { agentId, stepId } = request.scope;
  const turn = request.messages.filter((message) => message.role === "assistant").length + 1;
  const where = `turn ${turn} of agent ${agentId}${stepId ? `, step ${stepId}` : ""}`;
  const sameStep = lines.filter((line) => line.agent === agentId && line.step === (stepId ?? null));
  const candidates = sameStep.length ? sameStep : lines;
  const nearest = candidates.toSorted((a, b) => measureLikeness(b.request, now) - measureLikeness(a.request, now))[0];
  const why = nearest ? describeDifference(nearest.request, now) : "the cassette is empty";
  return `No recorded reply for ${where}: ${why}.`;
}

/** Passes the texts of a recorded reply to the listeners, each part in one piece. */
function speak(reply: ModelReply, request: ModelRequest): void {
  for (const part of reply.parts) {
    if (part.type === "text") request.onText?.(part.text);
    if (part.type === "thinking") request.onThinking?.(part.text);
  }
}

/**
 * A port that replays a cassette and calls no provider, so replies cost 0. A request that was not recorded ends with
 * `replay_miss` and the difference. @throws Error when the file cannot be read or is not a cassette.
 */
export async function createReplay(deps: {
  path: string;
  clock: Clock;
  /** Provides what is known of models offline. */
  info: Pick<ModelPort, "info">;
}): Promise<ModelPort> {
  const { path, clock, info } = deps;
  const lines = parseCassette(await readFile(path, "utf8"));
  const byHash = Map.groupBy(lines, (line) => line.request.hash);
  const used = new Map<string, number>();

  async function call(request: ModelRequest): Promise<ModelReply> {
    const started = clock.monotonic();
    const now = toFingerprint(request);
    const recorded = byHash.get(now.hash);
    if (!recorded) {
      const error = { code: "replay_miss", message: missMessage(lines, request, now), retryable: false };
      return refusedReply(request.model, error, clock.monotonic() - started);
    }
    const turn = used.get(now.hash) ?? 0;
    used.set(now.hash, turn + 1);
    const { reply } = recorded[Math.min(turn, recorded.length - 1)]!;
    if (!request.signal.aborted) speak(reply, request);
    const aborted = request.signal.aborted ? { finish: "aborted" as const, parts: [] } : {};
    const { usage: _, ...free } = FREE;
    return { ...structuredClone(reply), ...free, ...aborted, duration_ms: clock.monotonic() - started };
  }

  return { call, info: info.info, estimateUsd: () => 0 };
}
