/** An unusable schema is refused with its location; only cheap validation runs immediately. */
import { describe, expect, test } from "bun:test";
import { embedSchema, isCheap, schemaFaults, schemaProblems } from "./json-schema.ts";

const problem = (schema: unknown) => schemaProblems(schema).map(({ path, message }) => `${path.join("/")}: ${message}`);

describe("a schema", () => {
  test.each([
    [{ properties: { a: { pattern: "(" } } }, "properties/a/pattern: This is not a valid pattern"],
    [{ patternProperties: { "[": {} } }, "patternProperties: This is not a valid pattern"],
    [{ properties: { a: { pattern: "a".repeat(1_001) } } }, "a pattern has at most 1000 characters"],
    [{ items: { $ref: "#/$defs/none" } }, 'items/$ref: There is nothing at "#/$defs/none"'],
    [{ items: { $ref: "https://example.org/schema.json" } }, "items/$ref: There is nothing at"],
    [{ $dynamicRef: "#x" }, "$dynamicRef: This kind of reference is not supported"],
    [{ type: "text" }, "type: There is no such type"],
    [{ properties: { a: 1 } }, "properties/a: A schema is an object"],
    [{ properties: [] }, "properties: This must be an object of schemas"],
    [{ anyOf: {} }, "anyOf: This must be a list of schemas"],
    [{ required: "a" }, "required: This must be a list of names"],
    [{ enum: "a" }, "enum: This must be a list"],
    [{ maxItems: -1 }, "maxItems: This must be a whole number"],
    [{ minimum: "1" }, "minimum: This must be a number"],
    [{ uniqueItems: "yes" }, "uniqueItems: This must be true or false"],
    [null, ": A schema is an object"],
    [
      {
        allOf: [
          { $id: "x", type: "null" },
          { $id: "x", type: "string" },
        ],
      },
      "Duplicate schema URI",
    ],
  ])("%j is refused with its place and reason", (schema, expected) => {
    expect(problem(schema).join("\n").toLowerCase()).toContain(expected.toLowerCase());
  });

  test("that is deep or large without end is refused, and takes no longer than it is", () => {
    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 100_000; i++) deep = { items: deep };
    expect(problem(deep).join()).toContain("64 levels deep");
    const wide = { anyOf: Array.from({ length: 100_000 }, () => ({})) };
    expect(problem(wide).join()).toContain("at most 5000 parts");
    const wrong = { anyOf: Array.from({ length: 1_000 }, () => ({ type: "x" })) };
    expect(problem(wrong).length).toBeLessThanOrEqual(20);
  });

  test("that can be used has no problem: references inside, back to its top, by anchor", () => {
    const tree = {
      $defs: {
        node: { $anchor: "node", type: "object", properties: { below: { type: "array", items: { $ref: "#node" } } } },
      },
      type: ["object", "null"],
      properties: { top: { $ref: "#/$defs/node" }, self: { $ref: "#" }, flag: true },
      not: false,
    };
    expect(problem(tree)).toEqual([]);
    expect(schemaFaults(tree, { top: { below: [{ below: [] }] } })).toEqual([]);
    expect(schemaFaults(tree, { top: { below: [{ below: 1 }] } }).join()).toContain("/top/below/0/below");
  });

  test("as a part of another keeps its own references", () => {
    const inner = { $defs: { n: { type: "number" } }, type: "object", properties: { a: { $ref: "#/$defs/n" } } };
    const outer = { type: "object", properties: { outputs: embedSchema(inner, ["properties", "outputs"]) } };
    expect(schemaProblems(outer)).toEqual([]);
    expect(schemaFaults(outer, { outputs: { a: "x" } }).join()).toContain("/outputs/a");
    expect(schemaFaults(outer, { outputs: { a: 1 } })).toEqual([]);
  });
});

describe("what is cheap to check", () => {
  const object = (properties: Record<string, unknown>) => ({ type: "object", properties });
  test("is what costs one step for each part of a value of few parts", () => {
    expect(isCheap(object({ path: { type: "string", minLength: 1 } }), { path: "x".repeat(1_000_000) })).toBe(true);
    expect(isCheap(object({ kind: { anyOf: [{ const: "a" }, { const: "b" }] } }), { kind: "a" })).toBe(true);
  });
  test.each([
    ["a pattern", { pattern: "a" }],
    ["unique items", { uniqueItems: true }],
    ["a reference", { $ref: "#" }],
    ["a choice of schemas", { anyOf: [{ properties: {} }] }],
    ["a long list of values", { enum: Array.from({ length: 100 }, (_, i) => i) }],
    ["a format", { format: "email" }],
    ["a keyword that it does not know", { unheardOf: 1 }],
  ])("is not %s", (_what, schema) => {
    expect(isCheap(object({ a: schema }), {})).toBe(false);
  });
  test("is not a value of very many parts or characters", () => {
    expect(isCheap(object({}), { a: Array.from({ length: 100_000 }, () => 0) })).toBe(false);
    expect(isCheap(object({}), { a: "x".repeat(3_000_000) })).toBe(false);
    let deep: unknown = 1;
    for (let i = 0; i < 1_000_000; i++) deep = [deep];
    expect(isCheap(object({}), deep)).toBe(false);
  });
});
