/**
 * Parses the words of an instruction: splits at white space, removes quotes, inserts variables. Each does one pass over
 * the text.
 */
import { jsonIn } from "../json-reader.ts";
import { DOCKERFILE_LIMITS } from "./lines.ts";

export type Lookup = (name: string) => string | undefined;

const NAME = /[A-Za-z0-9_]/;

/** Splits at white space outside quotes; the words keep their quotes. @throws Error with a sentence. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let [word, quote] = ["", ""];
  for (let at = 0; at < text.length; at++) {
    const mark = text.charAt(at);
    if (mark === "\\" && quote !== "'") word += mark + text.charAt(++at);
    else if (quote === "" && /\s/.test(mark)) {
      if (word !== "") words.push(word);
      word = "";
    } else {
      word += mark;
      if (mark === quote) quote = "";
      else if (quote === "" && (mark === '"' || mark === "'")) quote = mark;
    }
  }
  if (quote !== "") throw new Error(`A quote ${quote} is not closed.`);
  return word === "" ? words : [...words, word];
}

/** Removes quotes and inserts variables. @throws Error with a sentence. */
export function expandWord(text: string, lookup: Lookup): string {
  let [out, quote] = ["", ""];
  for (let at = 0; at < text.length; ) {
    const mark = text.charAt(at);
    if (quote === "'") {
      if (mark === "'") quote = "";
      else out += mark;
      at++;
    } else if (mark === "\\") {
      const next = text.charAt(at + 1);
      out += quote === "" || '"$\\'.includes(next) ? next : mark + next;
      at += 2;
    } else if (mark === quote || (quote === "" && (mark === '"' || mark === "'"))) {
      quote = mark === quote ? "" : mark;
      at++;
    } else if (mark === "$") {
      const { value, next } = variableAt(text, at + 1, lookup);
      out += value;
      at = next;
    } else {
      out += mark;
      at++;
    }
    if (out.length > DOCKERFILE_LIMITS.valueCharacters) throw new Error("A value is too long.");
  }
  if (quote !== "") throw new Error(`A quote ${quote} is not closed.`);
  return out;
}

/** Value of the variable whose name begins at `from`, after the `$`; and the index after it. */
function variableAt(text: string, from: number, lookup: Lookup): { value: string; next: number } {
  if (text.charAt(from) !== "{") {
    const name = nameAt(text, from);
    return name === "" ? { value: "$", next: from } : { value: lookup(name) ?? "", next: from + name.length };
  }
  const name = nameAt(text, from + 1);
  const after = from + 1 + name.length;
  if (text.charAt(after) === "}" && name !== "") return { value: lookup(name) ?? "", next: after + 1 };
  const how = text.slice(after, after + 2);
  const end = text.indexOf("}", after);
  if (name === "" || end < 0 || (how !== ":-" && how !== ":+") || text.slice(after, end).includes("$"))
    throw new Error(
      "A variable is put in by $NAME, or by its name in braces, with :- and a default or :+ and another text.",
    );
  const [value = "", other] = [lookup(name), text.slice(after + 2, end)];
  const isSet = value !== "";
  return { value: how === ":-" ? (isSet ? value : other) : isSet ? other : "", next: end + 1 };
}

function nameAt(text: string, from: number): string {
  let to = from;
  while (to < text.length && NAME.test(text.charAt(to))) to++;
  return text.slice(from, to);
}

/** A JSON list of texts, the form of an instruction that no shell interprets; undefined for anything else. */
export function listIn(text: string): string[] | undefined {
  if (!text.startsWith("[")) return undefined;
  const value = jsonIn(text);
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
}
