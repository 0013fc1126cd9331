/**
 * Bodies in which an unknown or ill-typed member is an error, not something to be dropped or converted. The route
 * declares `parse: "none"` and this reads the JSON itself.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { badRequest, type FieldError, invalid } from "../core/errors.ts";

const MAX_ERRORS = 20;

/** @throws Problem 400 when it is not JSON, 422 naming each member that is unknown or of the wrong type. */
export async function readStrict<T extends TSchema>(request: Request, schema: T): Promise<Static<T>> {
  let body: unknown;
  try {
    body = JSON.parse(await request.text());
  } catch {
    throw badRequest("The body is not JSON.", "malformed");
  }
  if (Value.Check(schema, body)) return body;
  const errors: FieldError[] = [];
  for (const { path, message, schema: wanted } of Value.Errors(schema, body)) {
    if (errors.some((error) => error.pointer === (path || "/"))) continue;
    const why = message === "Unexpected property" ? "is not known" : `must be ${wordsOf(wanted)}`;
    errors.push({ pointer: path || "/", message: why });
    if (errors.length === MAX_ERRORS) break;
  }
  const first = errors[0];
  throw invalid(`Body ${first?.pointer ?? "/"}: ${first?.message ?? "is not valid"}.`, errors);
}

/** What a schema accepts, for a person. */
function wordsOf(schema: TSchema): string {
  const { anyOf, type, minimum, maximum, pattern } = schema as Record<string, unknown>;
  if (Array.isArray(anyOf))
    return [...new Set(anyOf.flatMap((one: TSchema) => wordsOf(one).split(" or ")))].join(" or ");
  if ("const" in schema) return JSON.stringify(schema["const"]);
  const range = minimum === undefined ? "" : ` from ${minimum} to ${maximum ?? "any"}`;
  return `${type === "null" ? "" : "of type "}${type}${range}${pattern === undefined ? "" : ` of the shape ${pattern}`}`;
}

/** The request body of such a route for the OpenAPI document. */
export const strictBody = (schema: TSchema) => ({
  required: true,
  content: { "application/json": { schema: JSON.parse(JSON.stringify(schema)) } },
});
