/** How an execution ends: outputs held to their contract, and what can be made of an agent that ended with words alone. */
import type { Contract, Ending } from "./execution.ts";
import { schemaFaults } from "./schema-faults.ts";

export const failed = (code: string, message: string, text = ""): Ending => ({
  status: "failed",
  error: { code, message },
  text,
});

/** What the outputs lack, in words for the model; undefined when they meet the contract. */
export function contractFault(given: Record<string, unknown>, { outputs, schema }: Contract): string | undefined {
  const missing = outputs.filter((name) => given[name] === undefined || given[name] === null || given[name] === "");
  if (missing.length > 0)
    return `Not complete yet: outputs must hold ${missing.join(", ")}. Call complete again with all of ${outputs.join(", ")}.`;
  const faults = schema ? schemaFaults(schema, given) : [];
  return faults.length > 0 ? `Not complete yet: outputs do not fit the step's schema: ${faults.join("; ")}` : undefined;
}

/**
 * The outputs of an agent that stopped with words instead of calling `complete` (small models do): none where none are
 * owed, the JSON object in its words where that is what is owed, the words where one output is. Undefined: the words
 * are no result.
 */
export function resultOf(text: string, contract: Contract): Record<string, unknown> | undefined {
  const { outputs, schema } = contract;
  if (text.trim() === "") return undefined;
  if (outputs.length === 0 && schema === null) return {};
  const object = objectIn(text);
  if (object && contractFault(object, contract) === undefined) return object;
  return outputs.length === 1 && schema === null ? { [outputs[0]!]: text } : undefined;
}

/** A JSON object that is the whole text or stands in its last fence. */
function objectIn(text: string): Record<string, unknown> | undefined {
  const fenced = [...text.matchAll(/```(?:json)?\n([\s\S]*?)```/g)].at(-1)?.[1];
  for (const one of [text, fenced]) {
    if (!one?.trim().startsWith("{")) continue;
    try {
      return JSON.parse(one) as Record<string, unknown>;
    } catch {
      // No JSON: the text is only words.
    }
  }
  return undefined;
}
