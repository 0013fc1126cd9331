/**
 * Removes members from answers that their schema does not name, so that a row passed on whole discloses nothing. A
 * schema is compiled to a few nested functions.
 */
import { Kind, OptionalKind, type TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { isObject } from "../core/is-object.ts";
import { memoize } from "../core/lazy.ts";

type Shape = (value: unknown) => unknown;

interface Members {
  properties: Record<string, TSchema>;
  additionalProperties?: unknown;
}

/** @returns a function that removes unnamed members from a value of this schema; undefined when there can be none. */
export function shapeOf(schema: TSchema): Shape | undefined {
  if (Array.isArray(schema["anyOf"])) return ofUnion(schema["anyOf"]);
  if (Array.isArray(schema["allOf"])) return ofObject(intersect(schema["allOf"]));
  if (schema["type"] === "array" && schema["items"] && !Array.isArray(schema["items"])) return ofArray(schema["items"]);
  if (schema["type"] !== "object") return undefined;
  if (schema["patternProperties"]) return ofRecord(Object.values(schema["patternProperties"])[0] as TSchema);
  return schema["properties"] ? ofObject(schema as TSchema & Members) : undefined;
}

function ofArray(items: TSchema): Shape | undefined {
  const inner = shapeOf(items);
  return inner && ((value) => (Array.isArray(value) ? value.map(inner) : value));
}

function ofRecord(child: TSchema): Shape | undefined {
  const inner = shapeOf(child);
  if (!inner) return undefined;
  return (value) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inner(one)])) : value;
}

function ofObject({ properties, additionalProperties }: Members): Shape {
  const members = Object.entries(properties).map(([key, schema]) => ({ key, inner: shapeOf(schema) }));
  if (additionalProperties === undefined || additionalProperties === false) return ofMembers(members);
  return (value) => {
    if (!isObject(value)) return value;
    const shaped = { ...value };
    for (const { key, inner } of members) if (inner && shaped[key] !== undefined) shaped[key] = inner(shaped[key]);
    return shaped;
  };
}

/**
 * Compiles an object's members to one literal, `{"id": value["id"], "error": inner[1](value["error"])}`. It takes a
 * fraction of the time of a loop over the names. Missing members become undefined, which JSON leaves out.
 */
function ofMembers(members: readonly { key: string; inner: Shape | undefined }[]): Shape {
  const written = members.map(({ key, inner }, at) => {
    const name = JSON.stringify(key);
    return `${name}: ${inner ? `value[${name}] === undefined ? undefined : inner[${at}](value[${name}])` : `value[${name}]`}`;
  });
  const literal: Shape = new Function("inner", `return (value) => ({ ${written.join(", ")} })`)(
    members.map(({ inner }) => inner),
  );
  return (value) => (isObject(value) ? literal(value) : value);
}

const intersect = (all: readonly TSchema[]): Members => ({
  properties: Object.assign({}, ...all.map(({ properties }) => properties)),
  additionalProperties: all.some(({ additionalProperties }) => additionalProperties === true),
});

/** For `X | null`, the shape of X. For several objects or lists, the shape of the first that the value fits. */
function ofUnion(branches: readonly TSchema[]): Shape | undefined {
  const shaped = branches.flatMap((schema) => {
    const shape = shapeOf(schema);
    return shape ? [{ schema, shape, fits: memoize(() => TypeCompiler.Compile(schema)) }] : [];
  });
  const [only] = shaped;
  if (!only) return undefined;
  const isStructure = ({ type, anyOf, allOf, [Kind]: kind }: TSchema) =>
    type === "object" || type === "array" || anyOf || allOf || kind === "Unknown" || kind === "Any";
  if (branches.filter(isStructure).length === 1) return only.shape;
  return (value) => {
    if (typeof value !== "object" || value === null) return value;
    for (const { shape, fits } of shaped) if (fits().Check(value)) return shape(value);
    for (const { shape, fits } of shaped) {
      const less = shape(value);
      if (fits().Check(less)) return less;
    }
    if (shaped.length < branches.filter(isStructure).length) return value;
    throw new Error("An answer fits no part of the union that its schema names.");
  };
}

/**
 * @param check whether an answer that violates its schema is an error: for development and tests.
 * @returns a function that shapes answers of this schema. With `check`, it throws an Error for one that violates it.
 */
export function createShaper(schema: TSchema, check: boolean): Shape {
  const shape = shapeOf(schema) ?? ((value: unknown) => value);
  if (!check) return shape;
  const checked = memoize(() => TypeCompiler.Compile(schema));
  return (value) => {
    const shaped = shape(value);
    if (checked().Check(shaped) || (shaped === undefined && OptionalKind in schema)) return shaped;
    const wrong = [...checked().Errors(shaped)].slice(0, 20).map(({ path, message }) => `${path} ${message}`);
    throw new Error(`The answer is not as its schema says: ${wrong.join("; ")}`);
  };
}
