/**
 * An index in the memory of the process that answers questions: facts, structure, and the edges found in each file. An
 * edit of a few files then need not load everything again. The result of an edit equals that of a whole index. The live
 * index is a cache: if an edit exceeds its limits, a whole index is made and the live index is opened again.
 */
import { takeTurns } from "../../core/turns.ts";
import type { CodeGraph } from "../code-graph.ts";
import type { KeptNodes } from "../kept-nodes.ts";
import type { Grammars } from "../language/grammar.ts";
import { MovedRows } from "../moved-rows.ts";
import { affectedFiles } from "../resolve/affected.ts";
import { createMentions } from "../resolve/mentions.ts";
import type { Repository, SourceFile } from "../resolve/repository.ts";
import { Resolution } from "../resolve/resolution.ts";
import type { Surface } from "../resolve/surface.ts";
import { createExactEdges } from "../scip/exact-edges.ts";
import { type ExactReferences, readExactReferences } from "../scip/exact-references.ts";
import { type CachedFile, readFactCache } from "../store/fact-cache.ts";
import type { GraphStore, Manifest } from "../store/graph-store.ts";
import { type KeyIndex, keyIndexOf } from "../store/key-index.ts";
import { type FoundEdges, readFoundEdges } from "../store/snapshot.ts";
import { joinDeclarations } from "./declarations.ts";
import { type EditLimits, editedFiles, isSameList, pathOf } from "./edited-files.ts";
import { writeGeneration } from "./generation.ts";
import { symbolsNamedBy } from "./graph-names.ts";
import { findGroups, finishWith, type Groups } from "./groups.ts";
import { type Indexed, manifestOf, unreadOf } from "./index-report.ts";
import type { Look } from "./look.ts";
import { sourceOf } from "./packed-source.ts";
import { type Laid, layOut, layOutFrom, type Patched, patchStructure } from "./patch-structure.ts";
import { createConfigReader } from "./source-files.ts";
import { addFoundEdges, ENDS, type GraphBuilder } from "./structure.ts";

interface Limits extends EditLimits {
  /**
   * A live index is not opened if the facts have more bytes than this. In memory they take about five times as much.
   */
  factBytes: number;
  /** If an edit requires more files than this to be resolved again, a separate process takes it in. */
  affected: number;
}

/** Limits of a live index in the process that answers questions. */
const ANSWERING: Limits = { factBytes: 200 * 1024 * 1024, edited: 50, affected: 300 };
/** Limits of a live index in a process of its own. */
export const ALONE: Limits = { factBytes: Infinity, edited: Infinity, affected: Infinity };
/** After copying the edges of this many files, other tasks of the process get a turn. */
const COPIED_AT_ONCE = 500;
/** If more surfaces than this are kept, they are all dropped before the next edit. */
const MAX_SURFACES = 200;

interface LiveEdit {
  graph: CodeGraph;
  manifest: Manifest;
  parsed: number;
  /** The nodes that the edit left unchanged. Undefined if rows cannot be compared. */
  kept: KeptNodes | undefined;
}

export interface LiveIndex {
  /** The generation on disk that this index continues. If the disk has another one, this index must not be used. */
  readonly generation: number;
  readonly manifest: Manifest;
  /** Whether this index holds changes that are not on disk yet. */
  readonly isAhead: boolean;
  /**
   * Applies an edit. The clusters and flows of the graph are those of the graph before, without nodes that are gone;
   * `settleGroups` finds new ones. The second edit after this one reuses the memory of this graph.
   * @param before the graph that the last edit returned, or that the index was opened with
   * @param started when the job began, by `performance.now()`
   * @returns undefined if a whole index is needed; this index must then not be used again
   */
  edit(
    look: Look,
    commit: string,
    before: CodeGraph,
    grammars: Grammars,
    started?: number,
  ): Promise<LiveEdit | undefined>;
  /** Finds new clusters and flows. @returns the graph with them; undefined if they are up to date */
  settleGroups(): CodeGraph | undefined;
  keys(): KeyIndex;
  /** Writes the index to disk as a generation. Clusters and flows must be settled before. */
  write(): Manifest;
}

/** The state between two edits. */
interface State {
  files: readonly CachedFile[];
  sources: readonly SourceFile[];
  resolution: Resolution;
  laid: Laid;
  /** A graph whose nodes are the symbols of `laid`, in the same rows. Names are looked up in it. */
  named: CodeGraph;
  look: Look;
}

/** The result of an edit that is not yet on disk. Undefined before the first edit, as the disk has everything. */
type Made = Indexed & Pick<State, "files" | "sources"> & { groups: Groups | undefined };

/**
 * @param graph the graph of the current generation
 * @returns undefined if that generation cannot be read, belongs to another state of the files, or is too large
 */
export async function openLiveIndex(
  root: string,
  store: GraphStore,
  look: Look,
  graph: CodeGraph,
  limits = ANSWERING,
): Promise<LiveIndex | undefined> {
  const [known, current] = [store.readManifest(), store.current()];
  if (!known || !current) return undefined;
  const cache = readFactCache(current.folder);
  const bytes = cache.segments.reduce((sum, { length }) => sum + length * 8, 0);
  if (bytes > limits.factBytes || cache.configs !== look.configs) return undefined;
  const turn = takeTurns();
  const files = [...cache.files.values()];
  if (!isSameList(files.map(pathOf), look.walk.files.map(pathOf))) return undefined;
  const sources: SourceFile[] = [];
  for (const file of files) {
    if (file.note !== "") continue;
    const source = sourceOf(file.path, file.facts());
    if (!source) return undefined;
    sources.push(source);
    await turn();
  }
  const readConfig = createConfigReader(root);
  const resolution = new Resolution({ files: sources, configs: look.walk.configs, readConfig });
  await turn();
  const taken = layOutFrom(graph, resolution.repo);
  const laid = taken ?? layOutAgain(resolution.repo, store, graph);
  if (!laid) return undefined;
  const named = taken ? graph : laid.builder.finish();
  await turn();
  const references = readExactReferences(store.folder);
  return createLiveIndex(root, store, { known, references, limits }, { files, sources, resolution, laid, named, look });
}

/**
 * Builds the structure again, and reads the edges that resolution found from disk. @returns undefined if the two do not
 * match
 */
function layOutAgain(repo: Repository, store: GraphStore, graph: CodeGraph): Laid | undefined {
  const snapshot = store.snapshot();
  const laid = snapshot && layOut(repo, graph);
  return laid && takeEdges(laid, readFoundEdges(snapshot), repo.files.length) ? laid : undefined;
}

/** Adds the edges from disk to a structure with the same rows. @returns false if they do not match */
function takeEdges({ builder }: Laid, found: FoundEdges | undefined, files: number): boolean {
  const [first, end] = [found?.start[0], found?.start.at(-1)];
  if (!found || files === 0 || found.start.length !== files + 1 || first !== builder.edges.type.length) return false;
  for (const name of ENDS) builder.edges[name].append(found[name].subarray(first, end));
  for (let file = 0; file < files; file++) builder.found.push(found.start[file] ?? 0);
  return true;
}

interface Begun {
  known: Manifest;
  references: ExactReferences;
  limits: Limits;
}

function createLiveIndex(root: string, store: GraphStore, begun: Begun, opened: State): LiveIndex {
  const { references, limits } = begun;
  let { known: manifest } = begun;
  let { generation } = manifest;
  let state = opened;
  /** The result of edits that is not on disk yet. */
  let made: Made | undefined;
  /** The sources of the latest edit. */
  let latest = opened.sources;
  const mentions = createMentions(latest.length, (file) => latest[file]!.facts);
  const surfaces = new Map<number, Surface>();
  /** The structure before the latest edit. Its memory can be reused, as nobody reads a graph that is two edits old. */
  let spare: Laid | undefined;

  function resolveEdit(edited: readonly { path: string; facts: Uint8Array }[], look: Look) {
    const facts = new Map(edited.map(({ path, facts }) => [path, facts]));
    const changed: number[] = [];
    const sources = state.sources.map((source, row) => {
      const packed = facts.get(source.path);
      if (!packed) return source;
      changed.push(row);
      return sourceOf(source.path, packed);
    });
    if (!sources.every((source) => source !== undefined)) return undefined;
    const input = {
      files: sources,
      configs: look.walk.configs,
      readConfig: createConfigReader(root),
      symbolsNamed: symbolsNamedBy({ graph: state.named, first: state.laid.first, sources, changed }),
    };
    const resolution = new Resolution(input, state.resolution);
    latest = sources;
    for (const file of changed) mentions.edit(file);
    // Surfaces are kept for the next edit of the same files, unless there are too many.
    if (surfaces.size > MAX_SURFACES) surfaces.clear();
    const affected = affectedFiles({
      before: state.resolution.engine,
      after: resolution.engine,
      changed,
      mentions,
      surfaces,
    });
    if (!affected || affected.size > limits.affected) return undefined;
    return { sources, resolution, affected, changed };
  }

  /**
   * Adds the edges of all files: new ones for files that the edit can have affected, copies of the earlier ones for the
   * others.
   */
  async function addFound(
    patched: Patched,
    resolution: Resolution,
    affected: ReadonlySet<number>,
    files: readonly CachedFile[],
  ) {
    const { builder, symbolNodes, moved, repo } = patched;
    const isAnyExact = references.files.size > 0;
    const hashes = new Map(isAnyExact ? files.map(({ path, hash }) => [path, hash]) : []);
    const hashOf = (path: string) => hashes.get(path) ?? "";
    const exactEdgesOf = createExactEdges({ repo, builder, symbolNodes, references, hashOf });
    const { leadsNowhere, copy } = foundCopier(state.laid, moved, builder);
    const turn = takeTurns();
    let copied = 0;
    for (let file = 0; file < repo.files.length; file++) {
      const isAffected = affected.has(file) || leadsNowhere(file);
      if (!isAffected && file - copied < COPIED_AT_ONCE) continue;
      copy(copied, file);
      copied = isAffected ? file + 1 : file;
      if (isAffected) addFoundEdges(builder, resolution.edgesOf(file), symbolNodes, exactEdgesOf(file));
      await turn();
    }
    copy(copied, repo.files.length);
  }

  return {
    get generation() {
      return generation;
    },
    get manifest() {
      return manifest;
    },
    get isAhead() {
      return made !== undefined;
    },
    async edit(look, commit, before, grammars, started = performance.now()) {
      const found = await editedFiles(root, state, look, grammars, limits);
      const next = found && resolveEdit(found.edited, look);
      if (!next) return undefined;
      const { files, edited } = found;
      const { sources, resolution, affected, changed } = next;
      const patched = patchStructure(state.laid, resolution.repo, changed, before, spare);
      spare = undefined;
      const tangled = manifest.failed.map(({ path }) => path);
      const isTangled = new Set(tangled);
      const again = new Set([...affected, ...sources.flatMap(({ path }, row) => (isTangled.has(path) ? [row] : []))]);
      await addFound(patched, resolution, again, files);
      const joined = joinDeclarations(patched.builder);
      const isJoined = joined !== patched.builder;
      const groups = isJoined ? findGroups(joined.finish()) : movedGroups(before, patched.moved);
      const graph = finishWith(joined, groups);
      const kept = isJoined ? undefined : keptNodes(state.laid.first, patched.first, changed);
      spare = state.laid;
      state = { files, sources, resolution, laid: patched, named: isJoined ? patched.builder.finish() : graph, look };
      made = {
        graph,
        files,
        sources,
        unread: unreadOf(sources),
        look,
        commit,
        started,
        references,
        tangled: [],
        groups: isJoined ? groups : undefined,
      };
      manifest = { ...manifest, ...manifestOf(made) };
      return {
        graph,
        manifest,
        parsed: edited.length,
        kept,
      };
    },
    settleGroups() {
      if (!made || made.groups) return undefined;
      const { builder } = state.laid;
      const groups = findGroups(builder.finish());
      made = { ...made, groups, graph: finishWith(builder, groups) };
      return made.graph;
    },
    keys: () => keyIndexOf(state.sources.map(keysOf), state.look.walk.settings),
    write() {
      if (!made) return manifest;
      const { builder } = state.laid;
      const found = joinDeclarations(builder) === builder ? undefined : builder.foundEdges();
      manifest = writeGeneration(store, { ...made, found });
      generation = manifest.generation;
      made = undefined;
      // The stored facts have moved to the new generation. What was read of the files stays in memory.
      const written = readFactCache(store.current()?.folder);
      const files = state.files.map((file) => storedAs(file, written.files.get(file.path)));
      state = { ...state, files };
      return manifest;
    },
  };
}

const keysOf = ({ path, facts }: SourceFile) => ({ path, keys: facts.keys });

function storedAs({ stored: _, ...file }: CachedFile, written: CachedFile | undefined): CachedFile {
  return written?.stored ? Object.assign(file, { stored: written.stored }) : file;
}

/** Copies the edges of unaffected files. It also tells which files have edges to nodes that are gone. */
function foundCopier({ builder: old }: Laid, moved: Int32Array, builder: GraphBuilder) {
  const { type, from, to } = old.edges;
  const isAnyGone = moved.includes(-1);
  const startOf = (file: number) => old.found[file] ?? type.length;
  return {
    leadsNowhere(file: number): boolean {
      if (!isAnyGone) return false;
      const [froms, tos] = [from.view, to.view];
      for (let edge = startOf(file); edge < startOf(file + 1); edge++)
        if (moved[froms[edge]!]! < 0 || moved[tos[edge]!]! < 0) return true;
      return false;
    },
    /** Copies the edges of files `first` … `end - 1`. */
    copy(first: number, end: number): void {
      const [at, until] = [startOf(first), startOf(end)];
      const by = builder.edges.type.length - at;
      for (let file = first; file < end; file++) builder.found.push(startOf(file) + by);
      for (const name of ["type", "reason", "line"] as const)
        builder.edges[name].append(old.edges[name].view.subarray(at, until));
      for (const name of ["from", "to"] as const)
        builder.edges[name].appendAt(old.edges[name].view.subarray(at, until), moved);
    },
  };
}

/**
 * The clusters and flows without nodes that are gone. New nodes are in none of them. A flow that lost a step is left
 * out.
 */
function movedGroups({ communities, processes }: CodeGraph, moved: Int32Array): Groups {
  const moveRows = (rows: readonly number[]): number[] => {
    const left: number[] = [];
    for (const row of rows) {
      const now = moved[row] ?? -1;
      if (now >= 0) left.push(now);
    }
    return left;
  };
  return {
    communities: communities
      .map((one) => ({ ...one, members: moveRows(one.members) }))
      .filter(({ members }) => members.length > 0),
    processes: processes.flatMap((one) => {
      const steps = moveRows(one.steps);
      return steps.length === one.steps.length ? [{ ...one, steps }] : [];
    }),
  };
}

/**
 * @param before the first symbol row of each file before the edit
 * @param now the first symbol row of each file after it
 */
function keptNodes(before: Int32Array, now: Int32Array, changed: readonly number[]): KeptNodes {
  const stretches: { end: number; by: number | undefined }[] = [];
  const fresh: number[] = [];
  const stretchTo = (file: number) => stretches.push({ end: before[file]!, by: now[file]! - before[file]! });
  for (const file of changed) {
    stretchTo(file);
    stretches.push({ end: before[file + 1]!, by: undefined });
    for (let row = now[file]!; row < now[file + 1]!; row++) fresh.push(row);
  }
  stretchTo(before.length - 1);
  return { moved: MovedRows.of(stretches), fresh };
}
