/**
 * Makes up values that fit a JSON Schema, so that a dry run of a pipeline can pass on the outputs that its steps
 * require.
 */
import { isObject } from "../../core/is-object.ts";

type Schema = Record<string, unknown>;

const DEPTH = 6;

const asSchema = (value: unknown): Schema => (isObject(value) ? value : {});

function sampleObject(schema: Schema, name: string, depth: number): Record<string, unknown> {
  const properties = asSchema(schema["properties"]);
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  const names = new Set([...Object.keys(properties), ...required]);
  return Object.fromEntries([...names].map((key) => [key, sample(asSchema(properties[key]), key || name, depth + 1)]));
}

function sampleNumber(schema: Schema): number {
  const least = Number(schema["minimum"] ?? schema["exclusiveMinimum"] ?? 0);
  return Math.max(1, Math.floor(least) + (schema["exclusiveMinimum"] === undefined ? 0 : 1));
}

/** Makes a value for a schema. Free text becomes a sentence that says it was scripted. */
export function sample(schema: Schema, name: string, depth = 0): unknown {
  if (depth > DEPTH) return null;
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  if ("default" in schema) return schema["default"];
  for (const key of ["anyOf", "oneOf"]) {
    const options = schema[key];
    if (Array.isArray(options) && options.length) return sample(asSchema(options[0]), name, depth + 1);
  }
  const type = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  if (type === "object" || (type === undefined && schema["properties"])) return sampleObject(schema, name, depth);
  if (type === "array") {
    const count = Math.min(5, Math.max(1, Number(schema["minItems"] ?? 1)));
    return Array.from({ length: count }, () => sample(asSchema(schema["items"]), name, depth + 1));
  }
  if (type === "boolean") return true;
  if (type === "number" || type === "integer") return sampleNumber(schema);
  if (type === "null") return null;
  const text = `Scripted ${name.replaceAll("_", " ")}: made up by the demo model.`;
  const most = Number(schema["maxLength"] ?? text.length);
  return text.slice(0, most).padEnd(Number(schema["minLength"] ?? 0), ".");
}

/** Makes up the `outputs` that the tool `complete` asks for; a summary when it names none. */
export function sampleOutputs(completeParameters: Schema | undefined): Record<string, unknown> {
  const outputs = asSchema(asSchema(completeParameters?.["properties"])["outputs"]);
  const made = sampleObject(outputs, "outputs", 0);
  return Object.keys(made).length ? made : { summary: sample({ type: "string" }, "summary") };
}
