/**
 * The cost of the parser alone. Reads the source files that an index of a folder would read and parses each with
 * web-tree-sitter, one after another on one thread, without keeping anything. Loading the grammars, once each, is part
 * of the time.
 *
 *   bun scripts/bare-parse.ts PATH     prints {"seconds", "files", "bytes"}
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { walkFolder } from "../src/graph/index/walk.ts";
import { createGrammars } from "../src/graph/language/grammar.ts";
import { endingOf, languageOf } from "../src/graph/language/languages.ts";
import { isMachineMade, sourceText } from "../src/graph/language/parse-file.ts";

const root = resolve(process.argv[2] ?? ".");
const walk = await walkFolder({ root, isSupported: (path) => languageOf(path) !== undefined, configNames: new Set() });
const started = performance.now();
const grammars = await createGrammars();
let [files, bytes] = [0, 0];
for (const { path } of walk.files) {
  const grammar = languageOf(path)!.grammars.get(endingOf(path))!;
  const source = readFileSync(join(root, path));
  const text = sourceText(source);
  if (isMachineMade(text)) continue;
  await grammars.load(grammar);
  grammars.parseOnly(grammar, text);
  files++;
  bytes += source.length;
}
console.log(JSON.stringify({ seconds: (performance.now() - started) / 1_000, files, bytes }));
