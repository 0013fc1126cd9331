/**
 * Finds the model among the options that a program offers for its session. The program is not trusted: its offer is
 * read field by field, and bounded.
 */
import { isObject, textIn } from "../../core/is-object.ts";

const OPTIONS = 50;
const VALUES = 1_000;
const VALUE_CHARACTERS = 500;

const listIn = (value: unknown, most: number): Record<string, unknown>[] =>
  Array.isArray(value) ? value.slice(0, most).filter(isObject) : [];

/**
 * @param answer to `session/new`, `session/load` or `session/resume`.
 * @param names that the program may have for the model, the best first.
 * @returns the option to set and its value; undefined when the program offers no such model, or already uses it.
 */
export function modelChoice(answer: unknown, names: readonly string[]) {
  if (!isObject(answer)) return undefined;
  for (const option of listIn(answer["configOptions"], OPTIONS)) {
    const configId = textIn(option, "id");
    const isModel = option["category"] === "model" || (option["category"] === undefined && configId === "model");
    if (!isModel || configId === undefined || configId.length > VALUE_CHARACTERS) continue;
    const offered = valuesOf(option["options"]);
    const value = names.find((name) => offered.has(name));
    if (value !== undefined) return value === option["currentValue"] ? undefined : { configId, value };
  }
  return undefined;
}

/** The values of an option, which come as a flat list or in groups. */
function valuesOf(options: unknown): Set<string> {
  const values = new Set<string>();
  for (const one of listIn(options, VALUES))
    for (const option of [one, ...listIn(one["options"], VALUES)]) {
      const value = textIn(option, "value");
      if (value !== undefined && value.length <= VALUE_CHARACTERS && values.size < VALUES) values.add(value);
    }
  return values;
}
