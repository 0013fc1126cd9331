/** Words of questions that say nothing about code. */
import { wordSet } from "../language/library.ts";
import { wordsOf } from "../words.ts";

/** Words of grammar, which name nothing. */
const GRAMMAR = wordSet(`
  a an and any are as at be been by can could did do does for from had has have how i in into is it its my of on or our
  shall should so some than that the their them then there these they this those through to was we were what when where
  which while who whom whose why will with would you your
`);
/** Words that say that something happens, not what: they are parts of names too. */
const HAPPENING = wordSet(`
  code come comes done get gets getting go goes happen happens if made make makes out reach reaches take takes turn turns
  up use used uses via way
`);

export const isAsked = (word: string): boolean => !GRAMMAR.has(word);

/** Words of a search without those of grammar; all of them where none would be left. */
export function askedWords(text: string): string[] {
  const words = wordsOf(text);
  const kept = words.filter(isAsked);
  return kept.length > 0 ? kept : words;
}

/** The words of a question that may name something, each once. */
export function contentWords(text: string): string[] {
  const words = [...new Set(askedWords(text))];
  const kept = words.filter((word) => !HAPPENING.has(word));
  return kept.length > 0 ? kept : words;
}
