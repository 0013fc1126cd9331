/** Generates the OpenAPI 3.1 document from the operations, with what the gate adds: problems, access, headers. */
import type { TSchema } from "@sinclair/typebox";
import type { EventCatalogue } from "../core/events.ts";
import { keysOf } from "../core/typed-keys.ts";
import { eventSchemas } from "./openapi-events.ts";
import { nameSchemas, plainSchema, type Schema } from "./openapi-schemas.ts";
import type { Operation } from "./operation.ts";
import { ProblemSchema } from "./problem.ts";
import { strictBody } from "./strict-body.ts";

interface Message {
  description?: string;
  required?: boolean;
  content?: Record<string, { schema?: Schema }>;
}

/** An operation in the document's form. */
export interface DocumentedOperation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  description?: string;
  parameters?: Parameter[];
  responses: Record<string, unknown>;
  requestBody?: Message;
  [extension: `x-${string}`]: unknown;
}

/** The order in which operations name the schemas they take and answer. */
const METHODS = ["get", "post", "put", "patch", "delete"];

interface Parameter {
  name: string;
  in: "path" | "query";
  required: boolean;
  schema: Schema;
}

/** The problems that operations may answer by convention, by name: `#/components/responses/<name>`. */
const PROBLEMS = {
  Malformed: [400, "The request is malformed."],
  Unauthorized: [401, "The credential is missing or not valid."],
  Forbidden: [403, "The caller may not do this, or a page of another origin sent the request."],
  NotFound: [404, "Something that the path, the query or the body names does not exist or belongs to another user."],
  Conflict: [409, "The request conflicts with the current state."],
  Changed: [412, "The version in `If-Match` is no longer current."],
  TooLarge: [413, "The request is too large."],
  UnsupportedType: [415, "The operation does not accept this media type."],
  ForeignHost: [421, "The server does not answer to this host name."],
  Invalid: [422, "The request is well-formed, but a value is not valid."],
  TooMany: [429, "There were too many requests; `Retry-After` says how long to wait."],
  Unavailable: [503, "A required part of the server is down or not set up; `code` says which."],
  Other: ["default", "Any other problem."],
} as const;
type ProblemName = keyof typeof PROBLEMS;

const problemResponses = Object.fromEntries(
  Object.entries(PROBLEMS).map(([name, [, description]]) => [
    name,
    { description, content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } } },
  ]),
);

/**
 * @param prefix path below which a proxy serves this server: "" or "/skep".
 * @param events kinds of events of the event stream: a schema for each, and `Event` for any of them.
 */
export function openApiDocument(
  operations: readonly Operation[],
  { version, prefix, events }: { version: string; prefix: string; events: EventCatalogue },
): Record<string, unknown> {
  const paths: Record<string, Partial<Record<string, DocumentedOperation>>> = {};
  for (const operation of operations) {
    if (operation.hidden) continue;
    const path = operation.path.replace(/:([^/]+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation) };
  }
  const documented = Object.values(paths).flatMap((item) => METHODS.flatMap((method) => item[method] ?? []));
  return {
    openapi: "3.1.2",
    info: {
      title: "Skep",
      version,
      description: "A team of AI agents in one file.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: prefix || "/" }],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: { ...nameSchemas(documented), ...eventSchemas(events), Problem: plainSchema(ProblemSchema) },
      responses: problemResponses,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "Access token, API key, or the engine's token." },
      },
    },
  };
}

/** Problems that such an operation may answer: those of the gate, and those that features answer by convention. */
function problemsOf({ method, path, access }: Operation, hasBody: boolean): ProblemName[] {
  const changes = method !== "GET";
  const open = access === "public" && !changes;
  const ofOne = path.includes(":");
  const possible: Record<ProblemName, boolean> = {
    Malformed: true,
    Unauthorized: !open,
    Forbidden: !open,
    NotFound: ofOne || hasBody || !changes,
    Conflict: changes || ofOne,
    Changed: changes && (method === "PUT" || ofOne),
    TooLarge: changes,
    UnsupportedType: changes,
    ForeignHost: true,
    Invalid: true,
    TooMany: true,
    Unavailable: true,
    Other: true,
  };
  return keysOf(possible).filter((name) => possible[name]);
}

function describe(operation: Operation): DocumentedOperation {
  const { name, tag, summary, description, access, execution } = operation;
  const parameters = [...pathParameters(operation), ...queryParameters(operation)];
  const requestBody = requestBodyOf(operation);
  const responses = responsesOf(operation);
  for (const problem of problemsOf(operation, requestBody !== undefined))
    responses[PROBLEMS[problem][0]] ??= { $ref: `#/components/responses/${problem}` };
  return {
    tags: tag === undefined ? [] : [tag],
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses,
    operationId: name,
    ...(access === "public" ? { security: [] } : {}),
    "x-access": access,
    "x-execution": execution,
  };
}

function pathParameters({ path, params }: Operation): Parameter[] {
  const schemas: Record<string, TSchema> = params?.["properties"] ?? {};
  const names = params ? Object.keys(schemas) : [...path.matchAll(/:([^/]+)/g)].map(([, name = ""]) => name);
  return names.map((name) => ({
    name,
    in: "path",
    required: true,
    schema: plainSchema(schemas[name] ?? { type: "string" }),
  }));
}

function queryParameters({ query }: Operation): Parameter[] {
  const properties: Record<string, TSchema> = query?.["properties"] ?? {};
  const required: readonly string[] = query?.["required"] ?? [];
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema: plainSchema(schema),
  }));
}

function requestBodyOf(operation: Operation): Message | undefined {
  const { body, strict, documented } = operation;
  if (documented?.requestBody) return toPlain(documented.requestBody);
  if (!body) return undefined;
  const { description } = body;
  const described = description === undefined ? {} : { description };
  if (strict) return toPlain({ ...described, ...strictBody(body) });
  return toPlain({ ...described, content: contentOf(body, operation.upload ?? false), required: true });
}

function responsesOf({ answers, documented }: Operation): Record<string, unknown> {
  const described = Object.entries(answers).map(([status, schema]): [string, Message] => {
    const { description = `Response for status ${status}` } = schema;
    return [status, { description, ...(isEmpty(schema) ? {} : { content: { "application/json": { schema } } }) }];
  });
  // `documented` describes answers that have no schema.
  const others = described.length > 0 ? {} : (documented?.responses ?? {});
  return Object.fromEntries([...described, ...Object.entries(others)].map(([status, one]) => [status, toPlain(one)]));
}

const isEmpty = ({ type }: TSchema): boolean => type === "void" || type === "null";

/** Converts a message's schemas to the document's form. */
function toPlain(message: Message): Message {
  if (!message.content) return message;
  const content = Object.entries(message.content).map(([type, media]) => [
    type,
    media.schema ? { ...media, schema: plainSchema(media.schema) } : media,
  ]);
  return { ...message, content: Object.fromEntries(content) };
}

/** Media types of a body: JSON, and forms for operations that take files. */
function contentOf(body: TSchema, upload: boolean): Record<string, { schema: Schema }> {
  if (!upload) return { "application/json": { schema: body } };
  const { file, ...properties }: Record<string, unknown> = body["properties"] ?? {};
  const form = { "multipart/form-data": { schema: body } };
  // When the file is optional, the other members may also be sent as JSON.
  const required: readonly string[] = body["required"] ?? [];
  if (file === undefined || required.includes("file")) return form;
  return { ...form, "application/json": { schema: { ...body, properties } } };
}
