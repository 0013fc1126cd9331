/** `complete`: the agent says that it is done and hands over its outputs. The loop holds them to the step's contract. */
import { Type as t } from "@sinclair/typebox";
import type { Tool } from "../tool.ts";
import description from "./complete.md" with { type: "text" };

export interface CompleteInput {
  outputs?: Record<string, unknown>;
  summary: string;
}

export function createCompleteTool(): Tool<CompleteInput> {
  return {
    name: "complete",
    group: "end",
    description,
    parameters: t.Object({
      outputs: t.Optional(t.Record(t.String(), t.Unknown(), { description: "Output name → value." })),
      summary: t.String({ minLength: 1, maxLength: 20_000, description: "What was done, in a few sentences." }),
    }),
    timeoutMs: 10_000,
    async run({ outputs = {}, summary }) {
      return { ok: true, output: "Done.", end: { status: "succeeded", outputs, summary } };
    },
  };
}
