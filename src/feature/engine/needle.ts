/**
 * A prompt that fills a model's window to nine tenths with a word at its far end. How many tokens a sentence takes is
 * measured by a shorter prompt first, since each model counts in its own way; how many were read is what the server counts.
 */
import type { ModelReply } from "../../engine/model.ts";
import type { ModelTrialResult } from "../../store/tables/model-trials.ts";

type Found = ModelTrialResult["needle"];
export interface NeedleQuestion {
  about: string;
  text: string;
  isLong: boolean;
  /** The most tokens of the answer. */
  replyTokens: number;
}

/** Part of the window that is filled at least; and what is aimed at, since a sentence is no whole number of tokens. */
const FILLED = 0.9;
const AIMED = 0.91;
/** Part of the window that is left for the reply. */
const REPLY = 0.08;
const REPLY_TOKENS_MOST = 2_000;
/** A window that is smaller has no room for instructions. */
const WINDOW_LEAST = 2_048;
/** Of a larger window no more than this is filled: it would cost dollars. */
const WINDOW_MOST = 1_048_576;
const NEEDLE = "The word to remember is heliotrope.";
const FILLER = "The clerk wrote the weather of the day into the book, and put the book back on its shelf. ";
/** Tokens of the filler with the vocabularies of GPT, Qwen and Gemma; 22 or 23 with older ones. Outside, nothing was counted. */
const FILLER_TOKENS = 21;
const FILLER_TOKENS_MOST = 60;
/** Of the prompt without filler, with instructions and what a template adds. */
const BARE_TOKENS = 60;
/** Part of the window that the shorter prompt fills, and its most sentences. */
const SHORT = 0.4;
const SHORT_FILLERS_MOST = 400;

const textOf = (fillers: number): string =>
  `${NEEDLE}\n\n${FILLER.repeat(fillers)}\n\nWhich word were you told to remember? Answer with it alone.`;
const said = (tokens: number): string => tokens.toLocaleString("en-US");

/** @param ask makes a call. @param judge says whether its reply has the word. */
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
    about: `Does it find a word at the far end of ${said(Math.floor(filled * FILLED))} tokens? That takes long.`,
    text: textOf(fillers),
    isLong: true,
    replyTokens,
  });
  const found = judge(reply);
  return found.ok ? { ok: true, detail: readText(reply, window) } : found;
}

/** Tokens of a sentence by the server's count; undefined where it counts none, or nonsense. */
function countedFor({ usage, usage_estimated }: ModelReply, fillers: number): number | undefined {
  const each = (usage.input_tokens - BARE_TOKENS) / fillers;
  return !usage_estimated && each >= FILLER_TOKENS / 2 && each <= FILLER_TOKENS_MOST ? each : undefined;
}

function readText({ usage, usage_estimated }: ModelReply, window: number): string {
  const isCounted = !usage_estimated && usage.input_tokens >= window / 2;
  if (!isCounted) return "The server does not count what it reads, so how far its window was filled is not known.";
  const percent = Math.floor((100 * usage.input_tokens) / window);
  return `It read ${said(usage.input_tokens)} tokens, ${percent} % of the window.`;
}
