/** Every fixture's graph is what its expected.txt says. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { indexInMemory } from "../index/index-memory.ts";
import { listDifferences } from "./fixture-format.ts";

const ROOT = join(import.meta.dir, "fixtures");
const only = Bun.env["GRAPH_FIXTURE"];

function cases(): string[] {
  if (!existsSync(ROOT)) return [];
  const folders = (path: string) => readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders(ROOT)
    .flatMap((language) => folders(join(ROOT, language.name)).map((entry) => `${language.name}/${entry.name}`))
    .filter((name) => !only || name === only)
    .sort();
}

describe("the graph of a fixture has the expected nodes and edges, and none of the forbidden", () => {
  for (const name of cases()) {
    test(name, async () => {
      const graph = await indexInMemory(join(ROOT, name));
      const nodes = Array.from({ length: graph.nodeCount }, (_, row) => graph.node(row));
      const edges = Array.from({ length: graph.edgeCount }, (_, row) => graph.edge(row));
      const expected = readFileSync(join(ROOT, name, "expected.txt"), "utf8");
      expect(listDifferences(expected, nodes, edges)).toEqual([]);
    });
  }
});
