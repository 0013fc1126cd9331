/** Changes one step in the text of a pipeline. The rest of the text, including comments, stays as it was written. */
import { type Document, isMap, isSeq, parseDocument, Scalar, YAMLMap } from "yaml";

/** Members of a step and their new values. An empty value removes the member. */
export type StepChange = Record<string, string | string[] | Record<string, unknown> | undefined>;

type Steps = { doc: Document.Parsed; steps: YAMLMap[] };

/** @returns null while the text is not a pipeline with steps. */
function read(source: string): Steps | null {
  const doc = parseDocument(source);
  const list = doc.get("steps");
  if (doc.errors.length > 0 || !isSeq(list)) return null;
  return { doc, steps: list.items.filter((one): one is YAMLMap => isMap(one)) };
}

// `lineWidth: 0` keeps long lines from being wrapped.
const write = (doc: Document.Parsed): string => doc.toString({ lineWidth: 0, flowCollectionPadding: false });

const isEmpty = (value: StepChange[string]): boolean => value === undefined || value === "";

/** A text of several lines becomes a block literal (`|`). */
function toNode(doc: Document.Parsed, value: NonNullable<StepChange[string]>) {
  const node = doc.createNode(value, { flow: Array.isArray(value) });
  if (typeof value === "string" && value.includes("\n") && node instanceof Scalar) node.type = Scalar.BLOCK_LITERAL;
  return node;
}

function apply({ doc }: Steps, step: YAMLMap, change: StepChange): void {
  const known: Record<string, unknown> = step.toJSON();
  for (const [name, value] of Object.entries(change)) {
    if (isEmpty(value)) step.delete(name);
    else if (JSON.stringify(known[name]) !== JSON.stringify(value)) step.set(name, toNode(doc, value!));
  }
}

const idOf = (step: YAMLMap): unknown => step.get("id");

/** @returns the text with the step changed, or unchanged if it has no such step. */
export function changeStep(source: string, id: string, change: StepChange): string {
  const found = read(source);
  const step = found?.steps.find((one) => idOf(one) === id);
  if (!found || !step) return source;
  apply(found, step, change);
  return write(found.doc);
}

/** @param change the members of the new step, with its `id`. @returns the text with the step at the end. */
export function addStep(source: string, change: StepChange): string {
  const found = read(source);
  const list = found?.doc.get("steps");
  if (!found || !isSeq(list)) return source;
  const step = new YAMLMap();
  apply(found, step, change);
  list.add(step);
  return write(found.doc);
}

/** Removes the step, and its id from the `needs` of the other steps. */
export function removeStep(source: string, id: string): string {
  const found = read(source);
  const list = found?.doc.get("steps");
  if (!found || !isSeq(list)) return source;
  list.items = list.items.filter((one) => !isMap(one) || idOf(one) !== id);
  for (const step of found.steps) {
    const needs = step.get("needs");
    if (isSeq(needs)) needs.items = needs.items.filter((one) => (one instanceof Scalar ? one.value : one) !== id);
  }
  return write(found.doc);
}

/** The members of a step as plain values. @returns undefined if there is no such step. */
export function readStep(source: string, id: string): Record<string, unknown> | undefined {
  const step = read(source)?.steps.find((one) => idOf(one) === id);
  return step?.toJSON();
}
