/** The document over the running server: what it owes to whoever builds a client from it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { EVENTS } from "../app/events.ts";
import { startServer, type TestServer } from "../testing/server.ts";
import { eventSchemaName } from "./openapi.ts";

interface Schema {
  properties?: Record<string, unknown>;
  [keyword: string]: unknown;
}
interface Content {
  content?: Record<string, { schema?: Schema }>;
}
interface Operation {
  summary?: string;
  tags?: string[];
  parameters?: { in: string; name: string }[];
  requestBody?: Content;
  responses: Record<string, Content>;
}
type Document = {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

let server: TestServer;
let schemas: Document["components"]["schemas"];
let operations: [name: string, path: string, operation: Operation][];
beforeAll(async () => {
  server = await startServer();
  const { body } = await server.request<Document>("GET", "/openapi.json");
  expect(body.openapi).toStartWith("3.1");
  schemas = body.components.schemas;
  operations = Object.entries(body.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      path,
      operation,
    ]),
  );
  expect(operations.length).toBeGreaterThan(90);
});
afterAll(() => server.remove());

const lacking = (has: (operation: Operation, path: string) => boolean): string[] =>
  operations.filter(([, path, operation]) => !has(operation, path)).map(([name]) => name);

describe("the OpenAPI document", () => {
  test("every operation has a summary, a tag, its path's parameters and an answer", () => {
    expect(lacking(({ summary, tags }) => Boolean(summary) && (tags?.length ?? 0) > 0)).toEqual([]);
    expect(
      lacking(({ parameters = [] }, path) =>
        [...path.matchAll(/\{(\w+)\}/g)].every(([, name]) =>
          parameters.some((one) => one.in === "path" && one.name === name),
        ),
      ),
    ).toEqual([]);
    expect(lacking(({ responses }) => Object.keys(responses).some((status) => /^[23]/.test(status)))).toEqual([]);
  });

  test("a body that is taken is described, as what it is", () => {
    expect(
      lacking(({ requestBody }) => {
        if (!requestBody) return true;
        const types = Object.entries(requestBody.content ?? {});
        return types.length > 0 && types.every(([, { schema }]) => Object.keys(schema ?? {}).length > 0);
      }),
    ).toEqual([]);
  });

  test("every kind of event has its schema, and `Event` is any of them", () => {
    const kinds = EVENTS.map(({ kind }) => kind);
    expect(schemas["Event"]).toMatchObject({ discriminator: { propertyName: "kind" } });
    expect((schemas["Event"]!["oneOf"] as unknown[]).length).toBe(kinds.length);
    for (const { kind, schema } of EVENTS) {
      const properties = schemas[eventSchemaName(kind)]?.properties as Record<string, Schema>;
      expect(properties["kind"]).toMatchObject({ const: kind });
      expect(Object.keys(properties["data"]!.properties ?? {})).toEqual(Object.keys(schema.properties));
    }
  });
});
