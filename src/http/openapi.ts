/** The OpenAPI 3.1 document, made from the routes themselves, with what the gate adds: problems, access, headers. */

import { toOpenAPISchema } from "@elysiajs/openapi";
import type { AnyElysia } from "elysia";
import type { EventCatalogue } from "../core/events.ts";
import { keysOf } from "../core/typed-keys.ts";
import { eventSchemas } from "./openapi-events.ts";
import { nameSchemas, plainSchema, type Schema } from "./openapi-schemas.ts";
import { ProblemSchema } from "./problem.ts";
import type { RouteEntry, RouteTable } from "./route-table.ts";

interface Message {
  content?: Record<string, { schema?: Schema }>;
}

export interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: { schema: Schema }[];
  responses?: Record<string, unknown>;
  requestBody?: Message;
  [extension: `x-${string}`]: unknown;
}

const METHODS = ["get", "post", "put", "patch", "delete"] as const;
/** What any operation of a kind may answer by the conventions, by name: `#/components/responses/<name>`. */
const PROBLEMS = {
  Malformed: [400, "Malformed."],
  Unauthorized: [401, "No credential, or a bad one."],
  Forbidden: [403, "Not allowed, or asked for by a foreign page."],
  NotFound: [404, "Unknown, or another user's: what the path, the query or the body names."],
  Conflict: [409, "In conflict with the present state."],
  Changed: [412, "If-Match no longer holds."],
  TooLarge: [413, "Too large."],
  UnsupportedType: [415, "Of a type that this operation does not take."],
  ForeignHost: [421, "This server does not answer to that name."],
  Invalid: [422, "Not valid."],
  TooMany: [429, "Too many requests; Retry-After says how long to wait."],
  Unavailable: [503, "A part that is needed is down or not set up; `code` says which."],
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
 * @param prefix path below which a proxy shows this server: "" or "/skep".
 * @param events what the event stream sends: a schema each, and `Event` for any of them.
 */
export function openApiDocument(
  app: AnyElysia,
  table: RouteTable,
  { version, prefix, events }: { version: string; prefix: string; events: EventCatalogue },
): Record<string, unknown> {
  const made = toOpenAPISchema(app, { staticFile: false }, undefined, undefined, "3.1.2");
  const paths = made.paths as Record<string, Record<string, Operation>>;
  const operations: Operation[] = [];
  for (const [path, item] of Object.entries(paths))
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      describe(operation, table, method, path);
      operations.push(operation);
    }
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
      schemas: { ...nameSchemas(operations), ...eventSchemas(events), Problem: plainSchema(ProblemSchema) },
      responses: problemResponses,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An access token, an API key, or the engine's token." },
      },
    },
  };
}

/** Answers that an operation of this kind may give: the gate's own, and what features answer by the conventions. */
function problemsOf(route: RouteEntry | undefined, method: string, path: string, hasBody: boolean): ProblemName[] {
  const changes = method !== "get";
  const open = route?.access === "public" && !changes;
  const ofOne = path.includes("{");
  const possible: Record<ProblemName, boolean> = {
    Malformed: true,
    Unauthorized: !open,
    Forbidden: !open,
    NotFound: ofOne || hasBody || !changes,
    Conflict: changes || ofOne,
    Changed: changes && (method === "put" || ofOne),
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

function describe(operation: Operation, table: RouteTable, method: string, path: string): void {
  const route = table.find(method.toUpperCase(), path.replace(/\{[^{}]+\}/g, "x"));
  operation.responses ??= {};
  const { responses } = operation;
  if (operation.requestBody && route?.body) operation.requestBody.content = contentOf(route);
  for (const message of [operation.requestBody, ...Object.values(responses)]) cleanContent(message as Message);
  for (const parameter of operation.parameters ?? []) parameter.schema = plainSchema(parameter.schema);
  if (route) operation.operationId = route.name;
  if (route?.access === "public") operation.security = [];
  operation["x-access"] = route?.access ?? "none";
  operation["x-execution"] = route?.execution ?? false;
  for (const name of problemsOf(route, method, path, operation.requestBody !== undefined))
    responses[PROBLEMS[name][0]] ??= { $ref: `#/components/responses/${name}` };
}

/** The framework writes the schema of an empty answer where its content would be. */
function cleanContent(message: Message | undefined): void {
  if (!message?.content) return;
  if (Object.values(message.content).some((media) => typeof media !== "object")) delete message.content;
  for (const media of Object.values(message.content ?? {})) if (media.schema) media.schema = plainSchema(media.schema);
}

/** The generator gives up on bodies where there is a parser of our own; the gate lets in JSON, and forms where files go. */
function contentOf({ body, upload }: RouteEntry): Record<string, { schema: Schema }> {
  if (!upload) return { "application/json": { schema: body as Schema } };
  const { file, ...fields }: Record<string, unknown> = body?.["properties"] ?? {};
  const form = { "multipart/form-data": { schema: body as Schema } };
  // Where the file is optional, the text can take its place.
  const isMust = ((body as { required?: string[] }).required ?? []).includes("file");
  return file === undefined || isMust
    ? form
    : { ...form, "application/json": { schema: { ...(body as Schema), properties: fields } } };
}
