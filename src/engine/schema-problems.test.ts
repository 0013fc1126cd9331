/** Problems of a value are described in fitting words. */
import { expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import { schemaProblems } from "./schema-problems.ts";

test("a field that is missing is said to be missing, also where one of several values is wanted", () => {
  const schema = t.Object({ kind: t.Union([t.Literal("a"), t.Literal("b")]) });
  const messages = (value: unknown) => schemaProblems(schema, value).map(({ path, message }) => [path, message]);
  expect(messages({})).toEqual([[["kind"], '"kind" is missing.']]);
  expect(messages({ kind: "c" })).toEqual([[["kind"], "This value is not allowed here. One of: a, b."]]);
  expect(messages({ kind: "b" })).toEqual([]);
});
