/**
 * Opens the current generation of a stored graph for questions. When a new generation is written, the reader switches
 * to it.
 */
import type { CodeGraph } from "../code-graph.ts";
import { GraphError } from "../graph-error.ts";
import { type KeptNodes, keptByBoth } from "../kept-nodes.ts";
import { buildWordIndex, type KnownWords, patchWordIndex, type WordIndex, wordsKnownTo } from "../query/word-index.ts";
import { Stepwise } from "../stepwise.ts";
import type { Generation, GraphStore } from "../store/graph-store.ts";
import { unpackGraph } from "../store/snapshot.ts";

interface OpenedGraph {
  generation: number;
  graph: CodeGraph;
  /** The index for searches. The first search builds it, or `warm` does. */
  words: Stepwise<WordIndex>;
  /** What the word index will be made from, if edits came since the last one was made. */
  patched?: { known: KnownWords; kept: KeptNodes | undefined } | undefined;
  kuzuPath: string;
}

export interface GraphReader {
  /** The current generation. Throws GraphError `not_indexed` if there is none that can be read. */
  open(): OpenedGraph;
  /**
   * Opens the current generation with everything that questions need, in short steps. Until it is ready, the generation
   * before answers. So no question after an index has to wait for it.
   */
  warm(): Promise<void>;
  /** The current generation itself, even while `warm` is opening it. */
  openCurrent(): OpenedGraph;
  /**
   * From now on, answers from another graph: that of the current generation, or one that edits have made newer.
   * @param kept unchanged nodes, for reusing the word index; "all" if only clusters and flows changed
   */
  replace(graph: CodeGraph, kept: KeptNodes | "all" | undefined): void;
  close(): void;
}

export function createGraphReader(store: GraphStore): GraphReader {
  let opened: OpenedGraph | undefined;
  /** The generation that is being opened while the one before answers. */
  let warming: number | undefined;

  /** Tries again if an index job replaced the generation meanwhile. */
  function open(attempts = 3): OpenedGraph {
    const [manifest, files] = [store.readManifest(), store.current()];
    if (!manifest || !files) throw new GraphError("not_indexed", "there is no index yet");
    const { generation } = manifest;
    if (opened && (opened.generation === generation || warming === generation)) return opened;
    try {
      opened = read(store, generation, files);
      return opened;
    } catch (error) {
      if (error instanceof GraphError) throw error;
      if (attempts > 1) return open(attempts - 1);
      throw new GraphError("not_indexed", "the index cannot be read: index again");
    }
  }

  return {
    open,
    async warm() {
      const [manifest, files] = [store.readManifest(), store.current()];
      if (!manifest || !files) return;
      if (opened?.generation !== manifest.generation) {
        warming = manifest.generation;
        try {
          const next = read(store, manifest.generation, files);
          await new Stepwise(next.graph.prepare()).runWithPauses();
          // An edit may have opened this generation meanwhile, and built on it.
          if (opened?.generation !== next.generation) opened = next;
        } finally {
          warming = undefined;
        }
      }
      const words = opened?.words;
      // After an edit, the earlier graph's words are not needed. Its memory may even be reused by further edits.
      await words?.runWithPauses(() => words === opened?.words);
    },
    openCurrent() {
      const isOther = opened?.generation !== store.readManifest()?.generation;
      if (isOther) opened = undefined;
      return open();
    },
    replace(graph, kept) {
      const [manifest, files] = [store.readManifest(), store.current()];
      if (!manifest || !files) return;
      // The word index is made by the next search, so that answers to other questions do not wait for it.
      const patched = kept && opened && patchOf(opened, kept);
      if (kept && opened) graph.takeNames(opened.graph, kept);
      opened = {
        generation: manifest.generation,
        graph,
        words: new Stepwise(patched ? patchWordIndex(patched.known, graph, patched.kept) : buildWordIndex(graph)),
        patched,
        kuzuPath: files.kuzu,
      };
    },
    close() {
      opened = undefined;
    },
  };
}

function patchOf({ words, patched }: OpenedGraph, kept: KeptNodes | "all"): OpenedGraph["patched"] {
  const known = words.made && wordsKnownTo(words.made);
  const before = known ? { known, kept: undefined } : patched;
  if (!before || kept === "all") return before;
  return { known: before.known, kept: before.kept ? keptByBoth(before.kept, kept) : kept };
}

function read(store: GraphStore, generation: number, { kuzu }: Generation): OpenedGraph {
  const bytes = store.snapshot();
  const graph = bytes && unpackGraph(bytes);
  if (!graph) throw new GraphError("not_indexed", "the index cannot be read: index again");
  return { generation, graph, words: new Stepwise(buildWordIndex(graph)), kuzuPath: kuzu };
}
