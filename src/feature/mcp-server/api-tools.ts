/** Makes tools from the API's own document: each tool's parameters, and the request that its arguments become. */

import { invalid } from "../../core/errors.ts";
import { membersOf, textIn } from "../../core/is-object.ts";
import type { InnerRequest } from "../../http/inner-call.ts";
import type { Operation } from "./operations.ts";

type Json = Record<string, unknown>;

export type ApiTool = ReturnType<typeof toolOf>;

interface Found {
  method: string;
  path: string;
  parameters: { name: string; in: "path" | "query"; required?: boolean; schema: Json; description?: string }[];
  body: Json | undefined;
}

/** @throws Error when the document lacks one of these operations: the table of operations is out of date then. */
export function apiTools(document: Json, operations: readonly Operation[]): ApiTool[] {
  const schemas = membersOf(membersOf(document["components"])["schemas"]);
  const found = operationsOf(document, schemas);
  return operations.map((operation) => {
    const one = found.get(operation.operationId);
    if (!one) throw new Error(`The API has no operation ${operation.operationId}.`);
    return toolOf(operation, one, schemas);
  });
}

function operationsOf(document: Json, schemas: Json): Map<string, Found> {
  const found = new Map<string, Found>();
  for (const [path, methods] of Object.entries(membersOf(document["paths"])))
    for (const [method, one] of Object.entries(membersOf(methods))) {
      const operationId = textIn(one, "operationId");
      if (!operationId) continue;
      const { parameters, requestBody } = membersOf(one);
      const { schema } = membersOf(membersOf(membersOf(requestBody)["content"])["application/json"]);
      const body = schema === undefined ? undefined : membersOf(inline(schema, schemas));
      found.set(operationId, { method: method.toUpperCase(), path, parameters: listIn(parameters), body });
    }
  return found;
}

/** A list in the document. This program wrote the document, so the items' type is trusted. */
const listIn = <T>(value: unknown): T[] => (Array.isArray(value) ? value : []);

const DEPTH = 12;

/**
 * Replaces references to the document's schemas by the schemas themselves, because a tool's schema must stand alone.
 */
function inline(value: unknown, schemas: Json, depth = 0): unknown {
  if (typeof value !== "object" || value === null || depth > DEPTH) return value;
  if (Array.isArray(value)) return value.map((one) => inline(one, schemas, depth + 1));
  const { $ref } = membersOf(value);
  const name = typeof $ref === "string" ? $ref.replace("#/components/schemas/", "") : undefined;
  if (name !== undefined) return inline(schemas[name] ?? {}, schemas, depth + 1);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inline(one, schemas, depth + 1)]));
}

function toolOf(operation: Operation, { method, path, parameters, body }: Found, schemas: Json) {
  const { names = {}, without = [] } = operation;
  const nameOf = (parameter: string) => names[parameter] ?? parameter;
  const kept = parameters.filter(
    ({ in: where, name }) => where === "path" || (where === "query" && !without.includes(name)),
  );
  const members = Object.entries(membersOf(body?.["properties"])).filter(([name]) => !without.includes(name));
  const properties = Object.fromEntries([
    ...kept.map(({ name, schema, description }) => [
      nameOf(name),
      { ...(description === undefined ? {} : { description }), ...membersOf(inline(schema, schemas)) },
    ]),
    ...members,
  ]);
  const required = [
    ...kept.filter((one) => one.required).map(({ name }) => nameOf(name)),
    ...listIn<string>(body?.["required"]),
  ];
  return {
    operation,
    isReading: method === "GET",
    inputSchema: { type: "object", properties, required, additionalProperties: false },
    /** @throws Problem 422 for unknown or missing arguments. */
    request(args: Json): InnerRequest {
      const unknown = Object.keys(args).find((name) => !Object.hasOwn(properties, name));
      if (unknown !== undefined) throw invalid(`There is no argument ${unknown.slice(0, 64)}.`);
      const missing = required.find((name) => args[name] === undefined);
      if (missing !== undefined) throw invalid(`The argument ${missing} is missing.`);
      let filled = path;
      const query = new URLSearchParams();
      for (const { name, in: where } of kept) {
        const value = args[nameOf(name)];
        if (value === undefined || value === null) continue;
        if (typeof value === "object") throw invalid(`The argument ${nameOf(name)} is not a text or a number.`);
        if (where === "path" && (value === "." || value === ".."))
          throw invalid(`The argument ${nameOf(name)} is not an id.`);
        if (where === "query") query.set(name, String(value));
        else filled = filled.replace(`{${name}}`, encodeURIComponent(String(value)));
      }
      const content = Object.fromEntries(
        members.flatMap(([name]) => (args[name] === undefined ? [] : [[name, args[name]]])),
      );
      return { method, path: filled, query, ...(body === undefined ? {} : { body: content }) };
    },
  };
}
