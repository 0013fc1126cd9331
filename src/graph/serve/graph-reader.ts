/** The current generation of a stored graph, opened for questions. Switches to a new generation by itself. */
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
  /** What searches read; made by the first one, or by `warm`. */
  words: Stepwise<WordIndex>;
  /** What they are made from, where edits came since words were made. */
  patched?: { known: KnownWords; kept: KeptNodes | undefined } | undefined;
  kuzuPath: string;
}

export interface GraphReader {
  /** The current generation. Throws GraphError `not_indexed` when there is none that can be read. */
  open(): OpenedGraph;
  /**
   * Opens the current generation with all that questions need, in short steps; until it is ready, the one before
   * answers. So that nobody who asks pays for it after an index.
   */
  warm(): Promise<void>;
  /** The current generation itself, also while `warm` opens it. */
  openCurrent(): OpenedGraph;
  /**
   * Answers from another graph from now on, which is that of the current generation, or newer than it.
   * @param kept nodes that are as they were, for what searches read; "all" where only clusters and flows are others
   */
  replace(graph: CodeGraph, kept: KeptNodes | "all" | undefined): void;
  close(): void;
}

export function createGraphReader(store: GraphStore): GraphReader {
  let opened: OpenedGraph | undefined;
  /** Generation that is being opened while the one before answers. */
  let warming: number | undefined;

  /** Tried again when an index swapped the generation in between. */
  function open(attempts = 3): OpenedGraph {
    const [manifest, files] = [store.manifest(), store.current()];
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
      const [manifest, files] = [store.manifest(), store.current()];
      if (!manifest || !files) return;
      if (opened?.generation !== manifest.generation) {
        warming = manifest.generation;
        try {
          const next = read(store, manifest.generation, files);
          await new Stepwise(next.graph.prepare()).unhurried();
          // An edit may have opened it meanwhile, and gone on from there.
          if (opened?.generation !== next.generation) opened = next;
        } finally {
          warming = undefined;
        }
      }
      const words = opened?.words;
      // After an edit nobody needs those of the graph before, whose memory further edits use again.
      await words?.unhurried(() => words === opened?.words);
    },
    openCurrent() {
      const isOther = opened?.generation !== store.manifest()?.generation;
      if (isOther) opened = undefined;
      return open();
    },
    replace(graph, kept) {
      const [manifest, files] = [store.manifest(), store.current()];
      if (!manifest || !files) return;
      // A search makes its words: answers to other questions do not wait for them.
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
