/** What the pipeline editor suggests, from the schema that the server returns. */
import { expect, test } from "bun:test";
import { pipelineJsonSchema } from "../../engine/pipeline/definition.ts";
import { keysOf, pathAt, type Schema, schemasAt, valuesOf } from "../../web/page/pipelines/complete.ts";

const TEXT = `id: shop
defaults:
  model: x
steps:
  - id: plan
    agent: engineer
    on_failure: retry
    route:
      on: verdict
      to:
        again: plan
  - id: ask
    approval:
      message: Continue?
inputs:
  place:
    required: true`.split("\n");

const schema = JSON.parse(JSON.stringify(pipelineJsonSchema())) as Schema;
const keysAt = (row: number, indent: number, item = false) =>
  keysOf(schemasAt(schema, pathAt(TEXT, row, indent, item))).map(({ label }) => label);

test("a place's path follows indentation, lists and items", () => {
  expect(pathAt(TEXT, 1, 0, false)).toEqual([]);
  expect(pathAt(TEXT, 3, 2, false)).toEqual(["defaults"]);
  expect(pathAt(TEXT, 5, 4, false)).toEqual(["steps", "[]"]);
  expect(pathAt(TEXT, 9, 6, false)).toEqual(["steps", "[]", "route"]);
  expect(pathAt(TEXT, 11, 4, true)).toEqual(["steps", "[]"]);
  expect(pathAt(TEXT, 14, 6, false)).toEqual(["steps", "[]", "approval"]);
  expect(pathAt(TEXT, 17, 4, false)).toEqual(["inputs", "place"]);
});

test("keys and values are those of the schema at that place", () => {
  expect(keysAt(1, 0)).toEqual(expect.arrayContaining(["id", "name", "steps", "inputs", "defaults"]));
  expect(keysAt(3, 2)).toContain("budget_usd");
  expect(keysAt(5, 4)).toEqual(expect.arrayContaining(["agent", "for_each", "run", "approval", "output_schema"]));
  expect(keysAt(11, 4, true)).toContain("needs");
  expect(keysAt(14, 6)).toEqual(expect.arrayContaining(["message", "timeout_seconds"]));
  expect(keysAt(17, 4)).toEqual(["description", "required", "default"]);
  const failure = valuesOf(schemasAt(schema, ["steps", "[]", "on_failure"])).map(({ label }) => label);
  expect([...new Set(failure)]).toEqual(["fail", "retry", "continue"]);
  expect(valuesOf(schemasAt(schema, ["inputs", "place", "required"])).map(({ label }) => label)).toEqual([
    "true",
    "false",
  ]);
});
