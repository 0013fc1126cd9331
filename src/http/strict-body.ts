/**
 * Reads bodies in which unknown members, or members of a wrong type, are errors instead of being dropped or converted.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type FieldError, invalid } from "../core/errors.ts";
import { ownJson } from "../core/own-json.ts";
import { wrongWords } from "../core/schema-words.ts";
import { parseBody } from "./json-body.ts";
import { fieldName } from "./problem.ts";

const MAX_ERRORS = 20;

/**
 * @param bytes the raw body.
 * @throws Problem 400 when it is not JSON, 422 that names each member that is unknown or of the wrong type.
 */
export function readStrictly<T extends TSchema>(bytes: Uint8Array | null | undefined, schema: T): Static<T> {
  const body = parseBody(new TextDecoder().decode(bytes ?? undefined));
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

/** Describes the body of such an operation for the OpenAPI document. */
export const strictBody = (schema: TSchema) => ({
  required: true,
  content: { "application/json": { schema: ownJson<Record<string, unknown>>(JSON.stringify(schema)) } },
});
