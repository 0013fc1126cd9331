/** `write`: writes a whole file. */
import { Type } from "@sinclair/typebox";
import { fileTool, formatCount, lineCount, pathParameter } from "./tool-input.ts";
import description from "./write.md" with { type: "text" };

export const writeTool = fileTool({
  name: "write",
  description,
  parameters: Type.Object({
    path: pathParameter("The file"),
    content: Type.String({ description: "The complete content of the file." }),
  }),
  run: async ({ path, content }, { sandbox }) => {
    const data = Buffer.from(content);
    await sandbox.workspace.write(path, data);
    const lines = content === "" ? 0 : lineCount(content) - (content.endsWith("\n") ? 1 : 0);
    return { ok: true, output: `Wrote ${path}: ${formatCount(lines, "line")}, ${formatCount(data.length, "byte")}.` };
  },
});
