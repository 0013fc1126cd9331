/**
 * An index job: the six phases in order, from a folder to a new generation of its graph. Only changed files are parsed,
 * and only files that the edits can have changed are resolved; the rest is worked out from all facts and edges, so an
 * incremental index equals a full one.
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { IS_COMPILED } from "../../process/self-command.ts";
import { unpackFacts } from "../language/facts.ts";
import { languageOf } from "../language/languages.ts";
import { PHASES } from "../model.ts";
import type { SourceFile } from "../resolve/repository.ts";
import { Resolution } from "../resolve/resolution.ts";
import { createExactEdges } from "../scip/exact-edges.ts";
import { type ExactReferences, readExactReferences } from "../scip/exact-references.ts";
import { type CachedFile, type FactCache, readFactCache } from "../store/fact-cache.ts";
import type { Generation, GraphStore, Manifest, Unread } from "../store/graph-store.ts";
import { hasKeyIndex } from "../store/key-index.ts";
import type { Found } from "../store/snapshot.ts";
import { joinDeclarations } from "./declarations.ts";
import { type Draft, writeGraph, writeSources } from "./generation.ts";
import { type GitPlace, headCommit } from "./git.ts";
import { findGroups, finishWith } from "./groups.ts";
import { type NotedFile, unreadOf } from "./index-report.ts";
import { type Look, lookAtFiles } from "./look.ts";
import { parseAll } from "./parse-pool.ts";
import { createPhases, type PhaseReport, type Phases } from "./phases.ts";
import { reuseEdges } from "./reuse.ts";
import { createConfigReader } from "./source-files.ts";
import { addFoundEdges, addStructure, GraphBuilder } from "./structure.ts";
import type { Walk } from "./walk.ts";

export interface IndexOptions extends GitPlace {
  store: GraphStore;
  /** Parse everything again. */
  force: boolean;
  /** Called whenever a phase makes progress. */
  progress?: ((phases: readonly PhaseReport[]) => void) | undefined;
  signal?: AbortSignal | undefined;
  threads?: number | undefined;
  createThread?: (() => Worker) | undefined;
}

export interface IndexReport {
  manifest: Manifest;
  phases: PhaseReport[];
  /** Files parsed in this job; the rest came from the cache. */
  parsed: number;
  /** False when nothing had changed and the old graph stands. */
  changed: boolean;
}

const MAX_THREADS = 8;
const NO_FACTS = new Uint8Array(0);

/** A compiled executable keeps modules as chunks beside its first entry; build.ts puts this one second. */
const PARSE_WORKER = IS_COMPILED ? "./graph/index/parse-worker.ts" : "./parse-worker.ts";

function createParseThread(): Worker {
  return new Worker(new URL(PARSE_WORKER, import.meta.url).href, { smol: true });
}

/** Runs an index job. Throws when the folder cannot be read or the job is aborted; the old graph then stays. */
export async function indexRepository(options: IndexOptions): Promise<IndexReport> {
  const started = performance.now();
  const { store } = options;
  const phases = createPhases(options.progress);
  const known = store.manifest();
  phases.start("filesystem_walk", 1);
  const look = await lookAtFiles(options, store.folder);
  phases.end("filesystem_walk");
  const commit = await headCommit(options);
  // What was damaged since is made again from the files' facts.
  const whole = known !== undefined && store.snapshot() !== undefined;
  const complete = whole && hasKeyIndex(store.current()?.folder ?? "");
  if (!options.force && complete && known.fingerprint === look.fingerprint) {
    for (const name of PHASES) phases.end(name);
    return { manifest: known, phases: phases.list, parsed: 0, changed: false };
  }
  const references = readExactReferences(store.folder);
  const before = { known, last: options.force ? undefined : store.current(), whole };
  const resolved = await resolveSources(options, look, before, references, phases);
  const { builder, found, draft, files, unread, tangled, parsed } = resolved;
  try {
    options.signal?.throwIfAborted();
    // The memory of resolution is larger than everything else together: free it before the next phase.
    if (resolved.resolved > MANY_FILES) Bun.gc(true);
    const graph = finishWith(builder, findGroups(builder.finish(), phases));
    options.signal?.throwIfAborted();
    const made = { graph, found, files, unread, look, commit, started, references, tangled };
    const manifest = writeGraph(store, draft, made);
    phases.end("process_discovery");
    return { manifest, phases: phases.list, parsed, changed: true };
  } catch (error) {
    store.discard(draft);
    throw error;
  }
}

/** From this many resolved files on, an explicit garbage collection costs at most a hundredth of the index. */
const MANY_FILES = 1_000;

/** The index before: what its manifest says, where it is, and whether its graph can be read. */
interface Before {
  known: Manifest | undefined;
  last: Generation | undefined;
  whole: boolean;
}

/** What is left of the sources once their edges are found: neither facts nor types. */
interface Resolved {
  builder: GraphBuilder;
  /** What resolution found where joining declarations changed it. */
  found: Found | undefined;
  /** Has the facts. */
  draft: Draft;
  files: readonly NotedFile[];
  unread: Unread;
  tangled: readonly string[];
  parsed: number;
  resolved: number;
}

/** Finds structure and edges, and writes facts. None of what it needs for that is in memory when it has returned. */
async function resolveSources(
  options: IndexOptions,
  look: Look,
  { known, last, whole }: Before,
  references: ExactReferences,
  phases: Phases,
): Promise<Resolved> {
  const { store } = options;
  const cache = readFactCache(last?.folder);
  const { files, parsed } = await parseChanged(options, look.walk, cache, phases);
  options.signal?.throwIfAborted();
  const material: Material = {
    files,
    sources: sourcesOf(files),
    cache,
    before: whole ? last : undefined,
    configs: look.configs,
    readConfig: createConfigReader(options.root),
    failedBefore: new Set(known?.failed.map(({ path }) => path)),
    tangled: [],
    references,
    resolved: 0,
  };
  const edges = resolveAll(options, look.walk, material, phases);
  const builder = joinDeclarations(edges);
  const { sources, tangled, resolved } = material;
  return {
    builder,
    found: builder === edges ? undefined : edges.foundEdges(),
    draft: writeSources(store, { files, sources, look, cache }),
    files: files.map(({ path, hash, note }) => ({ path, hash, note })),
    unread: unreadOf(sources),
    tangled,
    parsed,
    resolved,
  };
}

async function parseChanged(
  options: IndexOptions,
  walk: Walk,
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
  const results = await parseAll({
    root: options.root,
    files: wanted,
    threads: Math.min(MAX_THREADS, options.threads ?? availableParallelism()),
    progress: (done) => phases.step("parsing", reused + done),
    createThread: options.createThread ?? createParseThread,
    signal: options.signal,
  });
  let parsed = 0;
  for (const result of results) {
    const { path, size, modified, hash, note, facts } = result;
    const old = cached.get(path);
    if (result.same && old) files.set(path, { ...old, size, modified });
    else {
      parsed++;
      // A file that vanished between listing and reading is left out.
      if (note === "gone") continue;
      files.set(path, { path, size, modified, hash, note, facts: () => facts });
      // The result stays in memory until all are parsed and longer: the file alone holds its facts, and lets them go.
      result.facts = NO_FACTS;
    }
  }
  phases.end("parsing");
  const sorted = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files: sorted, parsed };
}

interface Material {
  files: readonly CachedFile[];
  /** Those of them that have facts, in their order. */
  sources: readonly SourceFile[];
  /** The previous index: its facts, and where its graph is. */
  cache: FactCache;
  before: Generation | undefined;
  /** Hash over the configuration files. */
  configs: string;
  readConfig(path: string): string | undefined;
  /** Paths that the last index reported as failed; they are parsed again. */
  failedBefore: ReadonlySet<string>;
  /** Paths of files whose edges could not be found; filled here. */
  tangled: string[];
  references: ExactReferences;
  /** Files whose edges were found; those of the others are the last index's. Counted here. */
  resolved: number;
}

function sourcesOf(files: readonly CachedFile[]): SourceFile[] {
  const sources: SourceFile[] = [];
  const pool = new Map<string, string>();
  for (const file of files) {
    if (file.note !== "") continue;
    const language = languageOf(file.path)!;
    const facts = unpackFacts(file.facts(), language.id, pool);
    if (facts) sources.push({ path: file.path, language, facts });
  }
  return sources;
}

/** Structure and edges. */
function resolveAll(options: IndexOptions, walk: Walk, material: Material, phases: Phases): GraphBuilder {
  const { sources } = material;
  phases.start("structure", 1);
  const builder = new GraphBuilder();
  const configs = { configs: walk.configs, readConfig: material.readConfig };
  let resolution = new Resolution({ files: sources, ...configs });
  const symbolNodes = addStructure(builder, resolution.repo);
  phases.end("structure");
  phases.start("resolution", sources.length);
  /**
   * Code so entangled that resolution overflows the stack gives no edges; what was remembered on the way is dropped,
   * as it may be wrong.
   */
  const untangled = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      resolution = new Resolution({ files: sources, ...configs });
      return undefined;
    }
  };
  const { before } = material;
  const reuse =
    before &&
    untangled(() =>
      reuseEdges(
        {
          ...material,
          readSnapshot: () => readFileSync(before.snapshot),
          after: resolution,
          configPaths: walk.configs,
        },
        builder,
      ),
    );
  const hashes = new Map(material.files.map(({ path, hash }) => [path, hash]));
  const hashOf = (path: string) => hashes.get(path) ?? "";
  const { references } = material;
  const exactEdgesOf = createExactEdges({ repo: resolution.repo, builder, symbolNodes, references, hashOf });
  for (let file = 0; file < sources.length; file++) {
    if (material.failedBefore.has(sources[file]!.path) || !reuse?.copy(file, builder)) {
      material.resolved++;
      const found = untangled(() => resolution.edgesOf(file));
      if (!found) material.tangled.push(sources[file]!.path);
      addFoundEdges(builder, found ?? [], symbolNodes, exactEdgesOf(file));
    }
    phases.step("resolution", file + 1);
    if (file % 256 === 0) options.signal?.throwIfAborted();
  }
  phases.end("resolution");
  return builder;
}
