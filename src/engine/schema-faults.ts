/** Holding a value to a JSON Schema, with words for the model that gave it. */
import { type Schema, Validator } from "@cfworker/json-schema";

/** What of `value` does not fit the schema; at most five faults. */
export function schemaFaults(schema: object, value: unknown): string[] {
  const { valid, errors } = new Validator(JSON.parse(JSON.stringify(schema)) as Schema, "2020-12", false).validate(
    value,
  );
  if (valid) return [];
  const leaves = errors.filter((error) => error.keyword !== "properties" && error.keyword !== "items");
  return leaves
    .slice(0, 5)
    .map(({ instanceLocation, error }) => `${instanceLocation.replace(/^#/, "") || "/"}: ${error}`);
}
