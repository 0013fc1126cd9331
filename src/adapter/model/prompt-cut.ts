/**
 * Detects prompts that a server cuts silently. Ollama and LM Studio do so when a window is too small, and the model
 * then has not seen all of its instructions. The server's own count reveals it, when it is smaller than the tokens that
 * were certainly sent.
 */
import { isObject, membersOf } from "../../core/is-object.ts";
import type { ModelMessage, ModelRequest, PassRequest } from "../../engine/model.ts";
import type { Failure } from "./failure.ts";
import { OWN_KINDS, type ProviderKind } from "./providers.ts";
import { windowRemedy } from "./served-window.ts";

/** A smaller count does not mean that the prompt was cut, but that the server does not count. */
const CUT_TOKENS_LEAST = 512;
/** The prompt was cut if the server's count is below this share of the certain count. */
const SURE = 0.8;

/**
 * A word in any script that separates words by spaces or signs. A tokenizer makes at least one token of it, because
 * none of the usual ones joins words. Marks, apostrophes and joiners belong to the word.
 */
const WORD = /\p{L}[\p{L}\p{M}'’\u200c\u200d]*/gu;
/**
 * Scripts without spaces between words, and an upper bound of their characters per token on average, even for texts of
 * few and long words. The tokenizers of GPT, Qwen, Gemma, Llama and Mistral all need more tokens than this bound gives.
 */
const UNSPACED: readonly (readonly [RegExp, number])[] = [
  [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu, 3],
  [/[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu, 6],
];
/** Shorter words count as one token without further inspection. */
const LONG_WORD = 4;

/** A lower bound of a text's tokens for every usual tokenizer. */
export function leastTokens(text: string): number {
  let tokens = 0;
  for (const [word] of text.matchAll(WORD)) tokens += word.length > LONG_WORD ? leastOfWord(word) : 1;
  return tokens;
}

function leastOfWord(word: string): number {
  if (!(word.charCodeAt(word.length - 1) >= UNSPACED_FROM || word.charCodeAt(0) >= UNSPACED_FROM)) return 1;
  const tokens = UNSPACED.map(([signs, most]) => countDiffering(word.match(signs) ?? []) / most);
  return Math.max(1, Math.floor(tokens.reduce((sum, one) => sum + one, 0)));
}
/** Code point of Thai, the first of these scripts in Unicode. */
const UNSPACED_FROM = 0x0e00;

/**
 * Counts characters that differ from the one before, because some vocabularies have one token for many repetitions of a
 * character.
 */
const countDiffering = (signs: readonly string[]): number => signs.filter((sign, at) => sign !== signs[at - 1]).length;

/**
 * Decides whether a server has cut a prompt. Parts that templates may leave out (tools, thinking, arguments of calls)
 * are not counted.
 * @param read tokens of the prompt by the server's count.
 * @returns the number of tokens that were certainly sent, if the prompt was cut; undefined otherwise.
 */
export function cutBelow(texts: readonly string[], read: number): number | undefined {
  if (read < CUT_TOKENS_LEAST) return undefined;
  const sent = texts.reduce((sum, text) => sum + leastTokens(text), 0);
  return read < sent * SURE ? sent : undefined;
}

/** Whether a server may cut prompts: servers of one's own may; the known providers refuse instead. */
const mayCut = ({ kind, providerId }: CutBy): boolean => OWN_KINDS.has(kind) || providerId.startsWith("custom-");

interface CutBy {
  kind: ProviderKind;
  providerId: string;
  /** `provider/model`. */
  model: string;
}

/**
 * The failure of a call whose prompt was cut: the reply is worthless. @param texts called only when the server may cut.
 */
export function findTruncation(by: CutBy, texts: () => readonly string[], read: number): Failure | undefined {
  const sent = mayCut(by) ? cutBelow(texts(), read) : undefined;
  if (sent === undefined) return undefined;
  const { kind, providerId, model } = by;
  const message = `${providerId} read ${read} tokens of a prompt of more than ${sent}: it cut the prompt without a word, so the model did not see all of its instructions. Its window is too small: ${windowRemedy(kind, providerId, model)}`;
  return { code: "context_truncated", message, retryable: false };
}

export const textsOfRequest = ({ system, messages }: Pick<ModelRequest, "system" | "messages">): string[] => [
  system,
  ...messages.flatMap(textsOfMessage),
];

function textsOfMessage(message: ModelMessage): string[] {
  if (message.role === "tool") return message.results.map(({ output }) => output);
  return message.parts.flatMap((part) => (part.type === "text" ? part.text : []));
}

/**
 * The texts of a request that is passed on, in the protocols that servers of one's own speak; none for other protocols.
 */
export function textsOfBody({ protocol, body }: Pick<PassRequest, "protocol" | "body">): string[] {
  if (protocol !== "chat" && protocol !== "messages") return [];
  const messages = Array.isArray(body["messages"]) ? body["messages"] : [];
  return [...textsIn(body["system"]), ...messages.flatMap((message) => textsIn(membersOf(message)["content"]))];
}

/** The texts in a text or a list of parts. In Anthropic's protocol, tool results hold further parts. */
function textsIn(content: unknown, depth = 0): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content) || depth > 1) return [];
  return content
    .filter(isObject)
    .flatMap(({ text, content: inner }) => (typeof text === "string" ? [text] : textsIn(inner, depth + 1)));
}
