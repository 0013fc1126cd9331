/**
 * An index job: the six phases in order, from a folder to a new generation of its graph. Only changed files are parsed.
 * An edit of a few files is merged into the existing graph, and only files whose edges it can have changed are resolved
 * again.
 */
import { createGrammars } from "../language/grammar.ts";
import { PHASES } from "../model.ts";
import type { RawEdge } from "../resolve/calls/edges.ts";
import type { SourceFile } from "../resolve/repository.ts";
import { Resolution } from "../resolve/resolution.ts";
import { createExactEdges } from "../scip/exact-edges.ts";
import { type ExactReferences, readExactReferences } from "../scip/exact-references.ts";
import { type CachedFile, type FactCache, readFactCache } from "../store/fact-cache.ts";
import type { GraphStore, Manifest, Unread } from "../store/graph-store.ts";
import { hasKeyIndex } from "../store/key-index.ts";
import { type Found, unpackGraph } from "../store/snapshot.ts";
import { joinDeclarations } from "./declarations.ts";
import { type Draft, writeGraph, writeSources } from "./generation.ts";
import { type GitPlace, headCommit } from "./git.ts";
import { findGroups, finishWith } from "./groups.ts";
import { type NotedFile, unreadOf } from "./index-report.ts";
import { ALONE, openLiveIndex } from "./live-index.ts";
import { type Look, lookAtFiles } from "./look.ts";
import { sourceOf } from "./packed-source.ts";
import { createParsePool, type ParsePool } from "./parse-pool.ts";
import { createPhases, type PhaseReport, type Phases } from "./phases.ts";
import { createConfigReader } from "./source-files.ts";
import { addFoundEdges, addStructure, GraphBuilder } from "./structure.ts";
import type { Walk } from "./walk.ts";

export interface IndexOptions extends GitPlace {
  store: GraphStore;
  /** Ignores what is known and parses everything again. */
  force: boolean;
  /** Called whenever a phase makes progress. */
  progress?: ((phases: readonly PhaseReport[]) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface IndexReport {
  manifest: Manifest;
  phases: PhaseReport[];
  /** Files parsed in this job; the rest came from the cache. */
  parsed: number;
  /** False if nothing had changed and the existing graph stays. */
  changed: boolean;
}

/** Runs an index job. Throws if the folder cannot be read or the job is aborted; the existing graph then stays. */
export async function indexRepository(options: IndexOptions): Promise<IndexReport> {
  const started = performance.now();
  const { store, force } = options;
  const phases = createPhases(options.progress);
  const known = store.readManifest();
  using scratch = store.createScratch();
  using pool = createParsePool(options.root, scratch);
  phases.start("filesystem_walk", 1);
  // If no earlier index is used, every file that is found will be parsed.
  const isWhole = !known || force;
  const look = await lookAtFiles(options, store.folder, isWhole ? pool.expect : undefined);
  phases.end("filesystem_walk");
  const commit = await headCommit(options);
  const report = (manifest: Manifest, parsed: number, changed: boolean): IndexReport => {
    for (const name of PHASES) phases.end(name);
    return { manifest, phases: phases.list, parsed, changed };
  };
  const taken = isWhole ? undefined : await goOnFrom(known, options, look, { commit, started }, phases);
  if (taken) return report(taken.manifest, taken.parsed, taken.changed);
  const references = readExactReferences(store.folder);
  const found = await resolveSources(options, look, pool, references, phases);
  const { builder, draft, parsed } = found;
  try {
    options.signal?.throwIfAborted();
    // The memory of resolution is larger than everything else together. It is freed before the next phase.
    if (found.files.length > MANY_FILES) Bun.gc(true);
    const graph = finishWith(builder, findGroups(builder.finish(), phases));
    options.signal?.throwIfAborted();
    const manifest = writeGraph(store, draft, { ...found, graph, look, commit, started, references });
    return report(manifest, parsed, true);
  } catch (error) {
    store.discard(draft);
    throw error;
  }
}

/** Merges an edit into the existing graph. @returns undefined if a whole index is needed */
async function goOnFrom(
  known: Manifest,
  { root, store, signal }: IndexOptions,
  look: Look,
  { commit, started }: { commit: string; started: number },
  phases: Phases,
): Promise<Omit<IndexReport, "phases"> | undefined> {
  const snapshot = store.snapshot();
  // A damaged snapshot is made again from the facts of the files.
  if (!snapshot) return undefined;
  const isComplete = hasKeyIndex(store.current()?.folder ?? "");
  if (isComplete && known.fingerprint === look.fingerprint) return { manifest: known, parsed: 0, changed: false };
  phases.start("parsing", look.walk.files.length);
  const before = unpackGraph(snapshot);
  try {
    const index = before && (await openLiveIndex(root, store, look, before, ALONE));
    const edit = index && (await index.edit(look, commit, before, await createGrammars(), started));
    signal?.throwIfAborted();
    if (!edit) return undefined;
    index.settleGroups();
    return { manifest: index.write(), parsed: edit.parsed, changed: true };
  } catch (error) {
    // Code so entangled that it overflows the stack: a whole index reports its file.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** From this many files on, an explicit garbage collection costs at most a hundredth of the index. */
const MANY_FILES = 1_000;

/** The result of resolution. It holds neither facts nor types, so that their memory can be freed. */
interface Resolved {
  builder: GraphBuilder;
  /** The edges that resolution found, if joining declarations changed them. */
  found: Found | undefined;
  /** The generation that was begun; the facts are already written to it. */
  draft: Draft;
  files: readonly NotedFile[];
  unread: Unread;
  tangled: readonly string[];
  parsed: number;
}

/** Finds structure and edges, and writes the facts. When it returns, neither facts nor types are in memory. */
async function resolveSources(
  options: IndexOptions,
  look: Look,
  parsers: ParsePool,
  references: ExactReferences,
  phases: Phases,
): Promise<Resolved> {
  const { store } = options;
  const cache = readFactCache(options.force ? undefined : store.current()?.folder);
  const { files, parsed } = await parseChanged(options, look.walk, parsers, cache, phases);
  options.signal?.throwIfAborted();
  const pool = new Map<string, string>();
  const sources = sourcesOf(files, pool);
  const { builder: edges, tangled } = resolveAll(options, look.walk, { files, sources, references, pool }, phases);
  const builder = joinDeclarations(edges);
  return {
    builder,
    found: builder === edges ? undefined : edges.foundEdges(),
    draft: writeSources(store, { files, sources, look }),
    files: files.map(({ path, hash, note }) => ({ path, hash, note })),
    unread: unreadOf(sources),
    tangled,
    parsed,
  };
}

async function parseChanged(
  options: IndexOptions,
  walk: Walk,
  parsers: ParsePool,
  { files: cached }: FactCache,
  phases: Phases,
): Promise<{ files: CachedFile[]; parsed: number }> {
  phases.start("parsing", walk.files.length);
  const wanted: { path: string; hash: string; size: number }[] = [];
  const files = new Map<string, CachedFile>();
  for (const file of walk.files) {
    const old = cached.get(file.path);
    if (old && old.size === file.size && old.modified === file.modified) files.set(file.path, old);
    else wanted.push({ path: file.path, size: file.size, hash: old?.hash ?? "" });
  }
  const reused = files.size;
  const results = await parsers.parseAll({
    files: wanted,
    progress: (done) => phases.step("parsing", reused + done),
    signal: options.signal,
  });
  let parsed = 0;
  for (const { same, ...file } of results) {
    const { path, size, modified } = file;
    const old = cached.get(path);
    if (same && old) files.set(path, { ...old, size, modified });
    else {
      parsed++;
      // A file that vanished between the look and the read is left out.
      if (file.note !== "gone") files.set(path, file);
    }
  }
  phases.end("parsing");
  const sorted = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files: sorted, parsed };
}

/**
 * How often garbage is collected while a large repository is resolved. Without it, the collector may keep forgotten types
 * to the end, which adds 80 MB to the peak (docs/benchmarks.md).
 */
const COLLECTIONS = 2;

interface Material {
  files: readonly CachedFile[];
  /** The files that have facts, in the same order. */
  sources: readonly SourceFile[];
  references: ExactReferences;
  /** Interned strings of all files: equal strings are kept in memory once. */
  pool: Map<string, string>;
}

function sourcesOf(files: readonly CachedFile[], pool: Map<string, string>): SourceFile[] {
  const sources: SourceFile[] = [];
  for (const file of files) {
    if (file.note !== "") continue;
    const source = sourceOf(file.path, file.facts(), pool);
    if (source) sources.push(source);
  }
  return sources;
}

/** Builds structure and edges. Also returns the paths of files whose edges could not be found. */
function resolveAll(options: IndexOptions, walk: Walk, material: Material, phases: Phases) {
  const { files, sources, references, pool } = material;
  phases.start("structure", 1);
  const builder = new GraphBuilder();
  const input = { files: sources, configs: walk.configs, readConfig: createConfigReader(options.root) };
  let resolution = new Resolution(input);
  const { repo } = resolution;
  const symbolNodes = addStructure(builder, repo);
  // The strings of all files have been read, so the pool is no longer needed.
  pool.clear();
  phases.end("structure");
  phases.start("resolution", sources.length);
  const hashes = new Map(files.map(({ path, hash }) => [path, hash]));
  const hashOf = (path: string) => hashes.get(path) ?? "";
  const exactEdgesOf = createExactEdges({ repo, builder, symbolNodes, references, hashOf });
  const tangled: string[] = [];
  const stretch =
    sources.length > MANY_FILES ? Math.ceil(sources.length / (COLLECTIONS + 1)) : Number.POSITIVE_INFINITY;
  for (const [file, { path }] of sources.entries()) {
    let found: readonly RawEdge[] = [];
    try {
      found = resolution.edgesOf(file);
      resolution.forget(file);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // Code so entangled that it overflows the stack gives no edges. The resolution is made anew, as its memos may be
      // wrong.
      resolution = new Resolution(input);
      tangled.push(path);
    }
    addFoundEdges(builder, found, symbolNodes, exactEdgesOf(file));
    phases.step("resolution", file + 1);
    if (file > 0 && file % stretch === 0) Bun.gc(true);
    if (file % 256 === 0) options.signal?.throwIfAborted();
  }
  phases.end("resolution");
  return { builder, tangled };
}
