/**
 * Structure that is taken from a graph equals the structure of which the graph was made. incremental.test.ts checks
 * edits of it.
 */
import { beforeAll, expect, test } from "bun:test";
import { SHOP } from "../../testing/source-tree.ts";
import { packFacts } from "../language/facts.ts";
import { createGrammars, type Grammars } from "../language/grammar.ts";
import { endingOf, languageOf } from "../language/languages.ts";
import { factsOf } from "../language/parse-file.ts";
import { createSymbolsNamed, type NamedSymbol } from "../resolve/names/symbols-named.ts";
import type { SourceFile } from "../resolve/repository.ts";
import { Resolution } from "../resolve/resolution.ts";
import { joinDeclarations } from "./declarations.ts";
import { symbolsNamedBy } from "./graph-names.ts";
import { findGroups, finishWith } from "./groups.ts";
import { sourceOf } from "./packed-source.ts";
import { layOut, layOutFrom } from "./patch-structure.ts";
import { addFoundEdges } from "./structure.ts";

let grammars: Grammars;
beforeAll(async () => {
  grammars = await createGrammars();
});

/** A repository with its structure built from scratch, and the graph as a session would read it. */
async function buildGraph(files: Readonly<Record<string, string>>) {
  const sources: SourceFile[] = [];
  for (const [path, text] of Object.entries(files)) {
    const language = languageOf(path)!;
    await grammars.load(language.grammars.get(endingOf(path))!);
    const source = sourceOf(path, packFacts(factsOf(path, text, grammars)));
    if (source) sources.push(source);
  }
  const resolution = new Resolution({ files: sources, configs: [], readConfig: () => undefined });
  const { repo } = resolution;
  const laid = layOut(repo, { nodeCount: 0, edgeCount: 0 });
  for (const file of sources.keys()) addFoundEdges(laid.builder, resolution.edgesOf(file), laid.symbolNodes);
  const joined = joinDeclarations(laid.builder);
  return { repo, laid, graph: finishWith(joined, findGroups(joined.finish())) };
}

const CODE = Object.fromEntries(Object.entries(SHOP).filter(([path]) => languageOf(path)));

test("structure and edges come from a graph as from the sources, without its clusters and flows", async () => {
  const { repo, laid, graph } = await buildGraph(CODE);
  expect(graph.communities.length).toBeGreaterThan(0);
  const taken = layOutFrom(graph, repo);
  if (!taken) throw new Error("the graph's structure is not taken");
  const toPlain = ({ builder, first, symbolNodes }: typeof laid) => {
    const { name, qualified, signature, doc, ...numbers } = builder.nodeColumns();
    return {
      texts: [name, qualified, signature, doc].map((texts) => texts.list()),
      numbers,
      edges: builder.foundEdges(),
      first,
      languages: builder.languages,
      nodes: Array.from({ length: repo.symbolTotal }, (_, symbol) => symbolNodes.at(symbol)),
    };
  };
  expect(toPlain(taken)).toEqual(toPlain(laid));
});

test("no structure comes from a graph in which declarations are joined, or from one of other sources", async () => {
  const { repo, graph } = await buildGraph({
    "kit.d.ts": "export function makeKit(): void;\n",
    "kit.js": "export function makeKit() {}\n",
  });
  expect(graph.implementations).toHaveLength(1);
  expect(layOutFrom(graph, repo)).toBeUndefined();
  const other = await buildGraph({ "kit.ts": "export function makeKit() {}\n", "use.ts": "" });
  expect(layOutFrom(other.graph, repo)).toBeUndefined();
});

test("the symbols of a name are found by the graph before an edit as by the facts of all files after it", async () => {
  const before = {
    "a.ts": "export class Shop { open() {} close = () => 1; }\nconst hidden = { open() {} };\n",
    "b.ts":
      'import { Shop } from "./a.ts";\nexport function open(shop: Shop) { return () => shop.open(); }\nexport {};\n',
    "c.py": "class Door:\n    def open(self):\n        def open():\n            pass\n",
    "open/d.go": "package open\n\nfunc (d Door) open() {}\n",
  };
  const edited = await buildGraph({ ...before, "b.ts": "export const open = 1;\nfunction close() {}\n" });
  const { graph, laid } = await buildGraph(before);
  const sources = edited.repo.files;
  const byGraph = symbolsNamedBy({ graph, first: laid.first, sources, changed: [1] });
  const byFacts = createSymbolsNamed(edited.repo);
  const toRows = (found: readonly NamedSymbol[]) => found.map(({ file, label, findRow }) => [file, label, findRow()]);
  const names = new Set(sources.flatMap(({ facts }) => facts.read().strings));
  for (const name of ["b.ts", "open", ...names])
    expect([name, toRows(byGraph(name))]).toEqual([name, toRows(byFacts(name))]);
  expect(toRows(byFacts("open")).length).toBeGreaterThan(4);
});
