/**
 * Prompts that a server cuts without a word. Ollama and LM Studio do so where a window is too small, and then the model has
 * not seen all of its instructions. Seen by the server's own count: it is smaller than what was surely sent.
 */
import { isObject, membersOf } from "../../core/is-object.ts";
import type { ModelMessage, ModelRequest, PassRequest } from "../../engine/model.ts";
import type { Failure } from "./failure.ts";
import { OWN_KINDS, type ProviderKind } from "./providers.ts";
import { windowRemedy } from "./served-window.ts";

/** Counts below this are of no prompt that was cut, but of a server that does not count. */
const CUT_TOKENS_LEAST = 512;
/** Part of the sure count below which a prompt was cut. */
const SURE = 0.8;

/**
 * A word of any writing that puts spaces or signs between words. A tokenizer makes at least one token of it: none of the
 * usual ones joins words. Marks, apostrophes and joiners belong to the word.
 */
const WORD = /\p{L}[\p{L}\p{M}'’\u200c\u200d]*/gu;
/**
 * Writings without spaces between words, and the most characters of a token in them on average, even of texts of few and long
 * words. Of the tokenizers of GPT, Qwen, Gemma, Llama and Mistral, each needs more tokens than this makes of a text.
 */
const UNSPACED: readonly (readonly [RegExp, number])[] = [
  [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu, 3],
  [/[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu, 6],
];
/** Shorter words are one token or more, and are not looked at further. */
const LONG_WORD = 4;

/** Tokens that a text has at least, whichever tokenizer counts them. */
export function leastTokens(text: string): number {
  let tokens = 0;
  for (const [word] of text.matchAll(WORD)) tokens += word.length > LONG_WORD ? leastOfWord(word) : 1;
  return tokens;
}

function leastOfWord(word: string): number {
  if (!(word.charCodeAt(word.length - 1) >= UNSPACED_FROM || word.charCodeAt(0) >= UNSPACED_FROM)) return 1;
  const tokens = UNSPACED.map(([signs, most]) => differing(word.match(signs) ?? []) / most);
  return Math.max(1, Math.floor(tokens.reduce((sum, one) => sum + one, 0)));
}
/** Thai is the first of them in Unicode. */
const UNSPACED_FROM = 0x0e00;

/** Characters that are not as the one before: some vocabularies have a token for many times the same. */
const differing = (signs: readonly string[]): number => signs.filter((sign, at) => sign !== signs[at - 1]).length;

/**
 * Whether a server has cut a prompt. What templates may leave out (tools, thinking, arguments of calls) is not counted.
 * @param read tokens of the prompt by the server's count.
 * @returns the tokens that were surely sent; undefined when nothing was cut as far as can be seen.
 */
export function cutBelow(texts: readonly string[], read: number): number | undefined {
  if (read < CUT_TOKENS_LEAST) return undefined;
  const sent = texts.reduce((sum, text) => sum + leastTokens(text), 0);
  return read < sent * SURE ? sent : undefined;
}

/** Servers of one's own may cut; the known providers refuse instead. */
const mayCut = ({ kind, providerId }: CutBy): boolean => OWN_KINDS.has(kind) || providerId.startsWith("custom-");

interface CutBy {
  kind: ProviderKind;
  providerId: string;
  /** `provider/model`. */
  model: string;
}

/** The model has not read all that was sent: what it says is worth nothing. @param texts asked for where the server may cut. */
export function truncation(by: CutBy, texts: () => readonly string[], read: number): Failure | undefined {
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

/** The same of a request in a protocol of which servers of one's own speak; none of others. */
export function textsOfBody({ protocol, body }: Pick<PassRequest, "protocol" | "body">): string[] {
  if (protocol !== "chat" && protocol !== "messages") return [];
  const messages = Array.isArray(body["messages"]) ? body["messages"] : [];
  return [...textsIn(body["system"]), ...messages.flatMap((message) => textsIn(membersOf(message)["content"]))];
}

/** A text, or parts that hold texts; of Anthropic's protocol, results of tools hold such parts again. */
function textsIn(content: unknown, depth = 0): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content) || depth > 1) return [];
  return content
    .filter(isObject)
    .flatMap(({ text, content: inner }) => (typeof text === "string" ? [text] : textsIn(inner, depth + 1)));
}
