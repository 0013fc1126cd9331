/**
 * `grep`: searches the workspace's files for text. The sandbox's own `grep` does the matching, so a pattern that a
 * model writes cannot block the server's single thread.
 */
import { type Static, Type } from "@sinclair/typebox";
import { badRequest, Problem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Masker } from "../../core/masking.ts";
import { takeTurns } from "../../core/turns.ts";
import type { ExecResult, Sandbox, WalkEntry } from "../sandbox.ts";
import description from "./grep.md" with { type: "text" };
import { fileTool, pathParameter } from "./tool-input.ts";

const MAX_WALKED = 100_000;
const MAX_MATCHES = 500;
const MAX_LINE_CHARACTERS = 500;
const MAX_OUTPUT_BYTES = 2 * 1024 * 1024;
/** Beginning of the line that stands for omitted output. */
const LEFT_OUT = "[… ";
/** Bytes of file names per command; systems limit arguments to about 2 MB. */
const BATCH_BYTES = 512 * 1024;

const parameters = Type.Object({
  pattern: Type.String({ minLength: 1, maxLength: 4_096, description: "What to search for." }),
  path: Type.Optional(pathParameter("The folder or file to search; the whole workspace when left out")),
  glob: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: "Only files whose name (or path) matches." }),
  ),
  literal: Type.Optional(Type.Boolean({ description: "The pattern is plain text." })),
  ignore_case: Type.Optional(Type.Boolean({ description: "Upper and lower case are the same." })),
  context: Type.Optional(Type.Integer({ minimum: 0, maximum: 20, description: "Lines to show around each match." })),
});

type Input = Static<typeof parameters>;

export const grepTool = fileTool({
  name: "grep",
  description,
  parameters,
  run: async (input, { sandbox, signal, masker }) => {
    if (/[\0\n]/.test(input.pattern)) throw badRequest("The pattern must be one line.");
    const started = performance.now();
    const { entries, truncated } = await sandbox.workspace.walk(input.path ?? ".", {
      maxEntries: MAX_WALKED,
      signal,
    });
    const files = await wantedFiles(entries, input.glob);
    const lines: string[] = [];
    for (const batch of batches(files, sandbox.capabilities.filesAtOnce)) {
      const timeoutMs = Math.max(1, LIMITS.toolTimeoutMs - (performance.now() - started));
      const result = await searchBatch(sandbox, input, batch, timeoutMs, signal);
      lines.push(...linesOf(result, MAX_MATCHES + 1 - lines.length, masker));
      if (lines.length > MAX_MATCHES) break;
    }
    const shown = lines.slice(0, MAX_MATCHES);
    if (lines.length > MAX_MATCHES) shown.push(`[more than ${MAX_MATCHES} lines; narrow the search]`);
    if (truncated) shown.push(`[only the first ${MAX_WALKED} files and folders were searched]`);
    return { ok: true, output: shown.length > 0 ? shown.join("\n") : "No matches." };
  },
});

async function wantedFiles(entries: readonly WalkEntry[], pattern: string | undefined): Promise<string[]> {
  const glob = pattern === undefined ? undefined : new Bun.Glob(pattern);
  const byName = !pattern?.includes("/");
  const turn = takeTurns();
  const files: string[] = [];
  for (const { kind, path } of entries) {
    await turn();
    if (kind !== "file") continue;
    if (!glob || glob.match(byName ? path.slice(path.lastIndexOf("/") + 1) : path)) files.push(path);
  }
  return files;
}

function* batches(files: readonly string[], most: number): Generator<string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for (const file of files) {
    const size = Buffer.byteLength(file) + 1;
    if (batch.length === most || (bytes + size > BATCH_BYTES && batch.length > 0)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(file);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

async function searchBatch(
  sandbox: Sandbox,
  input: Input,
  files: readonly string[],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ExecResult> {
  const flags = ["-n", "-H", "-s", input.literal ? "-F" : "-E", ...(input.ignore_case ? ["-i"] : [])];
  if (input.context) flags.push("-C", String(input.context));
  return await sandbox.exec(["grep", ...flags, "-e", input.pattern, "--"], {
    files,
    timeoutMs,
    signal,
    maxOutputBytes: MAX_OUTPUT_BYTES,
  });
}

/** Matches grep's messages about binary files, and lines with binary data; neither is shown. */
const NO_TEXT = /[\0\uFFFD]|^Binary file |: binary file matches$/;

/** At most `most` lines of text, masked, long ones cut. @throws Problem for a pattern that grep refuses. */
function linesOf(result: ExecResult, most: number, masker: Masker): string[] {
  const { exitCode, output, timedOut, aborted, omittedBytes } = result;
  if (aborted) throw new Problem(499, "cancelled", "The search was cancelled.");
  if (timedOut) throw new Problem(504, "timed_out", "The search took too long; narrow it.");
  if (exitCode === 127) throw new Problem(422, "no_grep", "This sandbox has no grep.");
  const lines: string[] = [];
  for (let at = 0; at < output.length && lines.length < most; ) {
    const end = output.indexOf("\n", at);
    const line = output.slice(at, end < 0 ? undefined : end);
    at += line.length + 1;
    if (omittedBytes > 0 && line.startsWith(LEFT_OUT)) {
      // The line before the gap may be cut at an unknown place.
      lines.pop();
      break;
    }
    if (line !== "" && !NO_TEXT.test(line.slice(0, 10_000))) lines.push(shorten(line, masker));
  }
  // With an exit code above 1, matches or no output mean only that some file could not be read. Otherwise grep
  // complained.
  const complaint = exitCode !== null && exitCode > 1 && lines.length > 0 && !lines.some(isMatch);
  if (complaint) throw badRequest(`grep: ${lines.join("; ").replace(/^grep: /, "")}`, "bad_pattern");
  return lines;
}

const shorten = (line: string, masker: Masker): string =>
  line.length > MAX_LINE_CHARACTERS ? `${masker.part(line.slice(0, MAX_LINE_CHARACTERS), { after: true })} […]` : line;

const isMatch = (line: string) => /^[^:]+[:-]\d+[:-]/.test(line);
