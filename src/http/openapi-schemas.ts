/**
 * The schemas of the OpenAPI document. The operations' schemas are rewritten into forms that code generators
 * understand. Each shape that operations take or answer gets a name and stands once under `components`.
 *
 * A shape is named by its schema's `title` when that is a type's name (`RunStep`). Otherwise its name derives from the
 * operation that gets, lists or creates it: `getRun` names `Run`, `loginWithCode` names `LoginWithCodeBody` and
 * `LoginWithCodeAnswer`.
 */
import type { DocumentedOperation } from "./openapi.ts";

export type Schema = { [keyword: string]: unknown };

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Applies `change` to each schema directly inside this one. */
function mapInside(schema: Schema, change: (inner: Schema) => Schema): Schema {
  const changeIfSchema = (value: unknown) => (isSchema(value) ? change(value) : value);
  const result: Schema = { ...schema };
  for (const keyword of ["items", "additionalProperties", "not", "if", "then", "else", "contains"])
    if (keyword in schema) result[keyword] = changeIfSchema(schema[keyword]);
  for (const keyword of ["anyOf", "oneOf", "allOf", "prefixItems"])
    if (Array.isArray(schema[keyword])) result[keyword] = schema[keyword].map(changeIfSchema);
  for (const keyword of ["properties", "patternProperties", "$defs"])
    if (isSchema(schema[keyword]))
      result[keyword] = Object.fromEntries(
        Object.entries(schema[keyword]).map(([name, inner]) => [name, changeIfSchema(inner)]),
      );
  return result;
}

/**
 * Converts a schema to JSON Schema 2020-12 without the schema library's own keywords, in forms that code generators
 * know.
 */
export function plainSchema(schema: Schema): Schema {
  const { $id: _, ...plain } = mapInside(schema, plainSchema);
  const pattern = plain["patternProperties"];
  if (isSchema(pattern) && isSchema(pattern["^(.*)$"])) {
    delete plain["patternProperties"];
    plain["additionalProperties"] = pattern["^(.*)$"];
  }
  if (isSchema(plain["properties"]) && Object.keys(plain["properties"]).length === 0) delete plain["properties"];
  return plainUnion(withNull(orNull(plain)));
}

/** Writes `X | null` as X with two types. */
function orNull(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const others = anyOf.filter(({ type }) => type !== "null");
  const [only] = others;
  if (others.length !== 1 || others.length === anyOf.length || typeof only.type !== "string") return schema;
  return { ...rest, ...only, type: [only.type, "null"] };
}

/** Adds null to an `enum` that may be null: in JSON Schema, the type alone does not allow it. */
function withNull(schema: Schema): Schema {
  const { type, enum: words } = schema;
  const may = Array.isArray(type) && type.includes("null") && Array.isArray(words) && !words.includes(null);
  return may ? { ...schema, enum: [...words, null] } : schema;
}

/** Writes a union of constants as an `enum`, and a number that a query may send as text as a number. */
function plainUnion(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const options = anyOf.filter(({ format }) => !/^(integer|numeric|boolean)\b/.test(String(format)));
  const constants = options.map((option) => option["const"]);
  if (constants.every((value) => typeof value === "string")) return { ...rest, type: "string", enum: constants };
  return options.length === 1 ? { ...rest, ...options[0] } : { ...rest, anyOf: options };
}

interface Media {
  schema?: Schema;
}

const jsonOf = (message: unknown): Media | undefined =>
  (message as { content?: Record<string, Media> } | undefined)?.content?.["application/json"];

const answersOf = ({ responses = {} }: DocumentedOperation): Media[] =>
  Object.entries(responses).flatMap(([status, response]) => (status.startsWith("2") ? (jsonOf(response) ?? []) : []));
const answerOf = (operation: DocumentedOperation): Media | undefined => answersOf(operation)[0];

/** The item schema of a list answer `{items, next_cursor}`. */
function itemOf(schema: Schema | undefined): Schema | undefined {
  const properties = schema?.["properties"];
  if (!isSchema(properties) || !("next_cursor" in properties) || !isSchema(properties["items"])) return undefined;
  const item = properties["items"]["items"];
  return isSchema(item) ? item : undefined;
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const isObject = (schema: Schema | undefined): schema is Schema => isSchema(schema?.["properties"]);

/** Names the operations' schemas and replaces them by references. @returns the schemas by name. */
export function nameSchemas(operations: DocumentedOperation[]): Record<string, Schema> {
  const names = new Map<string, string>();
  const shapes = new Map<string, Schema>();
  const nameSchema = (schema: Schema, ...candidates: string[]) => {
    const key = JSON.stringify(schema);
    if (names.has(key)) return;
    const free = candidates.find((candidate) => !shapes.has(candidate));
    if (!free) throw new Error(`two schemas of the API are named ${candidates.join(" and ")}`);
    names.set(key, free);
    shapes.set(free, schema);
  };
  const nameTitled = (schema: Schema): Schema => {
    const { title } = mapInside(schema, nameTitled);
    if (typeof title === "string" && /^[A-Z][A-Za-z0-9]*$/.test(title) && isObject(schema)) nameSchema(schema, title);
    return schema;
  };
  const bodies = operations.flatMap((operation) => {
    const media = jsonOf(operation.requestBody);
    return media?.schema ? [{ operation, media, schema: media.schema, kind: "body" as const }] : [];
  });
  const answers = operations.flatMap((operation) => {
    const media = answerOf(operation);
    return media?.schema ? [{ operation, media, schema: media.schema, kind: "answer" as const }] : [];
  });
  for (const { schema } of [...answers, ...bodies]) nameTitled(schema);
  const idOf = (operation: DocumentedOperation) => operation.operationId ?? "";
  const byVerb = (verb: RegExp) => answers.filter(({ operation }) => verb.test(idOf(operation)));
  for (const { operation, schema } of byVerb(/^get[A-Z]/))
    if (isObject(schema)) nameSchema(schema, idOf(operation).slice(3), `${capitalize(idOf(operation))}Answer`);
  for (const { operation, schema } of byVerb(/^list[A-Z]/)) {
    const item = itemOf(schema);
    const noun = idOf(operation).slice(4);
    const single = noun
      .replace(/ies$/, "y")
      .replace(/(ss|x|ch|sh)es$/, "$1")
      .replace(/([^su])s$/, "$1");
    if (isObject(item)) nameSchema(item, single, `${single}Item`);
    nameSchema(schema, `${names.get(JSON.stringify(item)) ?? single}List`, `${noun}List`);
  }
  for (const { operation, schema } of byVerb(/^create[A-Z]/))
    if (isObject(schema)) nameSchema(schema, idOf(operation).slice(6), `${capitalize(idOf(operation))}Answer`);
  for (const { operation, schema } of answers)
    if (isObject(schema)) nameSchema(schema, `${capitalize(idOf(operation))}Answer`);
  for (const { operation, schema } of bodies)
    if (isObject(schema)) nameSchema(schema, `${capitalize(idOf(operation))}Body`);

  const refer = (schema: Schema): Schema => {
    const named = names.get(JSON.stringify(schema));
    return named ? { $ref: `#/components/schemas/${named}` } : mapInside(schema, refer);
  };
  // An operation may answer with the same shape for several statuses.
  const media = [...operations.flatMap(answersOf), ...bodies.map((body) => body.media)];
  for (const one of media) if (one.schema) one.schema = refer(one.schema);
  return Object.fromEntries(
    [...shapes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([at, shape]) => [at, mapInside(shape, refer)]),
  );
}
