/**
 * Generates TypeScript from an OpenAPI 3.1 document: its types in the form that openapi-fetch uses (`paths`,
 * `components`), and which answers its events make outdated.
 */

type Json = { [key: string]: unknown };
interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Json }[];
  requestBody?: { required?: boolean; content?: Record<string, { schema?: Json }> };
  responses: Record<string, { $ref?: string; content?: Record<string, { schema?: Json }> }>;
}
export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json> };
}

const METHODS = ["get", "put", "post", "delete", "patch"] as const;
const quote = (name: string) => JSON.stringify(name);
const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

function typeOf(schema: Json | undefined): string {
  if (!schema) return "unknown";
  if (typeof schema["$ref"] === "string") return `components["schemas"][${quote(schema["$ref"].split("/").at(-1)!)}]`;
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => JSON.stringify(value)).join(" | ");
  const choices = list(schema["anyOf"] ?? schema["oneOf"]);
  if (choices.length > 0) return `(${choices.map(typeOf).join(" | ")})`;
  const all = list(schema["allOf"]);
  if (all.length > 0) return `(${all.map(typeOf).join(" & ")})`;
  const { type } = schema;
  if (Array.isArray(type)) return `(${type.map((one) => typeOf({ ...schema, type: one })).join(" | ")})`;
  if (type === "integer" || type === "number") return "number";
  if (type === "string" || type === "boolean" || type === "null") return type;
  if (type === "array") return `(${typeOf(schema["items"] as Json | undefined)})[]`;
  return type === "object" || schema["properties"] ? objectOf(schema) : "unknown";
}

function objectOf(schema: Json): string {
  const required = new Set((schema["required"] as string[] | undefined) ?? []);
  const members = Object.entries((schema["properties"] ?? {}) as Record<string, Json>).map(
    ([name, one]) => `${quote(name)}${required.has(name) ? "" : "?"}: ${typeOf(one)}`,
  );
  // An object with any names of one form, and values of one kind.
  const [pattern] = Object.values((schema["patternProperties"] ?? {}) as Record<string, Json>);
  const more = pattern ?? schema["additionalProperties"];
  if (members.length > 0) return `{ ${members.join("; ")} }`;
  return `{ [name: string]: ${typeof more === "object" && more ? typeOf(more as Json) : "unknown"} }`;
}

function contentOf(content: Record<string, { schema?: Json }> | undefined): string {
  const types = Object.entries(content ?? {}).map(([type, media]) => `${quote(type)}: ${typeOf(media.schema)}`);
  return types.length > 0 ? `{ ${types.join("; ")} }` : "never";
}

function parametersOf({ parameters = [] }: Operation): string {
  const groups = ["query", "header", "path", "cookie"].map((where) => {
    const own = parameters.filter((one) => one.in === where);
    const required = own.some((one) => one.required);
    const members = own.map(({ name, required, schema }) => `${quote(name)}${required ? "" : "?"}: ${typeOf(schema)}`);
    return own.length > 0 ? `${where}${required ? "" : "?"}: { ${members.join("; ")} }` : `${where}?: never`;
  });
  return `{ ${groups.join("; ")} }`;
}

function operationOf(operation: Operation): string {
  const { requestBody, responses } = operation;
  const body = requestBody
    ? `requestBody${requestBody.required ? "" : "?"}: { content: ${contentOf(requestBody.content)} }`
    : "requestBody?: never";
  const answers = Object.entries(responses)
    .filter(([, { $ref }]) => !$ref)
    .map(([status, { content }]) => {
      const shape = contentOf(content);
      const media = shape === "never" ? "content?: never" : `content: ${shape}`;
      return `${status}: { headers: { [name: string]: unknown }; ${media} }`;
    });
  const problem = `default: { headers: { [name: string]: unknown }; content: { "application/problem+json": components["schemas"]["Problem"] } }`;
  return `{ parameters: ${parametersOf(operation)}; ${body}; responses: { ${[...answers, problem].join("; ")} } }`;
}

/** @returns the source of a module with the types. */
export function apiTypes({ paths, components }: ApiDocument): string {
  const routes = Object.entries(paths).map(([path, item]) => {
    const methods = METHODS.map((method) =>
      item[method] ? `${method}: ${operationOf(item[method])}` : `${method}?: never`,
    );
    return `  ${quote(path)}: { parameters: { query?: never; header?: never; path?: never; cookie?: never }; ${methods.join("; ")} };`;
  });
  const schemas = Object.entries(components.schemas).map(([name, schema]) => `    ${quote(name)}: ${typeOf(schema)};`);
  return [
    "// Made from the server's OpenAPI document by scripts/build. Do not edit.",
    "export interface paths {",
    ...routes,
    "}",
    "export interface components {",
    "  schemas: {",
    ...schemas,
    "  };",
    "}",
    "",
  ].join("\n");
}

/** @returns the source of a module that says which paths each kind of event makes outdated. */
export function staleAnswers({ components }: ApiDocument): string {
  const kinds = Object.values(components.schemas).flatMap((schema) => {
    const { kind } = (schema["properties"] ?? {}) as Record<string, Json>;
    return schema["x-stale"] ? [[String(kind?.["const"]), schema["x-stale"]]] : [];
  });
  return [
    "// Made from the server's OpenAPI document by scripts/build. Do not edit.",
    `export const STALE: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(Object.fromEntries(kinds), null, 2)};`,
    "",
  ].join("\n");
}
