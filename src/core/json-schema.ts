/**
 * JSON Schema, draft 2020-12, for schemas that models and tool servers write. A schema is checked before it is used.
 * Values are only validated here when that is cheap regardless of their content; anything else belongs in the text
 * worker.
 */

import { dereference, type Schema, Validator } from "@cfworker/json-schema";
import { isObject, textIn } from "./is-object.ts";
import { didYouMean } from "./near.ts";
import { ownJson } from "./own-json.ts";

/** A problem in a schema, and where it is. */
export interface SchemaProblem {
  path: (string | number)[];
  message: string;
  /** True when the key is wrong and not its value. */
  key?: boolean;
}

const MAX_PARTS = 5_000;
const MAX_DEPTH = 64;
const MAX_PATTERN_CHARACTERS = 1_000;
const MAX_PROBLEMS = 20;

const TYPES = new Set(["null", "boolean", "object", "array", "number", "integer", "string"]);
/** Keywords whose value is a schema (`ONE`), a list of schemas (`MANY`), or schemas by name (`BY_NAME`). */
const ONE = new Set(
  "additionalProperties additionalItems unevaluatedItems unevaluatedProperties items contains propertyNames not if then else".split(
    " ",
  ),
);
const MANY = new Set("allOf anyOf oneOf prefixItems".split(" "));
const BY_NAME = new Set("$defs definitions properties patternProperties dependentSchemas".split(" "));
const COUNTS = new Set(
  "maxLength minLength maxItems minItems maxProperties minProperties maxContains minContains".split(" "),
);
const NUMBERS = new Set("maximum minimum exclusiveMaximum exclusiveMinimum multipleOf".split(" "));

/** Keywords that only describe, or that this file checks one by one or not at all. */
const OTHERS = new Set(
  "type pattern required dependentRequired enum const $ref $id $anchor $schema $comment $recursiveRef $dynamicRef dependencies format uniqueItems title description default examples example deprecated readOnly writeOnly contentEncoding contentMediaType contentSchema".split(
    " ",
  ),
);
const KEYWORDS = new Set([...OTHERS, ...ONE, ...MANY, ...BY_NAME, ...COUNTS, ...NUMBERS]);
/** Keywords for which null is a value like any other. */
const VALUES = new Set(["const", "default", "example"]);
const QUOTE = "Put the text before it into quotes, if this was a part of it: a comma ends a text without quotes.";

/**
 * Lists everything that would prevent validation with this schema; empty when it can be used.
 * @param written true for a schema written by hand: an unknown keyword, or one that is null, is then a slip.
 */
export function schemaProblems(schema: unknown, { written = false } = {}): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  const visited = new Map<object, SchemaProblem["path"]>();
  const say = (path: SchemaProblem["path"], message: string) => void problems.push({ path, message });
  const visit = (value: unknown, path: SchemaProblem["path"]): void => {
    if (typeof value === "boolean") return;
    if (!isObject(value)) return say(path, "A schema is an object, or true or false.");
    if (path.length > MAX_DEPTH || visited.size >= MAX_PARTS) {
      if (problems.length === 0) say(path, `A schema has at most ${MAX_PARTS} parts, ${MAX_DEPTH} levels deep.`);
      return;
    }
    visited.set(value, path);
    for (const [keyword, given] of Object.entries(value)) {
      if (problems.length >= MAX_PROBLEMS) return;
      const at = [...path, keyword];
      const [slip, wrong] = [written && keywordSlip(keyword, given), keywordFault(keyword, given)];
      if (slip) problems.push({ path: at, message: slip, key: true });
      else if (wrong) say(at, wrong);
      else if (ONE.has(keyword)) visit(given, at);
      else if (MANY.has(keyword) && Array.isArray(given))
        for (const [i, one] of given.entries()) visit(one, [...at, i]);
      else if (BY_NAME.has(keyword) && isObject(given))
        for (const [name, one] of Object.entries(given)) visit(one, [...at, name]);
    }
  };
  visit(schema, []);
  return problems.length > 0 || !isObject(schema) ? problems : referenceProblems(schema, visited);
}

function keywordSlip(keyword: string, given: unknown): string | undefined {
  const shown = JSON.stringify(keyword.length > 60 ? `${keyword.slice(0, 60)}…` : keyword);
  if (KEYWORDS.has(keyword))
    return given === null && !VALUES.has(keyword) ? `The keyword ${shown} has no value.` : undefined;
  if (keyword.startsWith("x-")) return undefined;
  const near = didYouMean(keyword, KEYWORDS);
  return `JSON Schema has no keyword ${shown}. ${near || QUOTE}`;
}

function keywordFault(keyword: string, given: unknown): string | undefined {
  switch (keyword) {
    case "type":
      return [given].flat().every((one) => typeof one === "string" && TYPES.has(one))
        ? undefined
        : `There is no such type. There are: ${[...TYPES].join(", ")}.`;
    case "pattern":
      return patternFault(given);
    case "patternProperties":
      return isObject(given) ? Object.keys(given).map(patternFault).find(Boolean) : "This must be an object.";
    case "required":
      return isTexts(given) ? undefined : "This must be a list of names.";
    case "dependentRequired":
      return isObject(given) && Object.values(given).every(isTexts)
        ? undefined
        : "This must be lists of names, by name.";
    case "enum":
      return Array.isArray(given) ? undefined : "This must be a list.";
    case "$ref":
    case "$id":
    case "$anchor":
    case "format":
      return typeof given === "string" ? undefined : "This must be text.";
    case "uniqueItems":
      return typeof given === "boolean" ? undefined : "This must be true or false.";
    case "$recursiveRef":
    case "$dynamicRef":
      return "This kind of reference is not supported; use $ref.";
    case "dependencies":
      return "This keyword is not supported; use dependentRequired or dependentSchemas.";
  }
  if (MANY.has(keyword)) return Array.isArray(given) ? undefined : "This must be a list of schemas.";
  if (BY_NAME.has(keyword)) return isObject(given) ? undefined : "This must be an object of schemas.";
  if (COUNTS.has(keyword))
    return typeof given === "number" && Number.isInteger(given) && given >= 0
      ? undefined
      : "This must be a whole number from 0.";
  if (NUMBERS.has(keyword)) return Number.isFinite(given) ? undefined : "This must be a number.";
  return undefined;
}

const isTexts = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === "string");

function patternFault(pattern: unknown): string | undefined {
  if (typeof pattern !== "string") return "A pattern must be text.";
  if (pattern.length > MAX_PATTERN_CHARACTERS) return `A pattern has at most ${MAX_PATTERN_CHARACTERS} characters.`;
  try {
    new RegExp(pattern, "u");
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^Invalid regular expression: /, "") : String(error);
    return `This is not a valid pattern: ${why}.`;
  }
}

/** References that lead nowhere, or out of the schema. */
function referenceProblems(schema: Schema, visited: ReadonlyMap<object, SchemaProblem["path"]>): SchemaProblem[] {
  let lookup: Record<string, unknown>;
  try {
    lookup = dereference(schema);
  } catch (error) {
    return [{ path: [], message: error instanceof Error ? error.message : String(error) }];
  }
  return [...visited].flatMap(([part, path]) => {
    const [$ref, target] = [textIn(part, "$ref"), textIn(part, "__absolute_ref__")];
    return $ref === undefined || (target !== undefined && target in lookup)
      ? []
      : [
          {
            path: [...path, "$ref"],
            message: `There is nothing at ${JSON.stringify($ref.slice(0, 200))} in this schema.`,
          },
        ];
  });
}

/** Lists where the value violates the schema, in words for the model. @throws Error when the schema cannot be used. */
export function schemaFaults(schema: object, value: unknown): string[] {
  const copy = ownJson<Schema>(JSON.stringify(schema));
  const { valid, errors } = new Validator(copy, "2020-12", false).validate(value);
  if (valid) return [];
  const leaves = errors.filter((error) => error.keyword !== "properties" && error.keyword !== "items");
  return leaves
    .slice(0, 5)
    .map(({ instanceLocation, error }) => `${instanceLocation.replace(/^#/, "") || "/"}: ${error.slice(0, 500)}`);
}

/** Keywords that cost one step for each part of the value. */
const CHEAP = new Set(
  "type properties required additionalProperties items description title default examples minLength maxLength minItems maxItems minProperties maxProperties minimum maximum exclusiveMinimum exclusiveMaximum $schema".split(
    " ",
  ),
);
/** Bounds of cheap validation: parts of the schema times parts of the value, and characters of the value. */
const CHEAP_STEPS = 20_000;
const CHEAP_CHARACTERS = 2_000_000;

/** Whether validation takes at most a few milliseconds, regardless of the value's content. */
export function isCheap(schema: object, value: unknown): boolean {
  const schemaParts = countSchema(schema, 200);
  if (schemaParts === undefined) return false;
  return countValue(value, Math.floor(CHEAP_STEPS / schemaParts)) !== undefined;
}

/** Number of parts of the schema; undefined when there are more than `most`, or when a keyword is not cheap. */
function countSchema(schema: unknown, most: number): number | undefined {
  if (typeof schema === "boolean") return 1;
  if (!isObject(schema)) return undefined;
  let parts = 1;
  for (const [keyword, given] of Object.entries(schema)) {
    if (!CHEAP.has(keyword) && !isSmallChoice(keyword, given)) return undefined;
    const below =
      keyword === "properties" && isObject(given)
        ? Object.values(given)
        : keyword === "items" || keyword === "additionalProperties"
          ? [given]
          : [];
    for (const one of below) {
      const count = countSchema(one, most - parts);
      if (count === undefined) return undefined;
      parts += count;
      if (parts > most) return undefined;
    }
  }
  return parts;
}

/** Whether the keyword is a choice from a few short words. */
function isSmallChoice(keyword: string, given: unknown): boolean {
  const isWord = (value: unknown) => typeof value !== "object" && String(value).length <= 100;
  if (keyword === "const") return isWord(given);
  if (keyword === "enum") return Array.isArray(given) && given.length <= 32 && given.every(isWord);
  if (keyword !== "anyOf" || !Array.isArray(given) || given.length > 32) return false;
  return given.every(
    (one) =>
      isObject(one) && Object.keys(one).every((key) => key === "type" || key === "const") && isWord(one["const"]),
  );
}

function countValue(value: unknown, most: number): number | undefined {
  let [parts, characters] = [0, 0];
  const open: unknown[] = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (++parts > most) return undefined;
    if (typeof one === "string") characters += one.length;
    else if (typeof one === "object" && one !== null) {
      for (const name of Array.isArray(one) ? [] : Object.keys(one)) characters += name.length;
      const below = Object.values(one);
      if (parts + below.length > most) return undefined;
      open.push(...below);
    }
    if (characters > CHEAP_CHARACTERS) return undefined;
  }
  return parts;
}

/** Embeds a schema in a larger one at `path`, and adjusts references to its own top so that they still work. */
export function embedSchema(schema: Record<string, unknown>, path: readonly string[]): Record<string, unknown> {
  const prefix = `#${path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}`;
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    return isObject(value) ? walkObject(value) : value;
  };
  const walkObject = (object: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(object).map(([key, one]) => {
        if (key === "$ref" && typeof one === "string" && (one === "#" || one.startsWith("#/")))
          return [key, prefix + one.slice(1)];
        return [key, walk(one)];
      }),
    );
  return walkObject(schema);
}
