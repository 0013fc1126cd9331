/**
 * Says in words what a schema accepts, and what is wrong with a value, for the person who sent it. The value itself is
 * never included.
 */
import type { TSchema } from "@sinclair/typebox";
import { ValueErrorType } from "@sinclair/typebox/value";
import { formOf } from "./text-forms.ts";

type Loose = Record<string, unknown> & { anyOf?: Loose[]; enum?: unknown[]; items?: Loose };

/** The most words of a union that are named. */
const WORDS_MAX = 20;

/** E.g. `one of low, high`, `a whole number from 1 to 10`, `text of at most 64 characters or null`. */
export function acceptedWords(schema: TSchema): string {
  return joinVariants(variantsOf(schema));
}

/** What is wrong with a value: `is required`, `is not known`, `must be …`. Without a full stop. */
export function wrongWords(error: { schema?: TSchema; type?: number; message?: string }): string {
  const { schema, type, message = "" } = error;
  if (type === ValueErrorType.ObjectRequiredProperty || /required property/i.test(message)) return "is required";
  if (type === ValueErrorType.ObjectAdditionalProperties || /^Unexpected property/.test(message)) return "is not known";
  if (!schema) return "is not valid";
  return `must be ${acceptedWords(schema)}`;
}

/** Flattens nested unions. A number that may also arrive as text counts as a number. */
function variantsOf(schema: Loose): Loose[] {
  if (!schema.anyOf) return [schema];
  const { minimum, maximum } = schema;
  const numeric = schema.anyOf.find(({ type }) => type === "integer" || type === "number");
  if (numeric && schema.anyOf.some(({ format }) => /^(integer|numeric)\b/.test(String(format))))
    return [{ ...numeric, minimum: numeric["minimum"] ?? minimum, maximum: numeric["maximum"] ?? maximum }];
  if (schema.anyOf.some(({ type }) => type === "boolean")) return [{ type: "boolean" }, ...nullOf(schema.anyOf)];
  return schema.anyOf.flatMap(variantsOf);
}

const nullOf = (variants: readonly Loose[]): Loose[] => variants.filter(({ type }) => type === "null").slice(0, 1);

function joinVariants(variants: readonly Loose[]): string {
  const words = variants.flatMap((one) => ("const" in one ? [String(one["const"])] : (one.enum ?? []).map(String)));
  const others = variants.filter((one) => !("const" in one) && one.enum === undefined).map(wordsOf);
  const listed = words.slice(0, WORDS_MAX).join(", ") + (words.length > WORDS_MAX ? ", …" : "");
  const choice = words.length === 0 ? [] : [words.length === 1 ? listed : `one of ${listed}`];
  return [...new Set([...choice, ...others])].join(" or ");
}

function wordsOf(schema: Loose): string {
  const described = typeof schema["description"] === "string" ? schema["description"] : "";
  switch (schema["type"]) {
    case "integer":
      return `a whole number${rangeOf(schema)}`;
    case "number":
      return `a number${rangeOf(schema)}`;
    case "boolean":
      return "true or false";
    case "null":
      return "null";
    case "array":
      return `a list${amountOf(schema, "minItems", "maxItems", "entries")}${choiceOf(schema)}`;
    case "object":
      return `an object${amountOf(schema, "minProperties", "maxProperties", "members")}`;
    case "string":
      return textOf(schema, described);
    default:
      return "of another form";
  }
}

/** The schema of each entry of a list, if an entry is one of several words. */
function choiceOf({ items }: Loose): string {
  const words = items === undefined ? "" : joinVariants(variantsOf(items));
  return words.startsWith("one of ") ? `, each ${words}` : "";
}

function rangeOf({ minimum, maximum, exclusiveMinimum }: Loose): string {
  const from = exclusiveMinimum === undefined ? minimum : exclusiveMinimum;
  if (exclusiveMinimum !== undefined && maximum !== undefined) return ` above ${from} and at most ${maximum}`;
  if (exclusiveMinimum !== undefined) return ` above ${from}`;
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `, at least ${minimum}`;
  return maximum === undefined ? "" : `, at most ${maximum}`;
}

function amountOf(schema: Loose, least: string, most: string, what: string): string {
  const [min, max] = [schema[least], schema[most]];
  if (min === max && max !== undefined) return ` of ${max} ${what}`;
  if (min !== undefined && max !== undefined && min !== 0 && min !== 1) return ` of ${min} to ${max} ${what}`;
  if (max !== undefined) return ` of at most ${max} ${what}${min ? ", not empty" : ""}`;
  return min ? `${min === 1 ? ", not empty" : ` of at least ${min} ${what}`}` : "";
}

function textOf(schema: Loose, described: string): string {
  if (schema["format"] === "date-time") return "a time as in RFC 3339";
  if (schema["pattern"] !== undefined) {
    const form =
      formOf(String(schema["pattern"])) ??
      (described ? `text: ${described.replace(/\.$/, "")}` : "text of another form");
    // The length may be what is wrong, so it is named. Some forms already name theirs.
    const most = schema["maxLength"];
    return most === undefined || form.includes("at most") ? form : `${form}, at most ${most} characters`;
  }
  return `text${amountOf(schema, "minLength", "maxLength", "characters")}`;
}
