import { expect, test } from "bun:test";
import { Adjacency } from "./adjacency.ts";

test("the edges at a node are all of its edges, in their order, whether few or all nodes are asked about", () => {
  const nodes = 250;
  const ends = Int32Array.from({ length: 2_000 }, (_, edge) => (edge * edge + 7 * edge) % (nodes - 20));
  const expected = Array.from({ length: nodes }, (_, node) => [...ends.keys()].filter((edge) => ends[edge] === node));
  const listEdges = (one: Adjacency) => Array.from({ length: nodes }, (_, node) => [...one.of(node)]);
  // Asks for the nodes from the last to the first, and again: some are answered by scans, the others from the index.
  const few = new Adjacency(nodes, ends);
  for (let node = nodes - 1; node >= 0; node--) expect([...few.of(node)]).toEqual(expected[node] ?? []);
  expect(listEdges(few)).toEqual(expected);
  const prepared = new Adjacency(nodes, ends);
  prepared.prepare();
  expect(listEdges(prepared)).toEqual(expected);
});
