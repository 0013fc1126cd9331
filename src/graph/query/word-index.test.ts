/**
 * Search by words: what is found and in which order, and that an index under construction answers like a complete one.
 */
import { describe, expect, test } from "bun:test";
import type { CodeGraph } from "../code-graph.ts";
import { GraphBuilder } from "../index/structure.ts";
import { NODE_LABELS } from "../model.ts";
import { Stepwise } from "../stepwise.ts";
import { findSymbols } from "./symbols.ts";
import { buildWordIndex } from "./word-index.ts";

/** A graph of functions: `file: name, Outer.name, …`; the first file also holds a documented one. */
function graphOf(files: Record<string, string[]>): CodeGraph {
  const builder = new GraphBuilder();
  const paths = Object.keys(files);
  for (const [row, path] of paths.entries()) builder.addNode("File", path.slice(path.lastIndexOf("/") + 1), path, row);
  for (const [row, path] of paths.entries())
    for (const qualified of files[path]!)
      builder.addNode("Function", qualified.slice(qualified.lastIndexOf(".") + 1), qualified, row);
  builder.texts.doc[paths.length] = "Élan vital: the first one's purpose";
  return builder.finish();
}

const SHOP = {
  "src/shop/cart.ts": ["totalOfCart", "Cart.add_item", "parseHTMLFragment"],
  "src/shop/tax.ts": ["withTax", "tax", "Tax"],
  "src/other/syntax.ts": ["syntaxTree", "useOnly"],
};

function search(graph: CodeGraph, query: string, limit = 10, labels: number[] = []): string[] {
  const hits = new Stepwise(buildWordIndex(graph)).now().find(query, limit, labels);
  return hits.map(({ node }) => graph.nodes.qualified.get(node)!);
}

describe("search by words", () => {
  const graph = graphOf(SHOP);

  test("splits names at capitals and underscores, and paths at their parts", () => {
    expect(search(graph, "item")).toEqual(["Cart.add_item"]);
    expect(search(graph, "html fragment")).toEqual(["parseHTMLFragment"]);
    expect(search(graph, "other")).toContain("syntaxTree");
    expect(search(graph, "élan")).toEqual(["totalOfCart"]);
  });

  test("puts the name as it is written first, then the same name in other letters", () => {
    expect(search(graph, "Tax").slice(0, 2)).toEqual(["Tax", "tax"]);
    expect(search(graph, "tax").slice(0, 2)).toEqual(["tax", "Tax"]);
  });

  test("puts code before declarations of what others made", () => {
    const both = graphOf({ "env.d.ts": ["documented", "Queue.retry"], "src/jobs/all.ts": ["Queue.retry"], ...SHOP });
    const hits = new Stepwise(buildWordIndex(both)).now().find("retry queue", 2, []);
    expect(hits.map(({ node }) => both.filePath(node))).toEqual(["src/jobs/all.ts", "env.d.ts"]);
  });

  test("takes words for beginnings only where whole words find too little", () => {
    expect(search(graph, "frag")).toEqual(["parseHTMLFragment"]);
    expect(search(graph, "syn", 1)).toHaveLength(1);
    expect(search(graph, "tax", 2)).not.toContain("syntaxTree");
  });

  test("keeps to labels and to the limit, and finds nothing for nothing", () => {
    expect(search(graph, "tax", 10, [NODE_LABELS.indexOf("File")])).toEqual(["src/shop/tax.ts"]);
    expect(search(graph, "shop", 2)).toHaveLength(2);
    for (const odd of ["", " ", '"', "* OR NEAR(", "🙂", "constructor __proto__"])
      expect(search(graph, odd)).toEqual([]);
  });

  test("an exact name is found among thousands that hold its words too", () => {
    const many = Array.from({ length: 5_000 }, (_, i) => `load.load${i}Load_load`);
    const large = graphOf({ "load/load.ts": many, "z.ts": ["one.two.three.four.five.load"] });
    expect(search(large, "load", 1)).toEqual(["one.two.three.four.five.load"]);
  });

  test("one that is half made when it is needed answers as a whole one", async () => {
    const large = graphOf({ "a.ts": Array.from({ length: 9_000 }, (_, i) => `thing${i}`) });
    const making = new Stepwise(buildWordIndex(large));
    const unhurried = making.runWithPauses();
    await Bun.sleep(1);
    const now = making.now();
    expect(await unhurried).toBe(now);
    expect(now.find("thing8999", 1, [])).toHaveLength(1);
  });

  test("one that nobody wants any more is left half made, and read no further", async () => {
    const making = new Stepwise(buildWordIndex(graphOf({ "a.ts": ["thing"] })));
    expect(await making.runWithPauses(() => false)).toBeUndefined();
    expect(making.made).toBeUndefined();
  });
});

describe("names and ids", () => {
  const graph = graphOf({ ...SHOP, "lib/c++/~odd#name.cc": ["operator~2", "~Odd", "a.b", "N::x"] });

  test("every id leads back to its node", () => {
    for (let row = 0; row < graph.nodeCount; row++) expect(graph.rowOf(graph.id(row))).toBe(row);
    expect(graph.rowOf("Function:src/shop/tax.ts#nothing")).toBe(-1);
    expect(graph.rowOf("Function:src/shop/cart.ts#tax")).toBe(-1);
    expect(graph.rowOf("Community:1")).toBe(-1);
  });

  test("a path, a qualified name, its end and a plain name find the node", () => {
    const findIds = (text: string, file?: string) => findSymbols(graph, text, file).map((row) => graph.id(row));
    expect(findIds("src/shop/tax.ts")).toEqual(["File:src/shop/tax.ts"]);
    expect(findIds("Cart::add_item")).toEqual(["Function:src/shop/cart.ts#Cart.add_item"]);
    expect(findIds("add_item()")).toEqual(["Function:src/shop/cart.ts#Cart.add_item"]);
    expect(findIds("N::x")).toEqual(["Function:lib/c++/~odd#name.cc#N::x"]);
    expect(findIds("tax", "other/tax.ts")).toEqual([]);
  });
});
