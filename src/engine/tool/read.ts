/** `read`: a text file, or a part of it, with line numbers. */
import { Type } from "@sinclair/typebox";
import { badRequest } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Masker } from "../../core/masking.ts";
import description from "./read.md" with { type: "text" };
import { assertText, fileTool, pathParameter } from "./tool-input.ts";

const MAX_LINES = 2_000;
const MAX_LINE_CHARACTERS = 2_000;

export const readTool = fileTool({
  name: "read",
  description,
  parameters: Type.Object({
    path: pathParameter("The file"),
    offset: Type.Optional(Type.Integer({ minimum: 1, description: "First line to read; the first line is 1." })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LINES, description: "How many lines to read." })),
  }),
  run: async ({ path, offset = 1, limit = MAX_LINES }, { sandbox, masker }) => {
    const data = await sandbox.workspace.read(path);
    assertText(path, data);
    if (data.length === 0) return { ok: true, output: `${path} is empty.` };
    const { lines, total } = await linesOf(data, offset, limit, masker);
    if (offset > total) throw badRequest(`${path} has ${total} lines; line ${offset} is past its end.`);
    return { ok: true, output: numberLines(lines, offset, total) };
  },
});

const NEWLINE = 10;
/** Bytes scanned before other work gets a turn. */
const BLOCK_BYTES = 1024 * 1024;

/**
 * The requested lines, masked and long ones cut, up to the size of one answer; and the total number of lines. One pass
 * over the bytes, in which only shown lines are decoded.
 */
async function linesOf(data: Uint8Array, offset: number, limit: number, masker: Masker) {
  const shown: string[] = [];
  let [total, start, room] = [0, 0, LIMITS.toolOutputBytes];
  for (let from = 0; from < data.length; from += BLOCK_BYTES) {
    const to = Math.min(data.length, from + BLOCK_BYTES);
    for (let at = from; at < to; at++) {
      if (data[at] !== NEWLINE) continue;
      total++;
      if (total >= offset && total < offset + limit && room > 0) {
        const line = lineText(data.subarray(start, at), masker);
        room -= Buffer.byteLength(line) + 1;
        shown.push(line);
      }
      start = at + 1;
    }
    if (to < data.length) await new Promise((next) => setImmediate(next));
  }
  if (start < data.length) {
    total++;
    if (total >= offset && total < offset + limit && room > 0) shown.push(lineText(data.subarray(start), masker));
  }
  // Masked again as a whole, because a secret may span several lines. Masking keeps line breaks, so the line numbers
  // stay right.
  return { lines: masker.text(shown.join("\n")).split("\n"), total };
}

function lineText(bytes: Uint8Array, masker: Masker): string {
  // A character has at most four bytes.
  const text = new TextDecoder().decode(bytes.subarray(0, MAX_LINE_CHARACTERS * 4));
  if (text.length <= MAX_LINE_CHARACTERS) return text;
  const cut = masker.part(text.slice(0, MAX_LINE_CHARACTERS), { after: true });
  return `${cut} [line cut, ${bytes.length} bytes]`;
}

/** As many whole lines as fit the output limit, and a note about the lines after them. */
function numberLines(lines: readonly string[], offset: number, total: number): string {
  const shown: string[] = [];
  let bytes = 0;
  for (const [index, line] of lines.entries()) {
    const row = `${offset + index}\t${line}`;
    bytes += Buffer.byteLength(row) + 1;
    // Leaves room for the note, which must not be cut off itself.
    if (bytes > LIMITS.toolOutputBytes - 200 && shown.length > 0) break;
    shown.push(row);
  }
  const next = offset + shown.length;
  if (next <= total) shown.push(`\n[lines ${offset}–${next - 1} of ${total}; continue with offset ${next}]`);
  return shown.join("\n");
}
