/** `edit`: exact replacements in one file, all or none. */
import { type Static, Type } from "@sinclair/typebox";
import { invalidField, Problem } from "../../core/errors.ts";
import { takeTurns } from "../../core/turns.ts";
import description from "./edit.md" with { type: "text" };
import { editableTextOf, fileTool, formatCount, hasBom, lineCount, pathParameter } from "./tool-input.ts";

const change = Type.Object({
  old_text: Type.String({ minLength: 1, description: "The text to replace, exactly as it is in the file." }),
  new_text: Type.String({ description: "What to put in its place." }),
  replace_all: Type.Optional(Type.Boolean({ description: "Replace every occurrence; by default there must be one." })),
});

type Change = Static<typeof change>;

export const editTool = fileTool({
  name: "edit",
  description,
  parameters: Type.Object({
    path: pathParameter("The file"),
    edits: Type.Array(change, { minItems: 1, maxItems: 100, description: "The changes, in order." }),
  }),
  run: async ({ path, edits }, { sandbox }) => {
    const data = await sandbox.workspace.read(path);
    if (data.length > MAX_BYTES)
      throw new Problem(413, "file_too_large", `${path} has ${data.length} bytes; ${MAX_BYTES} can be edited at most.`);
    const before = editableTextOf(path, data);
    const turn = takeTurns();
    let text = before;
    let replaced = 0;
    let line = Number.POSITIVE_INFINITY;
    for (const [index, edit] of edits.entries()) {
      await turn();
      const result = applyEdit(text, edit, index);
      text = result.text;
      replaced += result.count;
      line = Math.min(line, result.line);
    }
    if (text === before) return { ok: true, output: `${path} is unchanged: the new text is the old.` };
    await sandbox.workspace.write(path, Buffer.from((hasBom(data) ? "\uFEFF" : "") + text));
    return {
      ok: true,
      output: `Edited ${path}: ${formatCount(replaced, "replacement")}, first at line ${line}.`,
    };
  },
});

/** Each step of an edit reads the whole text once, so this length bounds how long other requests wait. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_PLACES = 100_000;

function applyEdit(text: string, edit: Change, index: number): { text: string; count: number; line: number } {
  // Models write line feeds only. In a file with CRLF, the texts are converted, so that they match and the file stays
  // CRLF.
  const crlf = text.includes("\r\n") && !edit.old_text.includes("\r");
  const old = crlf ? edit.old_text.replaceAll("\n", "\r\n") : edit.old_text;
  const next = crlf ? edit.new_text.replaceAll(/\r?\n/g, "\r\n") : edit.new_text;
  const places = placesOf(text, old);
  if (places.first.length === 0) throw notFoundProblem(text, edit, index);
  if (places.count > 1 && !edit.replace_all) throw severalProblem(text, places, index);
  if (places.count > MAX_PLACES)
    throw createProblem(index, `old_text is in the file more than ${MAX_PLACES} times. Take in more text around it.`);
  const length = text.length + places.count * (next.length - old.length);
  if (length > MAX_BYTES)
    throw createProblem(index, `the file would have ${length} characters, more than ${MAX_BYTES}.`);
  return { text: text.replaceAll(old, () => next), count: places.count, line: lineCount(text, places.first[0]) };
}

interface Places {
  /** Number of occurrences; MAX_PLACES + 1 means that many or more. */
  count: number;
  /** Offsets of the first occurrences. */
  first: number[];
}

function placesOf(text: string, piece: string): Places {
  const places: Places = { count: 0, first: [] };
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + piece.length)) {
    places.count++;
    if (places.count <= MAX_NAMED_LINES) places.first.push(at);
    if (places.count > MAX_PLACES) break;
  }
  return places;
}

const MAX_NAMED_LINES = 10;

const createProblem = (index: number, why: string): Problem =>
  invalidField(`/edits/${index}/old_text`, `Edit ${index + 1}: ${why} Nothing was changed.`);

function severalProblem(text: string, { count, first }: Places, index: number): Problem {
  const lines = first.map((at) => lineCount(text, at));
  const times = count > MAX_PLACES ? `more than ${MAX_PLACES}` : count;
  const more = count > first.length ? ", …" : "";
  return createProblem(
    index,
    `old_text is in the file ${times} times (lines ${lines.join(", ")}${more}). Take in more text around it, or set replace_all.`,
  );
}

/** Says whether the text is there except for white space, and where. */
function notFoundProblem(text: string, edit: Change, index: number): Problem {
  const near = nearLine(text, edit.old_text);
  const hint =
    near === undefined
      ? "Read the file again and copy the text exactly."
      : `Line ${near} differs from it only in white space: read it again and copy it exactly.`;
  return createProblem(index, `old_text is not in the file${index > 0 ? " (after the edits before it)" : ""}. ${hint}`);
}

/** The hint is only searched for when the file and the text are no longer than this. */
const HINT_CHARACTERS = 256 * 1024;

/**
 * The line where the text is found when white space is ignored. Both texts are normalized to single spaces and searched
 * once.
 */
function nearLine(text: string, wanted: string): number | undefined {
  if (text.length > HINT_CHARACTERS || wanted.length > HINT_CHARACTERS) return undefined;
  const normalizeLines = (lines: string) =>
    lines
      .split("\n")
      .map((line) => line.trim().replaceAll(/\s+/g, " "))
      .join("\n");
  const sought = normalizeLines(wanted).trim();
  if (sought === "") return undefined;
  const all = `\n${normalizeLines(text)}\n`;
  const at = all.indexOf(`\n${sought}\n`);
  return at < 0 ? undefined : lineCount(all, at + 1) - 1;
}
