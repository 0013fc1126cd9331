/** `fail`: the agent says that it cannot do its work, and why. */
import { Type as t } from "@sinclair/typebox";
import { defineTool } from "../tool.ts";
import description from "./fail.md" with { type: "text" };

export const failTool = defineTool({
  name: "fail",
  group: "end",
  description,
  parameters: t.Object({
    reason: t.String({ minLength: 1, maxLength: 20_000, description: "What stands in the way." }),
  }),
  timeoutMs: 10_000,
  async run({ reason }) {
    return { ok: true, output: "Noted.", end: { status: "failed", reason } };
  },
});
