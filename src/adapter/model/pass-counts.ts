/**
 * Reads from its bytes what a passed-on reply used. Reading slows the passing on, so only the beginning and the end are
 * kept. The counts are in an event there, and are found by name once the reply has ended.
 */
import { membersOf, numberIn } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ModelUsage, PassRequest } from "../../engine/model.ts";
import { createKeptBytes, createKeptLines } from "./kept-bytes.ts";
import { believedUsd, type SizeSaid } from "./usage.ts";

interface ReplyCounter {
  /** Adds a piece; only copies of it are kept. */
  add(piece: Uint8Array): void;
  end(): {
    usage: ModelUsage | undefined;
    chargedUsd: number | undefined;
    received: SizeSaid;
  };
}

const LINE_FEED = 10;
const DATA = "data:";
const COMPLETED = '"response.completed"';

/** Counts a stream of events. The middle of the stream is passed on unread, because counts are never there. */
export function createEventCounter(protocol: PassRequest["protocol"]): ReplyCounter {
  const counts = createCounts(protocol);
  const name = protocol === "gemini" ? '"usageMetadata"' : '"usage"';
  const beginning = createKeptBytes();
  const last = createKeptLines(LAST_BYTES, LIMITS.providerEventBytes);
  const samples = createSamples();
  let bytes = 0;
  let isAtLine = true;

  /** @param lines complete lines. */
  function read(lines: Buffer): void {
    for (let at = lines.indexOf(name); at !== -1; at = lines.indexOf(name, at)) {
      at += name.length;
      // OpenAI has the member in every event; only the last one has a value.
      if (/^:\s?null/.test(lines.toString("latin1", at, at + NULL_CHARACTERS))) continue;
      const from = lines.lastIndexOf(LINE_FEED, at) + 1;
      const next = lines.indexOf(LINE_FEED, at);
      at = next === -1 ? lines.length : next;
      const line = lines.toString("utf8", from, at);
      if (line.startsWith(DATA)) counts.read(line.slice(DATA.length));
    }
  }
  return {
    add(piece) {
      if (piece.byteLength === 0) return;
      bytes += piece.byteLength;
      const given = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      if (beginning.bytes() < EXACT_BYTES) beginning.add(given);
      else {
        last.add(given);
        samples.add(given, isAtLine);
      }
      isAtLine = given[given.length - 1] === LINE_FEED;
    },
    end() {
      const begun = beginning.all();
      // The last line of the beginning may be incomplete, and continues in the bytes after it.
      const lines = begun.subarray(0, begun.lastIndexOf(LINE_FEED) + 1);
      const rest = last.all();
      read(lines);
      read(rest.isWhole ? Buffer.concat([begun.subarray(lines.length), rest.lines]) : rest.lines);
      return {
        ...counts.all(),
        received: { bytes, characters: () => charactersOf(lines, samples.all(), bytes - begun.length) },
      };
    },
  };
}

const NULL_CHARACTERS = 6;
/**
 * The first `EXACT_BYTES` of a reply are kept, and at least `LAST_BYTES` at its end, from the beginning of a line on.
 */
const EXACT_BYTES = 256 * 1024;
const LAST_BYTES = 128 * 1024;

/** Counts an answer that is not a stream. */
export function createWholeCounter(protocol: PassRequest["protocol"]): ReplyCounter {
  const counts = createCounts(protocol);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  return {
    add(piece) {
      bytes += piece.byteLength;
      if (bytes <= LIMITS.providerAnswerBytes) pieces.push(Buffer.from(piece));
    },
    end() {
      const text = Buffer.concat(pieces).toString("utf8");
      counts.read(text);
      return { ...counts.all(), received: { bytes, characters: () => charactersIn(text) } };
    },
  };
}

/** The model's texts in an event, by the names that the protocols use. */
const TEXTS = /"(?:content|reasoning_content|delta|text|thinking|partial_json|arguments)":\s?"((?:[^"\\]|\\.)*)"/g;

function charactersIn(text: string): number {
  let characters = 0;
  for (const [, said = ""] of text.matchAll(TEXTS)) characters += said.length;
  return characters;
}

/** After the beginning, one of every `SAMPLED` pieces is sampled: its first lines are kept and stand for the others. */
const SAMPLED = 7;
const SAMPLE_BYTES = 8 * 1024;
const SAMPLES_BYTES = 512 * 1024;

/**
 * Keeps samples of a long reply, from which its texts can be measured if the provider does not count. While the reply
 * passes, bytes are only copied.
 */
function createSamples() {
  const samples: Buffer[] = [];
  let [bytes, pieces] = [0, 0];
  return {
    /** @param isAtLine whether a line begins with the piece. */
    add(piece: Buffer, isAtLine: boolean): void {
      if (pieces++ % SAMPLED !== 0 || bytes >= SAMPLES_BYTES) return;
      const from = isAtLine ? 0 : piece.indexOf(LINE_FEED) + 1;
      if (from === 0 && !isAtLine) return;
      // A sample ends at the end of a line, so that no event is cut.
      const enough = piece.indexOf(LINE_FEED, from + SAMPLE_BYTES);
      const to = enough === -1 ? piece.lastIndexOf(LINE_FEED) : enough;
      if (to < from) return;
      const sample = Buffer.from(piece.subarray(from, to + 1));
      bytes += sample.length;
      samples.push(sample);
    },
    all: () => Buffer.concat(samples),
  };
}

function charactersOf(begun: Buffer, samples: Buffer, restBytes: number): number {
  const exact = charactersBeforeEnd(begun);
  return samples.length === 0 ? exact : exact + Math.round((charactersBeforeEnd(samples) / samples.length) * restBytes);
}

/** Counts only up to OpenAI's last event, which repeats the whole reply. */
function charactersBeforeEnd(bytes: Buffer): number {
  const text = bytes.toString("utf8");
  const end = text.indexOf(COMPLETED);
  return charactersIn(end === -1 ? text : text.slice(0, end));
}

/** Collects the counts of one reply; later ones replace earlier ones, field by field. */
function createCounts(protocol: PassRequest["protocol"]) {
  let found: Partial<ModelUsage> | undefined;
  let chargedUsd: number | undefined;
  return {
    read(text: string): void {
      try {
        const event = membersOf(readJson(text));
        const inner = membersOf(event["response"] ?? event["message"]);
        const usage = event["usage"] ?? inner["usage"] ?? event["usageMetadata"];
        const counted = COUNTS[protocol](usage);
        if (counted) found = { ...found, ...counted };
        chargedUsd = believedUsd(numberIn(usage, "cost")) ?? chargedUsd;
      } catch {
        // The text is not JSON, so there are no counts, and the texts are measured.
      }
    },
    all: () => ({ usage: found && wholeOf(found, protocol), chargedUsd }),
  };
}

function openaiCounts(usage: unknown): Partial<ModelUsage> | undefined {
  const input = numberIn(usage, "prompt_tokens") ?? numberIn(usage, "input_tokens");
  const output = numberIn(usage, "completion_tokens") ?? numberIn(usage, "output_tokens");
  if (input === undefined && output === undefined) return undefined;
  const of = membersOf(usage);
  return {
    input_tokens: input ?? 0,
    output_tokens: output ?? 0,
    cache_read_tokens: numberIn(of["prompt_tokens_details"] ?? of["input_tokens_details"], "cached_tokens") ?? 0,
    reasoning_tokens: numberIn(of["completion_tokens_details"] ?? of["output_tokens_details"], "reasoning_tokens") ?? 0,
  };
}

function anthropicCounts(usage: unknown): Partial<ModelUsage> | undefined {
  const fields = {
    input_tokens: numberIn(usage, "input_tokens"),
    output_tokens: numberIn(usage, "output_tokens"),
    cache_read_tokens: numberIn(usage, "cache_read_input_tokens"),
    cache_write_tokens: numberIn(usage, "cache_creation_input_tokens"),
    cache_write_hour_tokens: numberIn(membersOf(usage)["cache_creation"], "ephemeral_1h_input_tokens"),
  };
  const said = Object.entries(fields).filter(([, count]) => count !== undefined);
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}

/** Google counts thoughts separately from the reply's text. */
function geminiCounts(usage: unknown): Partial<ModelUsage> | undefined {
  const prompt = numberIn(usage, "promptTokenCount");
  if (prompt === undefined) return undefined;
  const count = (name: string) => numberIn(usage, name) ?? 0;
  return {
    input_tokens: prompt + count("toolUsePromptTokenCount"),
    output_tokens: count("candidatesTokenCount") + count("thoughtsTokenCount"),
    cache_read_tokens: count("cachedContentTokenCount"),
    reasoning_tokens: count("thoughtsTokenCount"),
  };
}

const COUNTS: Record<PassRequest["protocol"], (usage: unknown) => Partial<ModelUsage> | undefined> = {
  chat: openaiCounts,
  responses: openaiCounts,
  messages: anthropicCounts,
  gemini: geminiCounts,
};

/** Anthropic counts cached input separately from other input; here `input_tokens` includes it. */
function wholeOf(found: Partial<ModelUsage>, protocol: PassRequest["protocol"]): ModelUsage {
  const { input_tokens = 0, output_tokens = 0, cache_read_tokens = 0 } = found;
  const { cache_write_tokens = 0, cache_write_hour_tokens = 0, reasoning_tokens = 0 } = found;
  const cached = protocol === "messages" ? cache_read_tokens + cache_write_tokens : 0;
  return {
    input_tokens: input_tokens + cached,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    ...(cache_write_hour_tokens > 0 ? { cache_write_hour_tokens } : {}),
    reasoning_tokens,
  };
}
