/** Numbers in the queries of all operations: one format, the same bounds, and refusals that name the parameter. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { formOf } from "../core/text-forms.ts";
import { openTestApp } from "../testing/app.ts";
import { startServer, type TestServer } from "../testing/server.ts";

setDefaultTimeout(300_000);

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: { type?: string; minimum?: number; maximum?: number; description?: string };
}
interface Document {
  paths: Record<string, Record<string, { parameters?: Parameter[] }>>;
}

let server: TestServer;
let document: Document;
beforeAll(async () => {
  server = await startServer();
  document = (await server.request<Document>("GET", "/openapi.json")).body;
});
afterAll(() => server.remove());

/** Every operation with numbers in its query, and its address with a value for each other required parameter. */
const numbers = () =>
  Object.entries(document.paths).flatMap(([path, { get }]) => {
    const query = (get?.parameters ?? []).filter((one) => one.in === "query");
    const others = query.filter(({ required }) => required).map(({ name }) => `${name}=a&`);
    const address = `${path.replace(/\{\w+\}/g, "abc")}?${others.join("")}`;
    return query.filter(({ schema }) => schema.type === "integer").map((member) => ({ address, ...member }));
  });

describe("a number in a query", () => {
  test("that is out of range or none is refused by its own name, in every list", async () => {
    const all = numbers();
    expect(all.length).toBeGreaterThan(70);
    for (const { address, name, schema } of all)
      for (const wrong of [String((schema.minimum ?? 0) - 1), "many", "1.5", ""]) {
        const { status, body } = await server.request<{ detail: string; errors?: { pointer: string }[] }>(
          "GET",
          `${address}${name}=${wrong}`,
        );
        const said = [address, name, wrong, status, body.detail];
        // Some of these addresses name objects that do not exist, and that may be reported first.
        if (status === 404 || (status === 422 && body.errors?.[0]?.pointer !== name && !/property/.test(body.detail)))
          continue;
        expect(said).toEqual([
          address,
          name,
          wrong,
          422,
          expect.stringMatching(new RegExp(`^${name} must be a whole`)),
        ]);
      }
  });

  test("that says how many is never too large: more than the most counts as the most", async () => {
    for (const { address, name, schema } of numbers().filter((one) => one.name === "limit")) {
      expect([address, schema.maximum]).toEqual([address, undefined]);
      const { status, body } = await server.request<{ detail: string }>("GET", `${address}${name}=100000`);
      expect([address, status === 422 && body.detail.includes("limit")]).toEqual([address, false]);
    }
  });
});

test("whatever a query takes may arrive as text", async () => {
  const app = await openTestApp();
  try {
    const found = app.table.entries.flatMap(({ name, query }) =>
      Object.entries<TSchema>(query?.["properties"] ?? {})
        .filter(([, { type }]) => type !== "string" && type !== undefined)
        .map(([member, { type }]) => `${name} ${member}: ${type}. Use queryInteger or queryBoolean.`),
    );
    expect(found).toEqual([]);
  } finally {
    await app.remove();
  }
});

test("every pattern that a request may break is said in words, never as an expression", () => {
  const found = new Map<string, string>();
  const walk = (value: unknown, at: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { pattern, type, description } = value as { pattern?: unknown; type?: unknown; description?: unknown };
    if (typeof pattern === "string" && type === "string" && !description && !formOf(pattern)) found.set(pattern, at);
    for (const [key, one] of Object.entries(value)) walk(one, `${at}/${key}`);
  };
  walk(document, "");
  expect([...found]).toEqual([]);
});
