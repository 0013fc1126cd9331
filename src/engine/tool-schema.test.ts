import { expect, test } from "bun:test";
import { slimSchema } from "./tool-schema.ts";

test("what only the check needs is left out of what a model is shown; names and values stay", () => {
  const schema = {
    type: "object",
    additionalProperties: false,
    required: ["pattern"],
    properties: {
      pattern: { type: "string", minLength: 1, maxLength: 9, pattern: "^a", description: "What to look for." },
      title: { type: "string", title: "Title" },
      kind: {
        anyOf: [
          { const: "a", type: "string" },
          { const: "b", type: "string" },
        ],
        description: "Which.",
      },
      list: {
        type: "array",
        maxItems: 3,
        items: { type: "object", properties: { minLength: { type: "integer", minimum: 1 } } },
      },
      one: { default: { maxLength: 3 } },
    },
  };
  expect(slimSchema(schema)).toEqual({
    type: "object",
    required: ["pattern"],
    properties: {
      pattern: { type: "string", description: "What to look for." },
      title: { type: "string" },
      kind: { enum: ["a", "b"], description: "Which." },
      list: { type: "array", items: { type: "object", properties: { minLength: { type: "integer" } } } },
      one: { default: { maxLength: 3 } },
    },
  });
});
