/** The instructions of a Dockerfile, each with its line. Anybody may have written the text: it is bounded, and read once. */

export const DOCKERFILE_LIMITS = {
  bytes: 64 * 1024,
  instructions: 200,
  stages: 20,
  /** Of one instruction, with the lines that continue it. */
  characters: 16 * 1024,
  /** `RUN`, `COPY` and `ADD`: each leaves a layer, and engines take 127 in one image. */
  layers: 60,
  /** Of a value in which others were put. */
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
  /** In the file, from 1. */
  line: number;
  /** In capitals. */
  word: string;
  /** What follows it, with the lines that continue it. */
  text: string;
}

/** What it says must be what is read by those who accept it. */
const HIDDEN = /(?!\t)[\p{Cc}\p{Cf}]/u;

/** The frontend that every builder has: what it understands beyond us is refused where it is used. */
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

/** Comments at the top that tell the builder something. @returns the line after them. */
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

/** A line and those that continue it; comments and empty lines between them are left out. */
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
