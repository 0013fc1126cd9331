/** The OpenAPI document of a running server: what it promises to generated clients. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv from "ajv/dist/2020.js";
import { FEATURES } from "../app/features.ts";
import { startServer, type TestServer } from "../testing/server.ts";
import { eventSchemaName } from "./openapi-events.ts";

interface Schema {
  properties?: Record<string, unknown>;
  [keyword: string]: unknown;
}
interface Content {
  content?: Record<string, { schema?: Schema }>;
}
interface Operation {
  operationId: string;
  summary?: string;
  tags?: string[];
  parameters?: { in: string; name: string; schema: Schema }[];
  requestBody?: Content;
  responses: Record<string, Content>;
}
interface Document {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

let document: Document;
let server: TestServer;
let operations: [name: string, path: string, operation: Operation][];
beforeAll(async () => {
  server = await startServer();
  const { body } = await server.request<Document>("GET", "/openapi.json");
  document = body;
  expect(body.openapi).toStartWith("3.1");
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
    const { schemas } = document.components;
    const kinds = FEATURES.events.map(({ kind }) => kind);
    expect(schemas["Event"]).toMatchObject({ discriminator: { propertyName: "kind" } });
    expect((schemas["Event"]!["oneOf"] as unknown[]).length).toBe(kinds.length);
    for (const { kind, schema } of FEATURES.events) {
      const properties = schemas[eventSchemaName(kind)]?.properties as Record<string, Schema>;
      expect(properties["kind"]).toMatchObject({ const: kind });
      expect(Object.keys(properties["data"]!.properties ?? {})).toEqual(Object.keys(schema.properties));
    }
  });

  test("what an event makes stale are answers that there are", () => {
    const reads = operations.filter(([name]) => name.startsWith("GET ")).map(([, path]) => path);
    const isThere = (stale: string) => reads.some((path) => path === stale || path.startsWith(`${stale}/`));
    const named = FEATURES.events.flatMap(({ kind, stale }) => stale.map((path) => `${kind}: ${path}`));
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((one) => !isThere(one.split(": ")[1]!))).toEqual([]);
  });

  test("it is valid OpenAPI, and every schema in it valid JSON Schema 2020-12", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document) as never);
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    const ajv = new Ajv({ strict: false });
    const bodies = operations.flatMap(([name, , { requestBody, responses }]) =>
      [requestBody, ...Object.values(responses)].flatMap((message) =>
        Object.values(message?.content ?? {}).map(({ schema }): [string, Schema | undefined] => [name, schema]),
      ),
    );
    const parameters = operations.flatMap(([name, , { parameters = [] }]) =>
      parameters.map(({ schema }): [string, Schema] => [name, schema]),
    );
    const schemas = [...Object.entries(document.components.schemas), ...bodies, ...parameters];
    expect(schemas.filter(([, schema]) => schema && !ajv.validateSchema(schema)).map(([name]) => name)).toEqual([]);
  });

  test("what may be null says so, also among a few words", () => {
    const lacking: string[] = [];
    const look = (name: string, schema: unknown): void => {
      if (typeof schema !== "object" || schema === null) return;
      const { type, enum: words } = schema as Record<string, unknown>;
      if (Array.isArray(type) && type.includes("null") && Array.isArray(words) && !words.includes(null))
        lacking.push(name);
      for (const inner of Object.values(schema)) look(name, inner);
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) look(name, schema);
    expect(lacking).toEqual([]);
  });

  test("every operation has a name of its own that a generator can make a function of", () => {
    const names = operations.map(([, , { operationId }]) => operationId);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect(names.filter((name) => !/^[a-z][A-Za-z0-9]*$/.test(name))).toEqual([]);
  });

  test("objects in bodies and answers are named schemas, and each reference leads to one", () => {
    const inline = (message: Content | undefined) =>
      Object.entries(message?.content ?? {}).some(([type, { schema }]) => type.endsWith("/json") && schema?.properties);
    expect(lacking(({ requestBody, responses }) => ![requestBody, ...Object.values(responses)].some(inline))).toEqual(
      [],
    );
    const references = JSON.stringify(document).match(/#\/components\/[^"]+/g) ?? [];
    const known = JSON.parse(JSON.stringify(document), (_, value) => value) as Record<string, never>;
    const leads = (reference: string) =>
      reference
        .slice(2)
        .split("/")
        .reduce<Record<string, never> | undefined>((at, key) => at?.[key], known);
    expect(references.filter((reference) => !leads(reference))).toEqual([]);
  });

  test("an answer without content has none, and the document names the path that a proxy shows it below", async () => {
    expect(lacking(({ responses }) => !responses["204"]?.content)).toEqual([]);
    expect(document.servers).toEqual([{ url: "/" }]);
    const below = await startServer({ env: { PUBLIC_URL: "https://tools.example.org/skep" } });
    try {
      const { body } = await below.request<Document>("GET", "/openapi.json");
      expect(body.servers).toEqual([{ url: "/skep" }]);
    } finally {
      await below.remove();
    }
  });
});
