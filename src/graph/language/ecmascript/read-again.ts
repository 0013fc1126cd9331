/**
 * Prepares a file for a second reading, if the grammar could not read all of it. What the grammar lacks is replaced;
 * offsets stay.
 */
import { separateMembers } from "./members-by-line.ts";

/** `export type * from "./shapes"`, since TypeScript 5.0. */
const TYPES_OF_ALL = /^([ \t]*export[ \t]+)type(?=[ \t]*\*)/gm;
/** In `<p class="wide">`, the attribute's name is a reserved word. */
const RESERVED = /\s(?:class|for)(?==["'{])/g;
/** Replacements of the same length that are not reserved. */
const NAMES = new Map([
  ["class", "klass"],
  ["for", "fur"],
]);

const keepIfChanged = (text: string, from: string): string | undefined => (text === from ? undefined : text);

export function readTypescriptAgain(text: string): string | undefined {
  const plain = text.replace(TYPES_OF_ALL, "$1    ");
  return separateMembers(plain) ?? keepIfChanged(plain, text);
}

export const readJavascriptAgain = (text: string): string | undefined =>
  keepIfChanged(
    text.replace(RESERVED, (found) => found.slice(0, 1) + NAMES.get(found.slice(1))!),
    text,
  );
