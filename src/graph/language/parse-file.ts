/** From the bytes of a file to text, tree and facts. */

import { type FileFacts, packFacts } from "./facts.ts";
import { FactsBuilder } from "./facts-builder.ts";
import type { FlatTree } from "./flat-tree.ts";
import type { Grammars } from "./grammar.ts";
import { keyNamesOf } from "./key-names.ts";
import type { LanguageModule } from "./language.ts";
import { endingOf, languageOf } from "./languages.ts";
import { emptyTables, type FactTables, factTables } from "./tables/tables.ts";

const decoder = new TextDecoder("utf-8", { fatal: false });

/** Decodes bytes. Invalid UTF-8 becomes replacement characters, and a byte order mark is dropped. */
export function sourceText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** A text shorter than this is not taken for machine-made because of its long lines. */
const MIN_MACHINE_MADE = 20_000;

/** Whether a text was made by a machine: minified, packed or binary. */
export function isMachineMade(text: string): boolean {
  if (text.length > 4096 && text.indexOf("\u0000") !== -1) return true;
  if (text.length < MIN_MACHINE_MADE) return false;
  const head = text.slice(0, 100_000);
  let lines = 1;
  for (let at = head.indexOf("\n"); at !== -1; at = head.indexOf("\n", at + 1)) lines++;
  return head.length / lines > 1_000;
}

/**
 * The facts of a file. The grammar must be loaded. Throws if no language has the path's ending, or if the parser fails.
 */
export function factsOf(path: string, text: string, grammars: Grammars): FileFacts {
  const facts = writeFacts(path, text, grammars, emptyTables());
  return { ...facts, ...factTables((name) => facts[name].toCells()) };
}

/**
 * The packed facts of a file.
 * @param tables work space, which is reused for one file after another
 */
export function packedFactsOf(path: string, text: string, grammars: Grammars, tables: FactTables): Uint8Array {
  return packFacts(writeFacts(path, text, grammars, tables));
}

function writeFacts(path: string, text: string, grammars: Grammars, tables: FactTables): FileFacts {
  const language = languageOf(path);
  const grammar = language?.grammars.get(endingOf(path));
  if (!language || !grammar) throw new Error(`no language for ${path}`);
  const tree = treeOf(language, grammar, text, grammars);
  const builder = new FactsBuilder(path, language.id, tables);
  language.extract(tree, builder);
  const lines = tree.count > 0 ? tree.lineAt(text.length) : 1;
  const facts = builder.finish(tree.unreadLines(), lines, keyNamesOf(text));
  grammars.reuse(tree);
  return facts;
}

function treeOf(language: LanguageModule, grammar: string, text: string, grammars: Grammars): FlatTree {
  const tree = grammars.parse(grammar, text, language.prepare?.(text));
  const again = tree.errors > 0 ? language.prepareAgain?.(text) : undefined;
  if (again === undefined) return tree;
  const other = grammars.parse(grammar, text, again);
  return other.unreadLines() < tree.unreadLines() ? other : tree;
}
