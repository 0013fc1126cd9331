/**
 * Bodies in which an unknown or ill-typed member is an error, not something to be dropped or converted. The route
 * declares `parse: "none"` and this reads the JSON itself.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { badRequest, type FieldError, invalid } from "../core/errors.ts";
import { assertShallow } from "./json-body.ts";
import { fieldName } from "./problem.ts";
import { wrongWords } from "./schema-words.ts";

const MAX_ERRORS = 20;

/** @throws Problem 400 when it is not JSON, 422 naming each member that is unknown or of the wrong type. */
export async function readStrict<T extends TSchema>(request: Request, schema: T): Promise<Static<T>> {
  let body: unknown;
  const text = await request.text();
  assertShallow(text);
  try {
    body = JSON.parse(text);
  } catch {
    throw badRequest("The body is not JSON.", "malformed");
  }
  if (Value.Check(schema, body)) return body;
  const errors: FieldError[] = [];
  for (const error of Value.Errors(schema, body)) {
    const pointer = error.path || "/";
    if (errors.some((one) => one.pointer === pointer)) continue;
    errors.push({ pointer, message: wrongWords(error) });
    if (errors.length === MAX_ERRORS) break;
  }
  const first = errors[0];
  throw invalid(`${fieldName("body", first?.pointer ?? "/")} ${first?.message ?? "is not valid"}.`, errors);
}

/** The request body of such a route for the OpenAPI document. */
export const strictBody = (schema: TSchema) => ({
  required: true,
  content: { "application/json": { schema: JSON.parse(JSON.stringify(schema)) } },
});
