/**
 * Renders the Helm chart of docs/kubernetes/chart without helm. It knows only the few template functions used there and
 * refuses any other, so that the templates stay simple.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { isObject, membersOf } from "../../core/is-object.ts";

export const KUBERNETES_DOCS = join(import.meta.dir, "../../../docs/kubernetes");
const CHART = join(KUBERNETES_DOCS, "chart");

/**
 * Renders the chart like `helm template --namespace NAMESPACE`. @param values merged deeply over those of values.yaml.
 */
export function renderChart(values: Record<string, unknown> = {}, namespace = "skep"): string {
  const read = (name: string): string => readFileSync(join(CHART, name), "utf8");
  const scope = {
    Values: merge(membersOf(parse(read("values.yaml"))), values),
    Release: { Namespace: namespace },
  };
  const names = readdirSync(join(CHART, "templates"))
    .filter((name) => name.endsWith(".yaml"))
    .sort();
  return names.map((name) => render(read(`templates/${name}`), scope)).join("\n---\n");
}

/** The objects in a file of manifests, by kind, namespace and name. */
export function manifestsIn(text: string): Map<string, Record<string, unknown>> {
  const found = new Map<string, Record<string, unknown>>();
  for (const document of parseAllDocuments(text)) {
    if ("errors" in document && document.errors.length > 0) throw new Error(`no YAML: ${document.errors[0]?.message}`);
    const object = membersOf(document.toJS());
    if (Object.keys(object).length === 0) continue;
    const { name, namespace = "" } = membersOf(object["metadata"]);
    const key = `${object["kind"]} ${namespace}/${name}`;
    if (found.has(key)) throw new Error(`${key} is there twice`);
    found.set(key, object);
  }
  return found;
}

function merge(under: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const all = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const own = all[name];
    all[name] = isObject(value) && isObject(own) ? merge(own, value) : value;
  }
  return all;
}

/** An action. Its dashes trim the white space of the surrounding text. */
const ACTION = /\{\{(-?) ?([^{}]*?) ?(-?)\}\}/g;

function render(template: string, scope: unknown): string {
  let [text, at] = ["", 0];
  /** Whether the condition of each surrounding `if` holds. */
  const holds: boolean[] = [];
  let trims = false;
  const take = (piece: string, trimsEnd: boolean) => {
    const begun = trims ? piece.trimStart() : piece;
    if (holds.every(Boolean)) text += trimsEnd ? begun.trimEnd() : begun;
  };
  for (const found of template.matchAll(ACTION)) {
    const [whole, left, action = "", right] = found;
    take(template.slice(at, found.index), left === "-");
    at = found.index + whole.length;
    trims = right === "-";
    if (action === "end") {
      if (holds.pop() === undefined) throw new Error("an end without its if");
    } else if (action.startsWith("if ")) holds.push(isTrue(evaluate(action.slice(3), scope)));
    else if (holds.every(Boolean)) text += String(evaluate(action, scope));
  }
  take(template.slice(at), false);
  if (holds.length > 0) throw new Error("an if without its end");
  return text;
}

function evaluate(pipeline: string, scope: unknown): unknown {
  const [path = "", ...functions] = pipeline.split(" | ");
  if (!/^(\.[A-Za-z]+)+$/.test(path)) throw new Error(`a template says ${path}, which is not known here`);
  let value = scope;
  for (const name of path.split(".").slice(1)) {
    value = membersOf(value)[name];
    if (value === undefined) throw new Error(`${path} is no value of the chart`);
  }
  for (const name of functions) {
    const apply = FUNCTIONS[name];
    if (!apply) throw new Error(`a template calls ${name}, which is not known here`);
    value = apply(value);
  }
  return value;
}

const FUNCTIONS: Readonly<Record<string, (value: unknown) => string>> = {
  quote: (value) => JSON.stringify(String(value)),
  toJson: (value) => JSON.stringify(value),
  sha256sum: (value) => createHash("sha256").update(String(value)).digest("hex"),
};

/** Whether Go templates treat a value as true: empty values are false. */
const isTrue = (value: unknown): boolean =>
  isObject(value) ? Object.keys(value).length > 0 : Array.isArray(value) ? value.length > 0 : Boolean(value);
