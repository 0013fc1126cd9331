/**
 * The nodes that are read from the parser's memory are those that its interface returns, for complete and for broken
 * source.
 */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Language, Parser, type TreeCursor } from "web-tree-sitter";
import { createRandom, type Random } from "../../testing/crash/random.ts";
import { rowAt, type TreeNode } from "../rows.ts";
import { ERROR_TYPE, type FlatTree, type GrammarTables, grammarTables } from "./flat-tree.ts";
import { createGrammars } from "./grammar.ts";
import { endingOf, languageOf } from "./languages.ts";

const FIXTURES = join(import.meta.dir, "fixtures");
const grammars = await createGrammars();

/**
 * One source for each file ending among the fixtures. It contains all files with that ending, so that every kind of
 * node occurs.
 */
const sources = new Map<string, string[]>();
for (const path of readdirSync(FIXTURES, { recursive: true, encoding: "utf8" }).sort())
  if (languageOf(path)) {
    const ending = endingOf(path);
    sources.set(ending, [...(sources.get(ending) ?? []), readFileSync(join(FIXTURES, path), "utf8")]);
  }

interface Reference {
  parser: Parser;
  tables: GrammarTables;
}

const references = new Map<string, Promise<Reference>>();
const referenceOf = (grammar: string): Promise<Reference> => {
  const known = references.get(grammar) ?? loadReference(grammar);
  references.set(grammar, known);
  return known;
};

async function loadReference(grammar: string): Promise<Reference> {
  const language = await Language.load(grammar);
  const parser = new Parser();
  parser.setLanguage(language);
  return { parser, tables: grammarTables(language) };
}

/** The nodes that a flat tree should have, one per line, read through the parser's cursor. */
function expectedNodes(cursor: TreeCursor, { keep }: GrammarTables): string[] {
  const nodes: string[] = [];
  const parents: number[] = [-1];
  for (;;) {
    const type = cursor.nodeTypeId;
    const kept = type === ERROR_TYPE ? 2 : keep[type]!;
    const { nodeType, currentFieldName, startIndex, endIndex } = cursor;
    const node = nodes.length;
    if (kept > 0) nodes.push(`${nodeType} ${currentFieldName ?? ""} ${startIndex}-${endIndex} in ${parents.at(-1)}`);
    if (kept === 2 && cursor.gotoFirstChild()) {
      parents.push(node);
      continue;
    }
    while (!cursor.gotoNextSibling()) {
      if (!cursor.gotoParent()) return nodes;
      parents.pop();
    }
  }
}

function nodesOf(tree: FlatTree): string[] {
  return Array.from({ length: tree.count }, (_, index) => {
    const node = rowAt<TreeNode>(index);
    const range = `${tree.startIndex(node)}-${tree.endIndex(node)}`;
    return `${tree.kind(node)} ${tree.fieldName(node)} ${range} in ${tree.parent(node)}`;
  });
}

async function compare(ending: string, text: string): Promise<void> {
  const grammar = languageOf(`a${ending}`)!.grammars.get(ending)!;
  await grammars.load(grammar);
  const { parser, tables } = await referenceOf(grammar);
  const tree = parser.parse(text)!;
  const cursor = tree.walk();
  const expected = expectedNodes(cursor, tables);
  // Without this, its finalizer would later free whichever cursor the parser's shared buffer names by then.
  cursor.delete();
  tree.delete();
  const flat = grammars.parse(grammar, text);
  const found = nodesOf(flat);
  grammars.reuse(flat);
  const wrong = expected.findIndex((node, i) => node !== found[i]);
  if (wrong >= 0 || expected.length !== found.length)
    expect({ text, node: found[wrong], nodes: found.length }).toEqual({
      text,
      node: expected[wrong],
      nodes: expected.length,
    });
}

/** Pieces of text that are too long for an inline leaf, wider than a byte, or that break the source around them. */
const ODD = [
  "}",
  "{",
  ")",
  "(",
  '"',
  "\n",
  "é",
  "😀",
  "/*",
  "=> ",
  "@",
  ";",
  "\u0000",
  " ".repeat(300),
  "\n".repeat(20),
];
ODD.push("x".repeat(300), "\t// …\n", "`${", "<T>", "async ", "#if A\n");

function damage(text: string, { upTo }: Random): string {
  let broken = text;
  for (let i = upTo(3); i >= 0; i--) {
    const at = upTo(broken.length);
    broken = broken.slice(0, at) + ODD[upTo(ODD.length - 1)] + broken.slice(at + upTo(30));
  }
  return broken;
}

for (const [ending, texts] of sources) {
  test(`each node of whole and broken ${ending} files is the parser's`, async () => {
    const random = createRandom(7);
    for (const text of texts) {
      await compare(ending, text);
      for (let i = 0; i < 20; i++) await compare(ending, damage(text, random));
    }
  });
}

test("the nodes of an empty, a deep and a wide text are the parser's", async () => {
  await compare(".ts", "");
  await compare(".ts", " \n ");
  await compare(".ts", `${"(".repeat(2_000)}a${")".repeat(2_000)}`);
  await compare(".ts", `${"[".repeat(2_000)}`);
  await compare(".ts", "a();\n".repeat(20_000));
});
