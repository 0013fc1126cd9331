/** Entry of a parsing thread: answers each request with the parsed files, whose facts are transferred, not copied. */
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
  const buffers = parsed.flatMap((file) => (file.facts.length > 0 ? [file.facts.buffer as ArrayBuffer] : []));
  self.postMessage(parsed, buffers);
};
