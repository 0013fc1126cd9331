/**
 * Splits a Dockerfile into its instructions, each with its line. Anybody may have written the text, so it is limited,
 * and read once.
 */

export const DOCKERFILE_LIMITS = {
  bytes: 64 * 1024,
  instructions: 200,
  stages: 20,
  /** Length of one instruction, including its continuation lines. */
  characters: 16 * 1024,
  /** The most `RUN`, `COPY` and `ADD`: each makes a layer, and engines accept 127 layers in one image. */
  layers: 60,
  /** Length of a value after variables were inserted. */
  valueCharacters: 16 * 1024,
} as const;

/** What is wrong with a Dockerfile, and what to write instead. */
export class DockerfileFault extends Error {
  override readonly name = "DockerfileFault";
  constructor(
    readonly line: number,
    /** A sentence. */
    readonly reason: string,
  ) {
    super(`line ${line}: ${reason}`);
  }
}

export interface Instruction {
  /** Line in the file, from 1. */
  line: number;
  /** The instruction's name in capitals. */
  word: string;
  /** The rest of the instruction, including its continuation lines. */
  text: string;
}

/** Invisible characters. People who approve the file must see everything that is read. */
const HIDDEN = /(?!\t)[\p{Cc}\p{Cf}]/u;

/**
 * The standard Dockerfile frontend that every builder has. Its features that are not supported here are refused where
 * they are used.
 */
const USUAL_FRONTEND = /^docker(?:\.io\/docker)?\/dockerfile(?::1(?:\.\d{1,3}){0,2})?$/;

/** @throws DockerfileFault. */
export function readInstructions(text: string): Instruction[] {
  if (text.length > DOCKERFILE_LIMITS.bytes)
    throw new DockerfileFault(1, `It is longer than ${DOCKERFILE_LIMITS.bytes / 1024} kB.`);
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const hiding = lines.findIndex((line) => HIDDEN.test(line));
  if (hiding >= 0)
    throw new DockerfileFault(
      hiding + 1,
      "It contains a character that nobody sees (control, direction). Take it out.",
    );
  const found: Instruction[] = [];
  for (let at = readDirectives(lines); at < lines.length; ) {
    if (isSkipped(lines[at] ?? "")) {
      at++;
      continue;
    }
    const { whole, next } = joinLines(lines, at);
    found.push(instructionIn(whole, at + 1));
    at = next;
    if (found.length > DOCKERFILE_LIMITS.instructions)
      throw new DockerfileFault(at, `It has more than ${DOCKERFILE_LIMITS.instructions} instructions.`);
  }
  return found;
}

const isSkipped = (line: string): boolean => line.trim() === "" || line.trimStart().startsWith("#");

/** Reads parser directives, which are comments at the top. @returns the index of the line after them. */
function readDirectives(lines: readonly string[]): number {
  for (let at = 0; ; at++) {
    const [, name, value] = /^#\s*([A-Za-z]+)\s*=\s*(\S+)\s*$/.exec((lines[at] ?? "").slice(0, 500)) ?? [];
    if (name === undefined || value === undefined) return at;
    const word = name.toLowerCase();
    if (word === "escape" && value !== "\\")
      throw new DockerfileFault(at + 1, "Another escape character is not supported: continue lines with \\.");
    if (word === "syntax" && !USUAL_FRONTEND.test(value))
      throw new DockerfileFault(
        at + 1,
        "Another syntax is a program of others that would read this file. Take the line out, and write plain instructions.",
      );
  }
}

/** Joins a line with its continuation lines. Comments and empty lines between them are dropped. */
function joinLines(lines: readonly string[], first: number): { whole: string; next: number } {
  let whole = "";
  for (let at = first; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (at > first && isSkipped(line)) continue;
    const trimmed = line.trimEnd();
    const goesOn = trimmed.endsWith("\\");
    whole += goesOn ? trimmed.slice(0, -1) : line;
    if (whole.length > DOCKERFILE_LIMITS.characters)
      throw new DockerfileFault(first + 1, `It is longer than ${DOCKERFILE_LIMITS.characters} characters.`);
    if (!goesOn) return { whole, next: at + 1 };
  }
  return { whole, next: lines.length };
}

function instructionIn(whole: string, line: number): Instruction {
  const trimmed = whole.trim();
  const end = trimmed.search(/\s/);
  const word = (end < 0 ? trimmed : trimmed.slice(0, end)).toUpperCase();
  return { line, word, text: end < 0 ? "" : trimmed.slice(end).trim() };
}
