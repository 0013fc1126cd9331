/** What is wrong with a value by a TypeBox schema, in words for the person who wrote the file. */
import { KindGuard, type TSchema, type TUnion } from "@sinclair/typebox";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { acceptedWords } from "../core/schema-words.ts";
import { pathOf, pointerOf, type SourceProblem, type YamlText } from "./yaml-text.ts";

/** A problem of a value rather than of a text. */
export interface ValueProblem {
  path: (string | number)[];
  message: string;
  /** True: the key is wrong, not its value. */
  key?: boolean;
  /** A piece of the text of the value where the problem is. */
  excerpt?: string;
}

/** At most one problem per place, at most 50 in all. */
export function schemaProblems(schema: TSchema, value: unknown, base: (string | number)[] = []): ValueProblem[] {
  const problems = new Map<string, ValueProblem>();
  for (const error of Value.Errors(schema, value)) {
    if (problems.size >= 50) break;
    for (const problem of described(error, [...base, ...pathOf(error.path)])) {
      const place = pointerOf(problem.path);
      if (!problems.has(place)) problems.set(place, problem);
    }
  }
  return [...problems.values()];
}

/** Problems of a value as problems of the text it was read from, in the order of the text. */
export function placeProblems(problems: readonly ValueProblem[], yaml: YamlText): SourceProblem[] {
  return problems
    .map(({ path, message, key, excerpt }) => ({
      ...(key ? yaml.locateKey(path) : yaml.locate(path, excerpt)),
      pointer: pointerOf(path),
      message,
    }))
    .sort((a, b) => a.line - b.line || a.column - b.column);
}

function described(error: ValueError, path: (string | number)[]): ValueProblem[] {
  const schema = error.schema;
  const say = (message: string): ValueProblem[] => [{ path, message }];
  // The schema of a missing property is the property's own, which may be a union too.
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
      return say(`This must be ${acceptedWords(schema)}.${hint(schema)}`);
  }
}

const hint = (schema: TSchema): string => (schema.description ? ` ${schema.description}` : "");

/** An object is measured by the one variant that takes objects; anything else gets the list of what is allowed. */
function unionProblems(schema: TUnion, value: unknown, path: (string | number)[]): ValueProblem[] {
  const wanted = Array.isArray(value) ? KindGuard.IsArray : KindGuard.IsObject;
  const fitting = value !== null && typeof value === "object" ? schema.anyOf.filter((variant) => wanted(variant)) : [];
  if (fitting.length === 1 && fitting[0]) return schemaProblems(fitting[0], value, path);
  const words = schema.anyOf.flatMap((variant) => (KindGuard.IsLiteral(variant) ? [String(variant.const)] : []));
  const allowed = words.length > 0 ? ` One of: ${words.join(", ")}.` : "";
  return [{ path, message: `This value is not allowed here.${allowed}${hint(schema)}` }];
}
