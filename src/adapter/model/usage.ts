/**
 * Determines what an attempt of a call used. Counts come from outside: a count that is negative, not a whole number, or
 * larger than the texts allow would make room in a budget or break a sum.
 * Such counts are not believed. The texts are then measured instead, as for a reply that was cut, stopped or came
 * without counts.
 */
import type { ModelMessage, ModelReply, ModelRequest, ModelUsage } from "../../engine/model.ts";
import type { AssistantPart } from "../../engine/parts.ts";
import { splitModel } from "./providers.ts";

export const NO_USAGE: ModelUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
};

/** The figures of a reply that nobody charges for. */
export const FREE = { usage: NO_USAGE, cost_usd: 0, cost_source: "table", key_source: "none" } as const;

/** The reply for a call that was never made. */
export const refusedReply = (model: string, error: ModelReply["error"], durationMs: number): ModelReply => ({
  ...FREE,
  parts: [],
  finish: "error",
  provider: splitModel(model)?.provider ?? "",
  model,
  duration_ms: durationMs,
  time_to_first_token_ms: null,
  attempts: 0,
  ...(error ? { error } : {}),
});

export interface Measured {
  usage: ModelUsage;
  /** True when the usage was measured here, not counted by the provider. */
  estimated: boolean;
}

/**
 * Characters per token in estimates. English and code have more characters per token, so estimates are rather too high.
 */
const CHARACTERS_PER_TOKEN = 3.5;
/**
 * Bounds of believable counts. A token has at least one byte; providers add text of their own around messages and
 * tools.
 */
const TOKENS_ADDED = 8_000;
const TOKENS_PER_ITEM = 256;
/** Allowance for thinking that is counted but not shown. */
const HIDDEN_THINKING_TOKENS = 300_000;
/** Upper bound of one picture or page in tokens, and its cost in an estimate. */
const TOKENS_PER_PAGE = 6_000;
const PAGE_TOKENS_ESTIMATE = 1_600;
const BYTES_PER_PAGE = 2_000;
/** No call costs more than this. */
const USD_MOST = 1_000;

/** Size of a reply. */
export interface SizeSaid {
  bytes: number;
  /** Measures the kept part of the reply; called only when the provider's counts are not believed. */
  characters(): number;
}

interface Size {
  bytes: number;
  characters: number;
  items: number;
  pages: number;
}

const NOTHING: Size = { bytes: 0, characters: 0, items: 0, pages: 0 };

const addSizes = (a: Size, b: Size): Size => ({
  bytes: a.bytes + b.bytes,
  characters: a.characters + b.characters,
  items: a.items + b.items,
  pages: a.pages + b.pages,
});
const textSize = (text: string): Size => ({
  ...NOTHING,
  bytes: Buffer.byteLength(text),
  characters: text.length,
  items: 1,
});

function messageSize(message: ModelMessage): Size {
  if (message.role !== "user")
    return textSize(JSON.stringify(message.role === "tool" ? message.results : message.parts));
  return message.parts
    .map(
      (part): Size =>
        part.type === "text"
          ? textSize(part.text)
          : { ...NOTHING, items: 1, pages: Math.max(1, Math.ceil(part.data.length / BYTES_PER_PAGE)) },
    )
    .reduce(addSizes, NOTHING);
}

const sentSize = ({ system, messages, tools }: ModelRequest): Size =>
  [textSize(system), ...messages.map(messageSize), ...tools.map((tool) => textSize(JSON.stringify(tool)))].reduce(
    addSizes,
    NOTHING,
  );

/**
 * Determines the usage of a call. @param received all parts that came, including tool calls; `characters` also counts
 * tool input that was cut off.
 */
export function measureUsage(
  request: ModelRequest,
  received: { parts: readonly AssistantPart[]; characters: number },
  reported: ModelUsage | undefined,
): Measured {
  return chooseUsage(
    sentSize(request),
    { bytes: Buffer.byteLength(JSON.stringify(received.parts)), characters: () => received.characters },
    reported,
  );
}

/** As `measureUsage`, for texts that were passed on unchanged. @param sent, received their sizes. */
export const measureUsageBySize = (
  sent: Pick<Size, "bytes" | "characters" | "items">,
  received: SizeSaid,
  reported: ModelUsage | undefined,
): Measured => chooseUsage({ ...NOTHING, ...sent }, received, reported);

function chooseUsage(sent: Size, said: SizeSaid, reported: ModelUsage | undefined): Measured {
  if (reported && isPossible(reported, sent, said)) return { usage: withinItself(reported), estimated: false };
  const estimateTokens = (characters: number) => Math.ceil(characters / CHARACTERS_PER_TOKEN);
  // An attached page costs as much as a picture, however many bytes it has.
  const pages = Math.min(sent.pages, sent.items * 20) * PAGE_TOKENS_ESTIMATE;
  const usage = {
    ...NO_USAGE,
    input_tokens: estimateTokens(sent.characters) + pages,
    output_tokens: estimateTokens(said.characters()),
  };
  return { usage, estimated: true };
}

function isPossible(usage: ModelUsage, sent: Size, said: SizeSaid): boolean {
  const most = {
    input: sent.bytes + TOKENS_ADDED + sent.items * TOKENS_PER_ITEM + sent.pages * TOKENS_PER_PAGE,
    output: said.bytes + TOKENS_ADDED + (usage.reasoning_tokens > 0 ? HIDDEN_THINKING_TOKENS : 0),
  };
  // A count of zero for a text that is not empty means that the provider does not count; the call would be free.
  const isCounted =
    (sent.bytes === 0 || usage.input_tokens > 0) && (usage.output_tokens > 0 || said.characters() === 0);
  return (
    isCounted &&
    Object.values(usage).every((count) => Number.isSafeInteger(count) && count >= 0) &&
    usage.input_tokens <= most.input &&
    usage.output_tokens <= most.output
  );
}

/** Limits partial counts to the whole that they are part of. */
const withinItself = (usage: ModelUsage): ModelUsage => {
  const cache_read_tokens = Math.min(usage.cache_read_tokens, usage.input_tokens);
  const cache_write_tokens = Math.min(usage.cache_write_tokens, usage.input_tokens - cache_read_tokens);
  const forHour = Math.min(usage.cache_write_hour_tokens ?? 0, cache_write_tokens);
  return {
    ...usage,
    cache_read_tokens,
    cache_write_tokens,
    ...(forHour > 0 ? { cache_write_hour_tokens: forHour } : {}),
    reasoning_tokens: Math.min(usage.reasoning_tokens, usage.output_tokens),
  };
};

export const usageSum = (a: ModelUsage, b: ModelUsage): ModelUsage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cache_read_tokens: a.cache_read_tokens + b.cache_read_tokens,
  cache_write_tokens: a.cache_write_tokens + b.cache_write_tokens,
  cache_write_hour_tokens: (a.cache_write_hour_tokens ?? 0) + (b.cache_write_hour_tokens ?? 0),
  reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
});

/** The charge that a provider reports; undefined when it is impossible. */
export const believedUsd = (usd: number | undefined): number | undefined =>
  usd !== undefined && Number.isFinite(usd) && usd >= 0 && usd <= USD_MOST ? usd : undefined;
