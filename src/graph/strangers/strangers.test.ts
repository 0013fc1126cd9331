/** Code that resembles real-world programs. Each case lists the calls that its compiler sees. */
import { describe, expect, test } from "bun:test";
import { createSourceTree } from "../../testing/source-tree.ts";
import type { CodeGraph } from "../code-graph.ts";
import { indexInMemory } from "../index/index-memory.ts";
import { CALLBACKS } from "./callbacks.ts";
import type { Case } from "./case.ts";
import { TYPES } from "./types.ts";

function names(graph: CodeGraph, row: number, text: string): boolean {
  const node = graph.node(row);
  const [file, name] = text.includes("#") ? text.split("#") : [undefined, text];
  if (file !== undefined && node.file_path !== file) return false;
  return node.qualified_name === name || node.qualified_name.endsWith(`.${name}`);
}

/** Whether the graph has a call written as `caller > callee @ file:line`. */
function has(graph: CodeGraph, call: string): boolean {
  const [pair = "", at] = call.split(" @ ");
  const [caller = "", callee = ""] = pair.split(" > ");
  for (let row = 0; row < graph.edgeCount; row++) {
    const { type, line } = graph.edge(row);
    const [from, to] = [graph.edges.from[row]!, graph.edges.to[row]!];
    if (type !== "CALLS" || (at !== undefined && `${graph.filePath(from)}:${line}` !== at)) continue;
    if (names(graph, from, caller) && names(graph, to, callee)) return true;
  }
  return false;
}

async function differences({ files, calls, not = [] }: Case): Promise<string[]> {
  const tree = createSourceTree(files, { git: false });
  try {
    const graph = await indexInMemory(tree.root);
    return [
      ...calls.filter((call) => !has(graph, call)).map((call) => `missed ${call}`),
      ...not.filter((call) => has(graph, call)).map((call) => `false ${call}`),
    ];
  } finally {
    tree.remove();
  }
}

describe("the calls of a stranger's code are found, and no others", () => {
  for (const one of [...CALLBACKS, ...TYPES])
    test(one.title, async () => {
      expect(await differences(one)).toEqual([]);
    });
});
