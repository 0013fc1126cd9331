/** Writes an index to disk as a generation of its own, which takes the place of the one before. */
import { writeFileSync } from "node:fs";
import { type FactCache, writeFactCache } from "../store/fact-cache.ts";
import { checksumOf, type GraphStore, type Manifest } from "../store/graph-store.ts";
import { writeKeyIndex } from "../store/key-index.ts";
import { type Found, packGraph } from "../store/snapshot.ts";
import { type Indexed, manifestOf } from "./index-report.ts";

interface Generated extends Indexed {
  /** What resolution found where joining declarations changed it. */
  found: Found | undefined;
  /** The cache that stored files come from. */
  cache: FactCache;
}

export function writeGeneration(store: GraphStore, indexed: Generated): Manifest {
  const { graph, found, files, sources, look, cache } = indexed;
  const generation = store.begin();
  try {
    const snapshot = packGraph(graph, found);
    writeFileSync(generation.snapshot, snapshot);
    writeFactCache(generation.folder, files, look.configs, cache);
    const keys = sources.map(({ path, facts }) => ({ path, keys: facts.keys }));
    writeKeyIndex(generation.folder, keys, look.walk.settings);
    return store.commit(generation, { ...manifestOf(indexed), checksum: checksumOf(snapshot) });
  } catch (error) {
    store.discard(generation);
    throw error;
  }
}
