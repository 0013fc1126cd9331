/** What the grammars lack, put right for the second reading of a file that they gave up in part. Every offset stays. */
import { separateMembers } from "./members-by-line.ts";

/** `export type * from "./shapes"`, since TypeScript 5.0. */
const TYPES_OF_ALL = /^([ \t]*export[ \t]+)type(?=[ \t]*\*)/gm;
/** `<p class="wide">`: an attribute named with a word of the language. */
const RESERVED = /\s(?:class|for)(?==["'{])/g;
/** Names of the same length that are no words of the language. */
const NAMES = new Map([
  ["class", "klass"],
  ["for", "fur"],
]);

const differs = (text: string, from: string): string | undefined => (text === from ? undefined : text);

export function readTypescriptAgain(text: string): string | undefined {
  const plain = text.replace(TYPES_OF_ALL, "$1    ");
  return separateMembers(plain) ?? differs(plain, text);
}

export const readJavascriptAgain = (text: string): string | undefined =>
  differs(
    text.replace(RESERVED, (found) => found.slice(0, 1) + NAMES.get(found.slice(1))!),
    text,
  );
