/** Resolves the list of a `for_each`, and joins the outputs of its children. */
import { jsonIn } from "../../core/json-reader.ts";
import { LIMITS } from "../../core/limits.ts";
import { declaredOutputs, type ForEachStep } from "./definition.ts";
import { readPath } from "./path.ts";
import type { StepError, StepRow } from "./rows.ts";
import { soleVariable } from "./template.ts";

type Items = { items: unknown[]; error: null } | { items: null; error: StepError };

/**
 * The items: a list in the file, the value of a variable, or the JSON text of a list. If the variable belongs to a step
 * that did not succeed and gave nothing, there are no items. Any other value that is not a list is an error.
 */
export function itemsOf(step: ForEachStep, scope: Record<string, unknown>): Items {
  if (Array.isArray(step.for_each)) return { items: step.for_each, error: null };
  const path = soleVariable(step.for_each) ?? [];
  const value = readPath(scope, path);
  const items = listOf(value);
  if (!items) {
    const source = path[0] === "steps" ? readPath(scope, ["steps", path[1] ?? "", "status"]) : undefined;
    if (value === undefined && source !== undefined && source !== "succeeded") return { items: [], error: null };
    return createFailure("for_each_no_list", `${step.for_each} is not a list.`);
  }
  if (items.length > LIMITS.forEachItems)
    return createFailure(
      "for_each_too_long",
      `The list has ${items.length} items; at most ${LIMITS.forEachItems} are allowed.`,
    );
  return { items, error: null };
}

const createFailure = (code: string, message: string): Items => ({ items: null, error: { code, message } });

function listOf(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value;
  if (typeof value !== "string" || !value.trim().startsWith("[")) return null;
  const parsed = jsonIn(value);
  return Array.isArray(parsed) ? parsed : null;
}

/**
 * Each output as a list in the order of the items, with null where an item did not give it. Declared outputs are always
 * present, as empty lists when there were no items.
 */
export function joinOutputs(
  step: ForEachStep,
  items: readonly unknown[],
  children: ReadonlyMap<number, StepRow>,
): Record<string, unknown> {
  const outputsAt = (index: number): Record<string, unknown> => {
    const child = children.get(index);
    return child?.status === "succeeded" ? child.outputs : {};
  };
  const names = new Set(declaredOutputs(step) ?? []);
  for (const index of items.keys()) for (const name of Object.keys(outputsAt(index))) names.add(name);
  const outputAt = (index: number, name: string): unknown => {
    const outputs = outputsAt(index);
    return Object.hasOwn(outputs, name) ? outputs[name] : null;
  };
  return Object.fromEntries([...names].map((name) => [name, items.map((_, index) => outputAt(index, name))]));
}
