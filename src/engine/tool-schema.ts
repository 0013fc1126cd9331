/**
 * Shortens the schema of a tool's input for the model. Bounds that only validation needs would cost tokens in every
 * call.
 */

type Schema = Record<string, unknown>;

/** Keywords that are left out of the schema for the model. They still apply: a call that violates one gets an error. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "title",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minProperties",
  "maxProperties",
]);
/** Members whose keys are chosen names and not keywords. */
const NAMED: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "definitions"]);
/** Members that hold values and not schemas. */
const VALUES: ReadonlySet<string> = new Set(["enum", "const", "default", "examples", "required"]);

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Copies a schema without what only validation needs. */
export function slimSchema(schema: Schema): Schema {
  const slim: Schema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (LEFT_OUT.has(key) || (key === "additionalProperties" && value === false)) continue;
    slim[key] = slimMember(key, value);
  }
  const choices = choicesIn(slim["anyOf"]);
  if (!choices) return slim;
  const { anyOf: _, ...rest } = slim;
  return { ...rest, enum: choices };
}

function slimMember(key: string, value: unknown): unknown {
  if (VALUES.has(key)) return value;
  if (Array.isArray(value)) return value.map((one) => (isSchema(one) ? slimSchema(one) : one));
  if (!isSchema(value)) return value;
  if (!NAMED.has(key)) return slimSchema(value);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, isSchema(one) ? slimSchema(one) : one]));
}

/** The values of a choice between constants, so that it becomes one `enum`; undefined when it is no such choice. */
function choicesIn(anyOf: unknown): unknown[] | undefined {
  if (!Array.isArray(anyOf) || anyOf.length === 0) return undefined;
  const isFixed = (one: unknown): one is { const: unknown } =>
    isSchema(one) && "const" in one && Object.keys(one).every((key) => key === "const" || key === "type");
  return anyOf.every(isFixed) ? anyOf.map((one) => one.const) : undefined;
}
