/** Describes how a value violates a TypeBox schema, in words for the person who wrote the file. */
import { KindGuard, type TSchema, type TUnion } from "@sinclair/typebox";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { acceptedWords } from "../core/schema-words.ts";
import { pathOf, pointerOf, type SourceProblem, type YamlText } from "./yaml-text.ts";

/** A problem located by a path in the value, not by a position in a text. */
export interface ValueProblem {
  path: (string | number)[];
  message: string;
  /** True: the key is wrong, not its value. */
  key?: boolean;
  /** A part of the value's text that shows where the problem is. */
  excerpt?: string;
}

/** At most one problem per place, at most 50 in all. */
export function schemaProblems(schema: TSchema, value: unknown, base: (string | number)[] = []): ValueProblem[] {
  const problems = new Map<string, ValueProblem>();
  for (const error of Value.Errors(schema, value)) {
    if (problems.size >= 50) break;
    for (const problem of toProblems(error, [...base, ...pathOf(error.path)])) {
      const place = pointerOf(problem.path);
      if (!problems.has(place)) problems.set(place, problem);
    }
  }
  return [...problems.values()];
}

/** Locates problems of a value in the text that it was read from, sorted by position. */
export function placeProblems(problems: readonly ValueProblem[], yaml: YamlText): SourceProblem[] {
  return problems
    .map(({ path, message, key, excerpt }) => ({
      ...(key ? yaml.locateKey(path) : yaml.locate(path, excerpt)),
      pointer: pointerOf(path),
      message,
    }))
    .sort((a, b) => a.line - b.line || a.column - b.column);
}

function toProblems(error: ValueError, path: (string | number)[]): ValueProblem[] {
  const schema = error.schema;
  const say = (message: string): ValueProblem[] => [{ path, message }];
  // For a missing property, the error's schema is the property's own schema, which may also be a union.
  if (error.type === ValueErrorType.Union && KindGuard.IsUnion(schema)) return unionProblems(schema, error.value, path);
  switch (error.type) {
    case ValueErrorType.ObjectAdditionalProperties: {
      const known = Object.keys(schema["properties"] ?? {});
      return [{ path, key: true, message: `"${path.at(-1)}" is unknown here. Known: ${known.join(", ")}.` }];
    }
    case ValueErrorType.ObjectRequiredProperty:
      return say(`"${path.at(-1)}" is missing.`);
    case ValueErrorType.ArrayUniqueItems:
      return say("An entry is given twice.");
    default:
      return say(`This must be ${acceptedWords(schema)}.${formatHint(schema)}`);
  }
}

const formatHint = (schema: TSchema): string => (schema.description ? ` ${schema.description}` : "");

/**
 * For an object, reports the problems by the single variant that takes objects; for anything else, lists what is
 * allowed.
 */
function unionProblems(schema: TUnion, value: unknown, path: (string | number)[]): ValueProblem[] {
  const wanted = Array.isArray(value) ? KindGuard.IsArray : KindGuard.IsObject;
  const fitting = value !== null && typeof value === "object" ? schema.anyOf.filter((variant) => wanted(variant)) : [];
  if (fitting.length === 1 && fitting[0]) return schemaProblems(fitting[0], value, path);
  const words = schema.anyOf.flatMap((variant) => (KindGuard.IsLiteral(variant) ? [String(variant.const)] : []));
  const allowed = words.length > 0 ? ` One of: ${words.join(", ")}.` : "";
  return [{ path, message: `This value is not allowed here.${allowed}${formatHint(schema)}` }];
}
