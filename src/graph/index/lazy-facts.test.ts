/** An edit reads the facts of few files, however many there are. */
import { expect, spyOn, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createSourceTree, manyFiles } from "../../testing/source-tree.ts";
import { SourceFacts } from "../language/facts.ts";
import { createGrammars } from "../language/grammar.ts";
import { createGraphStore } from "../store/graph-store.ts";
import { unpackGraph } from "../store/snapshot.ts";
import { indexRepository } from "./indexer.ts";
import { openLiveIndex } from "./live-index.ts";
import { lookAtFiles } from "./look.ts";

const FILES = 60;
/** The edited file before and after, the files that it calls, and the files that these call. */
const MOST_READ = 2 + 3 + 9;

test("the first edit of an index unpacks the facts of the edited file and of what it asks about, and no others", async () => {
  const tree = createSourceTree(manyFiles(FILES));
  const read = spyOn(SourceFacts.prototype, "read");
  try {
    const store = createGraphStore(tree.store);
    await indexRepository({ root: tree.root, store, force: false });
    expect(new Set(read.mock.contexts).size).toBe(FILES);
    read.mockClear();
    const snapshot = store.snapshot();
    const graph = snapshot && unpackGraph(snapshot);
    if (!graph) throw new Error("there is no graph");
    const path = "src/file7.ts";
    const text = readFileSync(join(tree.root, path), "utf8");
    const opened = await lookAtFiles({ root: tree.root }, store.folder);
    const live = await openLiveIndex(tree.root, store, opened, graph);
    expect(new Set(read.mock.contexts).size).toBe(0);
    tree.write(path, `${text}export const added = (door: { unheard(): void }) => door.unheard();\n`);
    const look = await lookAtFiles({ root: tree.root }, store.folder);
    const edit = await live?.edit(look, "", graph, await createGrammars());
    expect(edit?.graph.findByName("added")).toHaveLength(1);
    expect(new Set(read.mock.contexts).size).toBeWithin(2, MOST_READ + 1);
  } finally {
    read.mockRestore();
    tree.remove();
  }
});
