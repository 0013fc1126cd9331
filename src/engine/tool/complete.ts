/**
 * `complete`: the agent says that it is done and gives its outputs. The loop checks them against the step's contract.
 */
import { Type as t } from "@sinclair/typebox";
import { embedSchema } from "../../core/json-schema.ts";
import type { Contract } from "../execution.ts";
import { defineTool, type Tool } from "../tool.ts";
import description from "./complete.md" with { type: "text" };

const PARAMETERS = t.Object({
  outputs: t.Optional(t.Record(t.String(), t.Unknown(), { description: "Output name → value." })),
  summary: t.String({ minLength: 1, maxLength: 20_000, description: "What was done, in a few sentences." }),
});

export const completeTool = defineTool({
  name: "complete",
  group: "end",
  description,
  parameters: PARAMETERS,
  timeoutMs: 10_000,
  async run({ outputs = {}, summary }) {
    return { ok: true, output: "Done.", end: { status: "succeeded", outputs, summary } };
  },
});

/** The `complete` tool for this execution, with the outputs that it must give in the tool's schema. */
export function addOutputs(tool: Tool, { outputs, schema }: Contract): Tool {
  if (outputs.length === 0 && schema === null) return tool;
  const named = Object.fromEntries(
    outputs.map((name) => [name, t.Unknown({ description: "An output of this step." })]),
  );
  const owed =
    schema === null
      ? t.Object(named, { additionalProperties: true })
      : t.Unsafe<Record<string, unknown>>({
          ...embedSchema(schema, ["properties", "outputs"]),
          required: [...new Set([...listRequired(schema), ...outputs])],
        });
  // The loop checks the outputs themselves against the step's own schema.
  return { ...tool, parameters: t.Object({ ...PARAMETERS.properties, outputs: owed }), accepts: PARAMETERS };
}

const listRequired = (schema: Record<string, unknown>): string[] =>
  Array.isArray(schema["required"])
    ? schema["required"].filter((name): name is string => typeof name === "string")
    : [];
