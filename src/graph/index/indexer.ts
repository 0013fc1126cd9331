/**
 * An index job: the six phases in order, from a folder to a new generation of its graph. Only changed files are parsed,
 * and only files that the edits can have changed are resolved; the rest is worked out from all facts and edges, so an
 * incremental index equals a full one.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { IS_COMPILED } from "../../process/self-command.ts";
import type { CodeGraph } from "../code-graph.ts";
import { unpackFacts } from "../language/facts.ts";
import { LANGUAGES, languageOf } from "../language/languages.ts";
import { PHASES, type PhaseName } from "../model.ts";
import type { SourceFile } from "../resolve/repository.ts";
import { createExactEdges } from "../scip/exact-edges.ts";
import { type ExactReferences, exactVersion, readExactReferences } from "../scip/exact-references.ts";
import { type CachedFile, type FactCache, readFactCache, writeFactCache } from "../store/fact-cache.ts";
import { checksumOf, type Generation, type GraphStore, type Manifest, type Unread } from "../store/graph-store.ts";
import { type FileKeys, hasKeyIndex, writeKeyIndex } from "../store/key-index.ts";
import { type Found, packGraph } from "../store/snapshot.ts";
import { resolveFiles } from "./analyse.ts";
import { findCommunities } from "./cluster.ts";
import { joinDeclarations } from "./declarations.ts";
import { findProcesses } from "./flows.ts";
import { type GitPlace, headCommit } from "./git.ts";
import { countsOf, exactOf } from "./graph-counts.ts";
import { parseAll } from "./parse-pool.ts";
import { reuseEdges } from "./reuse.ts";
import { openSources, type SourceFiles } from "./source-files.ts";
import { addFoundEdges, addStructure, GraphBuilder } from "./structure.ts";
import { type Walk, walkFolder } from "./walk.ts";

export interface PhaseReport {
  name: PhaseName;
  state: "pending" | "running" | "done" | "failed";
  /** 0–100. */
  percent: number;
  done: number;
  total: number;
  /** RFC 3339, UTC. */
  started_at?: string;
  finished_at?: string;
}

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

const now = () => new Date().toISOString();

/** A compiled executable keeps modules as chunks beside its first entry; build.ts puts this one second. */
const PARSE_WORKER = IS_COMPILED ? "./graph/index/parse-worker.ts" : "./parse-worker.ts";

function createParseThread(): Worker {
  return new Worker(new URL(PARSE_WORKER, import.meta.url).href, { smol: true });
}

/** Runs an index job. Throws when the folder cannot be read or the job is aborted; the old graph then stays. */
export async function indexRepository(options: IndexOptions): Promise<IndexReport> {
  const started = performance.now();
  const phases = createPhases(options.progress);
  using sources = openSources(options.root);
  const known = options.store.manifest();
  const walk = await walkRepository(options, phases);
  const exactNow = exactVersion(options.store.folder);
  const fingerprint = fingerprintOf(sources, walk, exactNow);
  const commit = await headCommit(options);
  // What was damaged since is made again from the files' facts.
  const whole = known !== undefined && options.store.snapshot() !== undefined;
  const complete = whole && hasKeyIndex(options.store.current()?.folder ?? "");
  if (!options.force && complete && known.fingerprint === fingerprint) {
    for (const name of PHASES) phases.end(name);
    return { manifest: known, phases: phases.list, parsed: 0, changed: false };
  }
  const last = options.force ? undefined : options.store.current();
  const before = whole ? last : undefined;
  const cache = readFactCache(last?.folder);
  const { files, parsed } = await parseChanged(options, walk, cache, phases);
  options.signal?.throwIfAborted();
  const configs = configsHash(sources, walk) + exactNow;
  const references = readExactReferences(options.store.folder);
  const tangled: string[] = [];
  const unread: FileLines[] = [];
  const keys: FileKeys[] = [];
  const failedBefore = new Set(known?.failed.map(({ path }) => path));
  const readConfig = sources.text;
  const { graph, found } = buildGraph(
    options,
    walk,
    { files, cache, configs, readConfig, before, failedBefore, tangled, unread, keys, references, resolved: 0 },
    phases,
  );
  options.signal?.throwIfAborted();
  const generation = options.store.begin();
  try {
    const snapshot = packGraph(graph, found);
    writeFileSync(generation.snapshot, snapshot);
    writeFactCache(generation.folder, files, configs, cache);
    writeKeyIndex(generation.folder, keys, walk.settings);
    phases.end("process_discovery");
    const manifest = options.store.commit(generation, {
      ...countsOf(graph),
      indexedAt: Date.now(),
      durationMs: Math.round(performance.now() - started),
      commit,
      fingerprint,
      checksum: checksumOf(snapshot),
      unread: unreadOf(unread),
      exact: exactOf(graph, files, references),
      files: files.filter((file) => file.note === "").length,
      ...skippedOf(walk, files),
      failed: [
        ...files.flatMap(({ path, note }) => (note === "" || note === "generated" ? [] : [{ path, error: note }])),
        ...tangled.map((path) => ({ path, error: "its types and calls are too deeply entangled: it has no edges" })),
      ],
    });
    return { manifest, phases: phases.list, parsed, changed: true };
  } catch (error) {
    options.store.discard(generation);
    throw error;
  }
}

/** Lines of a file that the parser could not read, of all its lines. */
interface FileLines {
  path: string;
  lines: number;
  of: number;
}

/** Files with unread lines that a report names; the others are only counted. */
const MAX_UNREAD = 100;

function unreadOf(files: readonly FileLines[]): Unread {
  const found = files.filter(({ lines }) => lines > 0).sort((a, b) => b.lines - a.lines || (a.path < b.path ? -1 : 1));
  const lines = found.reduce((sum, file) => sum + file.lines, 0);
  const all = files.reduce((sum, file) => sum + file.of, 0);
  const share = Math.round((lines / Math.max(1, all)) * 10_000) / 10_000;
  return { files: found.length, lines, share, worst: found.slice(0, MAX_UNREAD) };
}

/** Skipped files that a report names; more are only counted. */
const MAX_SKIPPED = 1_000;

function skippedOf(walk: Walk, files: readonly CachedFile[]): Pick<Manifest, "skipped" | "skippedCount"> {
  const generated = files.filter((file) => file.note === "generated");
  const all = [...walk.skipped, ...generated.map(({ path }) => ({ path, reason: "generated" as const }))];
  return { skipped: all.slice(0, MAX_SKIPPED), skippedCount: all.length };
}

interface Phases {
  list: PhaseReport[];
  start(name: PhaseName, total: number): void;
  step(name: PhaseName, done: number): void;
  end(name: PhaseName): void;
}

function createPhases(progress: IndexOptions["progress"]): Phases {
  const list = PHASES.map((name): PhaseReport => ({ name, state: "pending", percent: 0, done: 0, total: 0 }));
  const find = (name: PhaseName) => list[PHASES.indexOf(name)]!;
  let lastTold = 0;
  const report = (always: boolean) => {
    const now = Date.now();
    if (!always && now - lastTold < 50) return;
    lastTold = now;
    progress?.(list);
  };
  return {
    list,
    start(name, total) {
      Object.assign(find(name), { state: "running", total, done: 0, percent: 0, started_at: now() });
      report(true);
    },
    step(name, done) {
      const phase = find(name);
      phase.done = done;
      phase.percent = phase.total === 0 ? 100 : Math.floor((100 * done) / phase.total);
      report(false);
    },
    end(name) {
      const phase = find(name);
      phase.started_at ??= now();
      Object.assign(phase, { state: "done", done: phase.total, percent: 100, finished_at: now() });
      report(true);
    },
  };
}

/** Base names of configuration files that some language reads. */
export const CONFIG_NAMES = new Set(LANGUAGES.flatMap((language) => language.configNames));

async function walkRepository(options: IndexOptions, phases: Phases): Promise<Walk> {
  phases.start("filesystem_walk", 1);
  const walk = await walkFolder({
    root: options.root,
    gitDir: options.gitDir,
    supported: (path) => languageOf(path) !== undefined,
    configNames: CONFIG_NAMES,
  });
  phases.end("filesystem_walk");
  return walk;
}

/** A hash of all that an index depends on: the files, their sizes and times, and the configuration files. */
export function fingerprintOf(sources: SourceFiles, walk: Walk, exact: string): string {
  let text = `${exact}\n${walk.settings.join("\n")}\n`;
  for (const { path, size, modified } of walk.files) text += `${path}\n${size} ${modified}\n`;
  return Bun.hash(text + configsHash(sources, walk)).toString(36);
}

function configsHash(sources: SourceFiles, walk: Walk): string {
  let text = "";
  for (const path of walk.configs) text += `${path}\n${Bun.hash(sources.text(path) ?? "")}\n`;
  return Bun.hash(text).toString(36);
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
    }
  }
  phases.end("parsing");
  const sorted = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files: sorted, parsed };
}

interface Material {
  files: readonly CachedFile[];
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
  /** Lines of every file; filled here. */
  unread: FileLines[];
  /** Names of keys in every file; filled here. */
  keys: FileKeys[];
  references: ExactReferences;
  /** Files whose edges were found; those of the others are the last index's. Counted here. */
  resolved: number;
}

/** @returns the graph, and what resolution found where joining declarations changed it */
function buildGraph(
  options: IndexOptions,
  walk: Walk,
  material: Material,
  phases: Phases,
): { graph: CodeGraph; found: Found | undefined } {
  const resolved = resolveAll(options, walk, material, phases);
  const builder = joinDeclarations(resolved);
  const found = builder === resolved ? undefined : resolved.foundEdges();
  // The memory of resolution is larger than everything else together: free it before the next phase.
  if (material.resolved > MANY_FILES) Bun.gc(true);
  return { graph: addGroups(builder, phases), found };
}

/** From this many resolved files on, an explicit garbage collection costs at most a hundredth of the index. */
const MANY_FILES = 1_000;

/** Structure and edges. */
function resolveAll(options: IndexOptions, walk: Walk, material: Material, phases: Phases): GraphBuilder {
  const sources: SourceFile[] = [];
  for (const file of material.files) {
    if (file.note !== "") continue;
    const language = languageOf(file.path)!;
    const facts = unpackFacts(file.facts(), language.id);
    if (!facts) continue;
    sources.push({ path: file.path, language, facts });
    material.keys.push({ path: file.path, keys: facts.keys });
    material.unread.push({ path: file.path, lines: facts.unread, of: facts.lines });
  }
  phases.start("structure", 1);
  const builder = new GraphBuilder();
  const configs = { configs: walk.configs, readConfig: material.readConfig };
  let resolution = resolveFiles({ files: sources, ...configs });
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
      resolution = resolveFiles({ files: sources, ...configs });
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
          sources,
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

/** Adds communities and processes, and finishes the graph. */
function addGroups(builder: GraphBuilder, phases: Phases): CodeGraph {
  phases.start("community_detection", 1);
  const structure = builder.finish();
  const communities = findCommunities(structure);
  for (const [i, community] of communities.entries()) {
    community.node = builder.addNode("Community", community.label, String(i + 1), -1);
    for (const member of community.members) builder.addEdge("BELONGS_TO", member, community.node);
  }
  phases.end("community_detection");
  phases.start("process_discovery", 1);
  const processes = findProcesses(structure, communities);
  for (const [i, process] of processes.entries()) {
    process.node = builder.addNode("Process", process.label, String(i + 1), -1);
    for (const [step, node] of process.steps.entries())
      builder.addEdge("PARTICIPATES_IN", node, process.node, step + 1);
  }
  const graph = builder.finish();
  graph.communities = communities;
  graph.processes = processes;
  return graph;
}
