/** How an execution ends: outputs checked against their contract, and what can be made of an agent that ended with words alone. */

import { isObject } from "../core/is-object.ts";
import { jsonIn } from "../core/json-reader.ts";
import { LIMITS } from "../core/limits.ts";
import type { Contract, Ending } from "./execution.ts";

export const failed = (code: string, message: string, text = ""): Ending => ({
  status: "failed",
  error: { code, message },
  text,
});

/** What of a value does not fit a schema, in words for the model. */
export type SchemaCheck = (schema: object, value: unknown) => Promise<string[]>;

/** What the outputs lack, in words for the model; undefined when they meet the contract. */
export async function contractFault(
  given: Record<string, unknown>,
  { outputs, schema }: Contract,
  check: SchemaCheck,
): Promise<string | undefined> {
  const missing = outputs.filter((name) => given[name] === undefined || given[name] === null || given[name] === "");
  if (missing.length > 0)
    return `Not complete yet: outputs must hold ${missing.join(", ")}. Call complete again with all of ${outputs.join(", ")}.`;
  const { length } = JSON.stringify(given);
  if (length > LIMITS.outputsCharacters)
    return `Not complete yet: outputs have ${length} characters, at most ${LIMITS.outputsCharacters} are taken. Write what is long into files, and name those.`;
  const faults = schema ? await check(schema, given) : [];
  return faults.length > 0 ? `Not complete yet: outputs do not fit the step's schema: ${faults.join("; ")}` : undefined;
}

/**
 * The outputs of an agent that stopped with words instead of calling `complete` (small models do): none where none are
 * owed, the JSON object in its words where that is what is owed, the words where one output is. Undefined: the words
 * are no result.
 */
export async function resultOf(
  text: string,
  contract: Contract,
  check: SchemaCheck,
): Promise<Record<string, unknown> | undefined> {
  const { outputs, schema } = contract;
  if (text.trim() === "") return undefined;
  if (outputs.length === 0 && schema === null) return {};
  const object = objectIn(text);
  if (object && (await contractFault(object, contract, check)) === undefined) return object;
  const isOwed = outputs.length === 1 && schema === null && text.length <= LIMITS.outputsCharacters;
  return isOwed ? { [outputs[0]!]: text } : undefined;
}

/** A JSON object that is the whole text or is in its last fence. */
function objectIn(text: string): Record<string, unknown> | undefined {
  const fenced = [...text.matchAll(/```(?:json)?\n([\s\S]*?)```/g)].at(-1)?.[1];
  for (const one of [text, fenced]) {
    if (!one?.trim().startsWith("{")) continue;
    const value = jsonIn(one);
    if (isObject(value)) return value;
  }
  return undefined;
}
