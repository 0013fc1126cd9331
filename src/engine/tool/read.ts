/** `read`: a text file, or a part of it, with line numbers. */
import { type Static, Type } from "@sinclair/typebox";
import { badRequest } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Tool } from "../tool.ts";
import description from "./read.md" with { type: "text" };
import { pathParameter, textOf } from "./tool-input.ts";

const MAX_LINES = 2_000;
const MAX_LINE_CHARACTERS = 2_000;

const parameters = Type.Object({
  path: pathParameter("The file"),
  offset: Type.Optional(Type.Integer({ minimum: 1, description: "First line to read; the first line is 1." })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LINES, description: "How many lines to read." })),
});

export function createReadTool(): Tool<Static<typeof parameters>> {
  return {
    name: "read",
    group: "files",
    description,
    parameters,
    timeoutMs: LIMITS.toolTimeoutMs,
    run: async ({ path, offset = 1, limit = MAX_LINES }, { sandbox }) => {
      const text = textOf(path, await sandbox.readFile(path));
      if (text === "") return { ok: true, output: `${path} is empty.` };
      const lines = text.split("\n");
      if (lines.at(-1) === "") lines.pop();
      if (offset > lines.length) throw badRequest(`${path} has ${lines.length} lines; line ${offset} is past its end.`);
      return { ok: true, output: numbered(lines, offset, limit) };
    },
  };
}

/** As many whole lines as fit the output limit, and what comes after them. */
function numbered(lines: readonly string[], offset: number, limit: number): string {
  const shown: string[] = [];
  let bytes = 0;
  for (const [index, line] of lines.slice(offset - 1, offset - 1 + limit).entries()) {
    const cut = line.length > MAX_LINE_CHARACTERS;
    const row = `${offset + index}\t${cut ? `${line.slice(0, MAX_LINE_CHARACTERS)} [line cut, ${line.length} characters]` : line}`;
    bytes += Buffer.byteLength(row) + 1;
    // Room for the last line, which must not be cut off itself.
    if (bytes > LIMITS.toolOutputBytes - 200 && shown.length > 0) break;
    shown.push(row);
  }
  const next = offset + shown.length;
  if (next <= lines.length) shown.push(`\n[lines ${offset}–${next - 1} of ${lines.length}; go on with offset ${next}]`);
  return shown.join("\n");
}
