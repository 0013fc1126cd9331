/** `write`: a whole file. */
import { type Static, Type } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import type { Tool } from "../tool.ts";
import { counted, lineCount, pathParameter } from "./tool-input.ts";
import description from "./write.md" with { type: "text" };

const parameters = Type.Object({
  path: pathParameter("The file"),
  content: Type.String({ description: "The complete content of the file." }),
});

export function createWriteTool(): Tool<Static<typeof parameters>> {
  return {
    name: "write",
    group: "files",
    description,
    parameters,
    timeoutMs: LIMITS.toolTimeoutMs,
    run: async ({ path, content }, { sandbox }) => {
      const data = Buffer.from(content);
      await sandbox.workspace.write(path, data);
      const lines = content === "" ? 0 : lineCount(content) - (content.endsWith("\n") ? 1 : 0);
      return { ok: true, output: `Wrote ${path}: ${counted(lines, "line")}, ${counted(data.length, "byte")}.` };
    },
  };
}
