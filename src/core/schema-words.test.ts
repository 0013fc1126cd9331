import { describe, expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import { acceptedWords, wrongWords } from "./schema-words.ts";

/** Schema of a number that may also arrive as text. */
const numeric = (bounds: { minimum?: number; maximum?: number }) =>
  t.Union([t.String({ format: "integer" }), t.Integer(bounds)], bounds);

describe("what a schema accepts", () => {
  const orNull = t.Union([t.Number({ minimum: 0, maximum: 2 }), t.Null()]);
  const words: [string, Parameters<typeof acceptedWords>[0]][] = [
    ["one of low, high or null", t.Union([t.Literal("low"), t.Literal("high"), t.Null()])],
    ["one of 1, 2", t.Union([t.Literal(1), t.Literal(2)])],
    ["a number from 0 to 2 or null", orNull],
    ["a number above 0 and at most 5", t.Number({ exclusiveMinimum: 0, maximum: 5 })],
    ["a whole number, at least 1", numeric({ minimum: 1 })],
    ["a whole number from 1 to 9 or null", t.Union([numeric({ minimum: 1, maximum: 9 }), t.Null()])],
    ["text of at most 64 characters, not empty", t.String({ minLength: 1, maxLength: 64 })],
    ["text: provider/model", t.String({ pattern: "/", description: "provider/model." })],
    ["text that is not empty, at most 100 characters", t.String({ minLength: 1, maxLength: 100, pattern: "\\S" })],
    [
      "small letters, digits and hyphens, at most 64, not a hyphen first",
      t.String({ maxLength: 64, pattern: "^[a-z0-9][a-z0-9-]{0,63}$" }),
    ],
    ["text of another form", t.String({ pattern: "^a$" })],
    ["an e-mail address", t.String({ pattern: "^[^\\s@<>\"']{1,64}@[^\\s@<>\"'.]+(\\.[^\\s@<>\"'.]+)*$" })],
    ["a time as in RFC 3339", t.String({ format: "date-time" })],
    ["a list of at most 3 entries", t.Array(t.String(), { maxItems: 3 })],
    [
      "a list of at most 2 entries, each one of a, b",
      t.Array(t.Union([t.Literal("a"), t.Literal("b")]), { maxItems: 2 }),
    ],
    ["true or false", t.Boolean()],
    ["an object or one of a, b", t.Union([t.Object({}), t.Union([t.Literal("a"), t.Literal("b")])])],
  ];
  for (const [said, schema] of words)
    test(`is said as "${said}"`, () => {
      const sortWords = (text: string) => text.split(" or ").sort();
      expect(sortWords(acceptedWords(schema))).toEqual(sortWords(said));
    });

  test("what is wrong is said without the value: missing, unknown, of another form", () => {
    expect(wrongWords({ schema: orNull, message: "Expected required property" })).toBe("is required");
    expect(wrongWords({ schema: orNull, message: "Unexpected property" })).toBe("is not known");
    expect(wrongWords({ schema: orNull, message: "Expected union value" })).toBe(
      "must be a number from 0 to 2 or null",
    );
  });
});
