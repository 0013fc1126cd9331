/** Stop words: words of questions that say nothing about code. */
import { wordSet } from "../language/library.ts";
import { wordsOf } from "../words.ts";

/** Function words of English, which name nothing. */
const GRAMMAR = wordSet(`
  a an and any are as at be been by can could did do does for from had has have how i in into is it its my of on or our
  shall should so some than that the their them then there these they this those through to was we were what when where
  which while who whom whose why will with would you your
`);
/** Words that say that something happens, but not what. They also occur in names. */
const HAPPENING = wordSet(`
  code come comes done get gets getting go goes happen happens if made make makes out reach reaches take takes turn turns
  up use used uses via way
`);

export const isAsked = (word: string): boolean => !GRAMMAR.has(word);

/** The words of a search without function words. If none would be left, all words. */
export function askedWords(text: string): string[] {
  const words = wordsOf(text);
  const kept = words.filter(isAsked);
  return kept.length > 0 ? kept : words;
}

/** The distinct words of a question that may name something. */
export function contentWords(text: string): string[] {
  const words = [...new Set(askedWords(text))];
  const kept = words.filter((word) => !HAPPENING.has(word));
  return kept.length > 0 ? kept : words;
}
