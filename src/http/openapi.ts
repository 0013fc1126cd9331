/** The OpenAPI 3.1 document, made from the routes themselves, with what the gate adds: problems, access, headers. */
import { toOpenAPISchema } from "@elysiajs/openapi";
import type { AnyElysia } from "elysia";
import type { EventCatalogue } from "../core/events.ts";
import { ProblemSchema } from "./problem.ts";
import type { RouteEntry, RouteTable } from "./route-table.ts";

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  responses?: Record<string, unknown>;
  requestBody?: { content?: Record<string, unknown> };
  [extension: `x-${string}`]: unknown;
}

const METHODS = ["get", "post", "put", "patch", "delete"] as const;
const problem = (description: string) => ({
  description,
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
});

/** @param events what the event stream sends: a schema each, and `Event` for any of them. */
export function openApiDocument(
  app: AnyElysia,
  table: RouteTable,
  version: string,
  events: EventCatalogue,
): Record<string, unknown> {
  const made = toOpenAPISchema(app, undefined, undefined, undefined, "3.1.2");
  const paths = made.paths as Record<string, Record<string, Operation>>;
  for (const [path, item] of Object.entries(paths))
    for (const method of METHODS) {
      const operation = item[method];
      if (operation) describe(operation, table, method, path);
    }
  const { $id: _id, ...problemSchema } = ProblemSchema;
  return {
    openapi: "3.1.2",
    info: {
      title: "Skep",
      version,
      description: "A team of AI agents in one file.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: { ...made.components.schemas, ...eventSchemas(events), Problem: problemSchema },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An access token, an API key, or the engine's token." },
      },
    },
  };
}

const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
/** `run_created` → `RunCreatedEvent`. */
export const eventSchemaName = (kind: string): string =>
  `${kind.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

function eventSchemas({ definitions }: EventCatalogue): Record<string, unknown> {
  const ref = { type: "string" };
  const envelope = {
    id: { type: "integer", description: "Position in the log: strictly growing." },
    at: { type: "string", format: "date-time" },
    ...{ run_id: ref, step_id: ref, session_id: ref, agent_id: ref, swarm_id: ref, project_id: ref },
  };
  const single = definitions.map(({ kind, schema }) => {
    const properties = { kind: { const: kind, type: "string" }, ...envelope, data: schema };
    const { description } = schema;
    return [eventSchemaName(kind), { type: "object", description, required: ["id", "kind", "at", "data"], properties }];
  });
  const names = definitions.map(({ kind }) => [kind, schemaRef(eventSchemaName(kind)).$ref]);
  const Event = {
    description: "What a frame of the event stream carries.",
    oneOf: names.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: "kind", mapping: Object.fromEntries(names) },
  };
  return { ...Object.fromEntries(single), Event };
}

/** Answers that any operation of that kind may give: the gate's own, and what features answer by the conventions. */
function problemsOf(route: RouteEntry | undefined, method: string, path: string, hasBody: boolean) {
  const changes = method !== "get";
  const open = route?.access === "public";
  const named = path.includes("{") || hasBody || method === "get";
  return {
    400: "Malformed.",
    401: open && !changes ? undefined : "No credential, or a bad one.",
    403: open && !changes ? undefined : "Not allowed, or asked for by a foreign page.",
    404: named ? "Unknown, or another user's: what the path, the query or the body names." : undefined,
    409: changes || path.includes("{") ? "In conflict with the present state." : undefined,
    412: changes && (method === "put" || path.includes("{")) ? "If-Match no longer holds." : undefined,
    413: changes ? "Too large." : undefined,
    415: changes ? "Of a type that this operation does not take." : undefined,
    421: "This server does not answer to that name.",
    422: "Not valid.",
    429: "Too many requests; Retry-After says how long to wait.",
    503: "A part that is needed is down or not set up; `code` says which.",
    default: "Any other problem.",
  };
}

function describe(operation: Operation, table: RouteTable, method: string, path: string): void {
  const route = table.find(method.toUpperCase(), path.replace(/\{([^}]+)\}/g, "x"));
  if (operation.requestBody && route?.body) operation.requestBody.content = contentOf(route);
  operation.responses ??= {};
  const responses = operation.responses as Record<string, unknown>;
  if (route?.access === "public") operation.security = [];
  operation["x-access"] = route?.access ?? "none";
  operation["x-execution"] = route?.execution ?? false;
  const problems = problemsOf(route, method, path, operation.requestBody !== undefined);
  for (const [status, description] of Object.entries(problems))
    if (description !== undefined) responses[status] ??= problem(description);
}

/** The generator gives up on bodies where there is a parser of our own; the gate lets in JSON, and forms where files go. */
function contentOf({ body, uploads }: RouteEntry): Record<string, unknown> {
  return { [uploads ? "multipart/form-data" : "application/json"]: { schema: body } };
}
