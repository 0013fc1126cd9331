/**
 * Loads grammars and parses source text into flat trees.
 *
 * Each thread has one `Grammars` with its own WebAssembly memory. Grammars are loaded on first use.
 */
import { Language, Parser, type Tree } from "web-tree-sitter";
import runtimeWasm from "web-tree-sitter/web-tree-sitter.wasm" with { type: "file" };
import { FlatTree, type GrammarTables, grammarTables, type TreeColumns, treeColumns } from "./flat-tree.ts";
import { copyTree, type ParserMemory, type Productions, readProductions } from "./parser-memory.ts";

interface LoadedGrammar {
  parser: Parser;
  tables: GrammarTables;
  productions: Productions;
}

export interface Grammars {
  /** Loads the grammar at a wasm path, unless it is loaded. */
  load(wasmPath: string): Promise<void>;
  /**
   * Parses with a loaded grammar. Throws if the grammar is not loaded or the parser fails.
   * @param prepared the text as the parser should see it, if it differs from `text`
   */
  parse(wasmPath: string, text: string, prepared?: string): FlatTree;
  /** Takes back a tree that is not read any more. The next tree reuses its memory. */
  reuse(tree: FlatTree): void;
  /** Parses and drops the tree: measures the time of the parser alone. */
  parseOnly(wasmPath: string, text: string): void;
}

/** The memory of larger trees (more than five megabytes) is not kept for reuse. */
const MAX_SPARE_NODES = 256 * 1024;

let runtime: Promise<ParserMemory> | undefined;

async function startRuntime(): Promise<ParserMemory> {
  const module = { locateFile: () => runtimeWasm };
  await Parser.init(module);
  const filled = module as Partial<ParserMemory>;
  if (!filled.HEAP32) throw new Error("web-tree-sitter: its memory is missing");
  return filled as ParserMemory;
}

/** Starts the parser's runtime, once in each thread, and returns the loader. */
export async function createGrammars(): Promise<Grammars> {
  runtime ??= startRuntime();
  const memory = await runtime;
  const loaded = new Map<string, LoadedGrammar>();
  let spare: TreeColumns | undefined;

  function parseTree(wasmPath: string, text: string): { tree: Tree; grammar: LoadedGrammar } {
    const grammar = loaded.get(wasmPath);
    if (!grammar) throw new Error(`grammar not loaded: ${wasmPath}`);
    const tree = grammar.parser.parse(text);
    if (!tree) throw new Error("the parser gave no tree");
    return { tree, grammar };
  }

  return {
    async load(wasmPath) {
      if (loaded.has(wasmPath)) return;
      const language = await Language.load(wasmPath);
      const parser = new Parser();
      parser.setLanguage(language);
      loaded.set(wasmPath, { parser, tables: grammarTables(language), productions: readProductions(language, memory) });
    },
    parse(wasmPath, text, prepared = text) {
      const { tree, grammar } = parseTree(wasmPath, prepared);
      const expected = Math.max(64, Math.ceil(text.length / 5));
      const columns = spare && spare.type.length >= expected ? spare : treeColumns(expected);
      spare = undefined;
      const flat = new FlatTree(text, grammar.tables, columns);
      copyTree(tree, memory, grammar.productions, grammar.tables.keep, flat);
      tree.delete();
      return flat;
    },
    reuse(tree) {
      const columns = tree.columns();
      if (columns.type.length <= MAX_SPARE_NODES) spare = columns;
    },
    parseOnly(wasmPath, text) {
      parseTree(wasmPath, text).tree.delete();
    },
  };
}
