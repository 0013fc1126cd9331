/**
 * Reads and parses a list of files one after another. Parse workers run this; small indexes run it in their own
 * process.
 */
import { FileError, modifiedMs } from "../../working-copy/folder.ts";
import type { Grammars } from "../language/grammar.ts";
import { endingOf, languageOf } from "../language/languages.ts";
import { isMachineMade, packedFactsOf, sourceText } from "../language/parse-file.ts";
import { emptyTables, type FactTables } from "../language/tables/tables.ts";
import { openSources, type SourceFiles } from "./source-files.ts";

/** The result of reading one file: its facts, or the reason why there are none. */
export interface ParsedFile {
  path: string;
  size: number;
  modified: number;
  hash: string;
  /**
   * "" if facts were made. "generated" if the file was skipped, "gone" if it is not a file (any more). Otherwise the
   * error.
   */
  note: string;
  /** The packed facts; empty if `note` is set. */
  facts: Uint8Array;
  /** True if the content has the known hash, so that no facts were made. */
  same: boolean;
}

export interface ParseRequest {
  root: string;
  /** Paths relative to the root, each with the hash of the content whose facts are known ("" for none). */
  files: readonly { path: string; hash: string }[];
}

const EMPTY = new Uint8Array(0);

/**
 * Parses files. A file that fails gets a note; the other files are still parsed.
 * @param grammars of this thread; loading one again costs as much as parsing hundreds of kilobytes
 */
export async function parseFiles(
  request: ParseRequest,
  grammars: Grammars,
  onParsed?: (path: string) => void,
): Promise<ParsedFile[]> {
  using sources = openSources(request.root);
  const parsed: ParsedFile[] = [];
  const tables = emptyTables();
  for (const { path, hash } of request.files) {
    const grammar = languageOf(path)?.grammars.get(endingOf(path));
    if (grammar) await grammars.load(grammar);
    parsed.push(parseOne(sources, path, hash, grammars, tables));
    onParsed?.(path);
  }
  return parsed;
}

/** Error codes of a file that vanished since it was listed, or became a folder or a link. */
const GONE = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EISDIR", "ENXIO"]);

function parseOne(
  sources: SourceFiles,
  path: string,
  known: string,
  grammars: Grammars,
  tables: FactTables,
): ParsedFile {
  const result: ParsedFile = { path, size: 0, modified: 0, hash: "", note: "", facts: EMPTY, same: false };
  try {
    using file = sources.open(path);
    const bytes = file.readAll();
    result.size = file.stat.size;
    result.modified = modifiedMs(file.stat);
    result.hash = Bun.hash(bytes).toString(36);
    if (result.hash === known) return { ...result, same: true };
    const text = sourceText(bytes);
    if (isMachineMade(text)) return { ...result, note: "generated" };
    return { ...result, facts: packedFactsOf(path, text, grammars, tables) };
  } catch (error) {
    if (error instanceof FileError && GONE.has(error.code)) return { ...result, note: "gone" };
    return { ...result, note: error instanceof Error ? error.message : String(error) };
  }
}
