/** Entry of a parsing thread: answers each request with the parsed files, whose facts are transferred as one buffer. */
import { compileFromNowOn } from "../../process/jit.ts";
import { createGrammars } from "../language/grammar.ts";
import { type ParsedFile, type ParseRequest, parseFiles } from "./parse-files.ts";

declare const self: {
  onmessage: ((event: { data: ParseRequest }) => void) | null;
  postMessage(message: ParsedFile[], transfer: ArrayBuffer[]): void;
};

compileFromNowOn();
const grammars = createGrammars();

self.onmessage = async ({ data }) => {
  const parsed = await parseFiles(data, await grammars);
  self.postMessage(parsed, [joinFacts(parsed)]);
};

/** Facts begin at multiples of so many bytes: they hold integers. */
const ALIGNMENT = 8;

/**
 * Moves the facts of all files into one buffer. Those of thousands of files in buffers of their own leave gaps between
 * what else the threads had in memory, and the gaps stay.
 */
function joinFacts(parsed: readonly ParsedFile[]): ArrayBuffer {
  const placeAfter = (end: number) => Math.ceil(end / ALIGNMENT) * ALIGNMENT;
  const joined = new ArrayBuffer(parsed.reduce((end, { facts }) => placeAfter(end) + facts.length, 0));
  let end = 0;
  for (const file of parsed) {
    const own = new Uint8Array(joined, placeAfter(end), file.facts.length);
    own.set(file.facts);
    file.facts = own;
    end = own.byteOffset + own.length;
  }
  return joined;
}
