/** Writes an index to disk as a new generation, which replaces the one before. */
import { writeFileSync } from "node:fs";
import type { SourceFile } from "../resolve/repository.ts";
import { type CachedFile, writeFactCache } from "../store/fact-cache.ts";
import { checksumOf, type GraphStore, type Manifest } from "../store/graph-store.ts";
import { writeKeyIndex } from "../store/key-index.ts";
import { type Found, packGraph } from "../store/snapshot.ts";
import { type Indexed, manifestOf } from "./index-report.ts";
import type { Look } from "./look.ts";

/** What is known of the source files. */
interface Sources {
  /** All files of the look. `sources` holds those that have facts. */
  files: readonly CachedFile[];
  sources: readonly SourceFile[];
  look: Look;
}

/** The graph that is made of the sources. */
interface Made extends Indexed {
  /** The edges that resolution found, if joining declarations changed them. */
  found: Found | undefined;
}

/** A generation that is not yet the current one. */
export type Draft = ReturnType<GraphStore["begin"]>;

export function writeGeneration(store: GraphStore, indexed: Sources & Made): Manifest {
  return writeGraph(store, writeSources(store, indexed), indexed);
}

/** Begins a generation with what is known of the files. `writeGraph` adds the graph later. */
export function writeSources(store: GraphStore, { files, sources, look }: Sources): Draft {
  const draft = store.begin();
  try {
    writeFactCache(draft.folder, files, look.configs);
    const keys = sources.map(({ path, facts }) => ({ path, keys: facts.keys }));
    writeKeyIndex(draft.folder, keys, look.walk.settings);
    return draft;
  } catch (error) {
    store.discard(draft);
    throw error;
  }
}

/** Adds the graph to a generation and makes it the current one. */
export function writeGraph(store: GraphStore, draft: Draft, made: Made): Manifest {
  try {
    const snapshot = packGraph(made.graph, made.found);
    writeFileSync(draft.snapshot, snapshot);
    return store.commit(draft, { ...manifestOf(made), checksum: checksumOf(snapshot) });
  } catch (error) {
    store.discard(draft);
    throw error;
  }
}
