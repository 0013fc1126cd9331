/** The OpenAPI 3.1 document, made from the routes themselves, with what the gate adds: problems, access, headers. */
import { toOpenAPISchema } from "@elysiajs/openapi";
import type { AnyElysia } from "elysia";
import { ProblemSchema } from "./problem.ts";
import type { RouteTable } from "./route-table.ts";

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  responses?: Record<string, unknown>;
  requestBody?: unknown;
  [extension: `x-${string}`]: unknown;
}

const METHODS = ["get", "post", "put", "patch", "delete"] as const;
const problem = (description: string) => ({
  description,
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
});

/** @param serverUrl address under which the API is reached. */
export function openApiDocument(app: AnyElysia, table: RouteTable, version: string): Record<string, unknown> {
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
      schemas: { ...made.components.schemas, Problem: problemSchema },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An access token, an API key, or the engine's token." },
      },
    },
  };
}

function describe(operation: Operation, table: RouteTable, method: string, path: string): void {
  const route = table.find(method.toUpperCase(), path.replace(/\{([^}]+)\}/g, "x"));
  operation.responses ??= {};
  const responses = operation.responses as Record<string, unknown>;
  if (route?.access === "public") operation.security = [];
  else {
    responses["401"] ??= problem("No credential, or a bad one.");
    responses["403"] ??= problem("Not allowed.");
  }
  operation["x-access"] = route?.access ?? "none";
  operation["x-execution"] = route?.execution ?? false;
  if (path.includes("{")) responses["404"] ??= problem("Unknown, or another user's.");
  if (method !== "get") responses["409"] ??= problem("In conflict with the present state.");
  if (operation.requestBody) {
    responses["413"] ??= problem("Too large.");
    responses["415"] ??= problem("Of a type that this operation does not take.");
  }
  responses["400"] ??= problem("Malformed.");
  responses["422"] ??= problem("Not valid.");
  responses["default"] ??= problem("Any other problem.");
}
