/** `edit`: exact replacements in one file, all or none. */
import { type Static, Type } from "@sinclair/typebox";
import { invalidField, type Problem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Tool } from "../tool.ts";
import description from "./edit.md" with { type: "text" };
import { counted, editableTextOf, hasBom, pathParameter } from "./tool-input.ts";

const change = Type.Object({
  old_text: Type.String({ minLength: 1, description: "The text to replace, exactly as it stands in the file." }),
  new_text: Type.String({ description: "What to put in its place." }),
  replace_all: Type.Optional(Type.Boolean({ description: "Replace every occurrence; by default there must be one." })),
});

const parameters = Type.Object({
  path: pathParameter("The file"),
  edits: Type.Array(change, { minItems: 1, maxItems: 100, description: "The changes, in order." }),
});

type Change = Static<typeof change>;

export function createEditTool(): Tool<Static<typeof parameters>> {
  return {
    name: "edit",
    group: "files",
    description,
    parameters,
    timeoutMs: LIMITS.toolTimeoutMs,
    run: async ({ path, edits }, { sandbox }) => {
      const data = await sandbox.workspace.read(path);
      const before = editableTextOf(path, data);
      let text = before;
      let replaced = 0;
      for (const [index, edit] of edits.entries()) {
        const result = applyEdit(text, edit, index);
        text = result.text;
        replaced += result.count;
      }
      if (text === before) return { ok: true, output: `${path} is unchanged: the new text is the old.` };
      await sandbox.workspace.write(path, Buffer.from((hasBom(data) ? "\uFEFF" : "") + text));
      return {
        ok: true,
        output: `Edited ${path}: ${counted(replaced, "replacement")}, first at line ${firstDifference(before, text)}.`,
      };
    },
  };
}

function applyEdit(text: string, edit: Change, index: number): { text: string; count: number } {
  // Models write line feeds; a file of the other kind is matched, and kept so.
  const crlf = text.includes("\r\n") && !edit.old_text.includes("\r");
  const old = crlf ? edit.old_text.replaceAll("\n", "\r\n") : edit.old_text;
  const next = crlf ? edit.new_text.replaceAll(/\r?\n/g, "\r\n") : edit.new_text;
  const places = occurrences(text, old);
  if (places.length === 0) throw notFoundProblem(text, edit, index);
  if (places.length > 1 && !edit.replace_all) throw severalProblem(text, places, index);
  return { text: text.split(old).join(next), count: places.length };
}

function occurrences(text: string, piece: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + piece.length)) places.push(at);
  return places;
}

const lineAt = (text: string, at: number) => text.slice(0, at).split("\n").length;

function firstDifference(before: string, after: string): number {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  return lineAt(before, at);
}

const MAX_NAMED_LINES = 10;

function severalProblem(text: string, places: readonly number[], index: number): Problem {
  const lines = places.slice(0, MAX_NAMED_LINES).map((at) => lineAt(text, at));
  const more = places.length > lines.length ? ", …" : "";
  return invalidField(
    `/edits/${index}/old_text`,
    `Edit ${index + 1}: old_text stands in the file ${places.length} times (lines ${lines.join(", ")}${more}). Take in more text around it, or set replace_all. Nothing was changed.`,
  );
}

/** Says whether it is only white space that differs, and where. */
function notFoundProblem(text: string, edit: Change, index: number): Problem {
  const plain = (line: string) => line.trim().replaceAll(/\s+/g, " ");
  const wanted = edit.old_text.split("\n").map(plain).join("\n").trim();
  const lines = text.split("\n").map(plain);
  const height = wanted.split("\n").length;
  const near = lines.findIndex((_, at) => lines.slice(at, at + height).join("\n") === wanted);
  const hint =
    wanted !== "" && near >= 0
      ? `Line ${near + 1} differs from it only in white space: read it again and copy it exactly.`
      : "Read the file again and copy the text exactly.";
  return invalidField(
    `/edits/${index}/old_text`,
    `Edit ${index + 1}: old_text is not in the file${index > 0 ? " (after the edits before it)" : ""}. ${hint} Nothing was changed.`,
  );
}
