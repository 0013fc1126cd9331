/**
 * How an execution ends: checks outputs against their contract, and finds a result when an agent ended without
 * `complete`.
 */

import { isObject } from "../core/is-object.ts";
import { jsonIn } from "../core/json-reader.ts";
import { LIMITS } from "../core/limits.ts";
import type { Contract, Ending } from "./execution.ts";

export const createFailure = (code: string, message: string, text = ""): Ending => ({
  status: "failed",
  error: { code, message },
  text,
});

/** Lists where a value does not fit a schema, in words for the model. */
export type SchemaCheck = (schema: object, value: unknown) => Promise<string[]>;

/** Says what the outputs lack, in words for the model; undefined when they meet the contract. */
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
 * The outputs of an agent that stopped with text instead of calling `complete`, as small models do. If no outputs are
 * required, there are none. Otherwise a JSON object in the text that meets the contract is taken; else the text itself,
 * when exactly one output is required. Undefined: the text is no result.
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

/** A JSON object that is the whole text or stands in its last code fence. */
function objectIn(text: string): Record<string, unknown> | undefined {
  const fenced = [...text.matchAll(/```(?:json)?\n([\s\S]*?)```/g)].at(-1)?.[1];
  for (const one of [text, fenced]) {
    if (!one?.trim().startsWith("{")) continue;
    const value = jsonIn(one);
    if (isObject(value)) return value;
  }
  return undefined;
}
