/**
 * A prompt that fills 90 % of a model's context window, with a word at its far end. Each model counts tokens in its own
 * way, so a shorter prompt first measures how many a sentence takes. The number of tokens read is the server's count.
 */
import type { ModelReply } from "../../engine/model.ts";
import type { ModelTrialResult } from "../../store/tables/model-trials.ts";

type Found = ModelTrialResult["needle"];
export interface NeedleQuestion {
  about: string;
  text: string;
  isLong: boolean;
  /** Limit of tokens of the answer. */
  replyTokens: number;
}

/** The least share of the window to fill, and the share that is aimed at: a sentence is no whole number of tokens. */
const FILLED = 0.9;
const AIMED = 0.91;
/** Share of the window that is left for the reply. */
const REPLY = 0.08;
const REPLY_TOKENS_MOST = 2_000;
/** A smaller window has no room for instructions. */
const WINDOW_LEAST = 2_048;
/** At most this much of a larger window is filled: more would cost dollars. */
const WINDOW_MOST = 1_048_576;
const NEEDLE = "The word to remember is heliotrope.";
const FILLER = "The clerk wrote the weather of the day into the book, and put the book back on its shelf. ";
/**
 * Tokens of one filler sentence with the vocabularies of GPT, Qwen and Gemma; 22 or 23 with older ones. Counts below
 * half of it or above the maximum are ignored.
 */
const FILLER_TOKENS = 21;
const FILLER_TOKENS_MOST = 60;
/** Tokens of the prompt without filler, including instructions and what the model's template adds. */
const BARE_TOKENS = 60;
/** Share of the window that the shorter prompt fills, and its maximum of sentences. */
const SHORT = 0.4;
const SHORT_FILLERS_MOST = 400;

const textOf = (fillers: number): string =>
  `${NEEDLE}\n\n${FILLER.repeat(fillers)}\n\nWhich word were you told to remember? Answer with it alone.`;
const formatTokens = (tokens: number): string => tokens.toLocaleString("en-US");

/** @param ask makes a call. @param judge says whether the reply contains the word. */
export async function tryNeedle(
  window: number | null,
  ask: (question: NeedleQuestion) => Promise<ModelReply>,
  judge: (reply: ModelReply) => Found,
): Promise<Found> {
  if (window === null) return { ok: null, detail: "It was not tried: its window is not known." };
  const filled = Math.min(window, WINDOW_MOST);
  if (filled < WINDOW_LEAST) return { ok: null, detail: "It was not tried: the window is too small." };
  const replyTokens = Math.min(REPLY_TOKENS_MOST, Math.floor(filled * REPLY));
  const short = Math.min(SHORT_FILLERS_MOST, Math.floor((filled * SHORT) / FILLER_TOKENS));
  const about = "How does it count? That is found out with a shorter prompt.";
  const first = await ask({ about, text: textOf(short), isLong: false, replyTokens });
  if (first.error) return judge(first);
  const each = countedFor(first, short) ?? FILLER_TOKENS;
  const fillers = Math.ceil((filled * AIMED - BARE_TOKENS) / each);
  const reply = await ask({
    about: `Does it find a word at the far end of ${formatTokens(Math.floor(filled * FILLED))} tokens? That takes long.`,
    text: textOf(fillers),
    isLong: true,
    replyTokens,
  });
  const found = judge(reply);
  return found.ok ? { ok: true, detail: readText(reply, window) } : found;
}

/**
 * Tokens of one sentence by the server's count; undefined when the server does not count or its count is implausible.
 */
function countedFor({ usage, usage_estimated }: ModelReply, fillers: number): number | undefined {
  const each = (usage.input_tokens - BARE_TOKENS) / fillers;
  return !usage_estimated && each >= FILLER_TOKENS / 2 && each <= FILLER_TOKENS_MOST ? each : undefined;
}

function readText({ usage, usage_estimated }: ModelReply, window: number): string {
  const isCounted = !usage_estimated && usage.input_tokens >= window / 2;
  if (!isCounted) return "The server does not count what it reads, so how far its window was filled is not known.";
  const percent = Math.floor((100 * usage.input_tokens) / window);
  return `It read ${formatTokens(usage.input_tokens)} tokens, ${percent} % of the window.`;
}
