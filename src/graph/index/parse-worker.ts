/** A parsing process: answers each request with the parsed files, whose facts are in one buffer. */
import { createGrammars } from "../language/grammar.ts";
import { type ParsedFile, type ParseRequest, parseFiles } from "./parse-files.ts";

export interface ParseReply {
  id: number;
  files: ParsedFile[];
}

/** Runs until the parent disconnects. Throws when the process was not started with an IPC channel. */
export function runParseWorker(): void {
  if (!process.send) throw new Error("parse-worker is started by an index, over IPC");
  const grammars = createGrammars();
  process.on("message", async ({ id, request }: { id: number; request: ParseRequest }) => {
    const files = await parseFiles(request, await grammars);
    joinFacts(files);
    process.send?.({ id, files } satisfies ParseReply);
  });
  process.on("disconnect", () => process.exit(0));
}

/** Facts begin at multiples of so many bytes: they hold integers. */
const ALIGNMENT = 8;

/**
 * Moves the facts of all files into one buffer. Those of thousands of files in buffers of their own leave gaps between
 * what else the receiver has in memory, and the gaps stay.
 */
function joinFacts(parsed: readonly ParsedFile[]): void {
  const placeAfter = (end: number) => Math.ceil(end / ALIGNMENT) * ALIGNMENT;
  const joined = new ArrayBuffer(parsed.reduce((end, { facts }) => placeAfter(end) + facts.length, 0));
  let end = 0;
  for (const file of parsed) {
    const own = new Uint8Array(joined, placeAfter(end), file.facts.length);
    own.set(file.facts);
    file.facts = own;
    end = own.byteOffset + own.length;
  }
}
