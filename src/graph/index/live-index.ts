/**
 * An index that is kept in the memory of the process that answers, so that an edit of a few files does not load everything
 * again: facts, structure and the edges found in each file. What it makes of an edit equals a whole index. It is a
 * cache: where an edit is more than it can take, a whole index is made, and the live one anew.
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
  /** Facts of more bytes are not kept: with what is made of them, they take about five times that. */
  factBytes: number;
  /** When more files must be resolved again, a process of its own does it. */
  affected: number;
}

/** Of an index beside the questions. */
const ANSWERING: Limits = { factBytes: 200 * 1024 * 1024, edited: 50, affected: 300 };
/** Of one in a process of its own. */
export const ALONE: Limits = { factBytes: Infinity, edited: Infinity, affected: Infinity };
/** Between copies of the edges of so many files, others get their turn. */
const COPIED_AT_ONCE = 500;
/** The surfaces of more files are not kept. */
const MAX_SURFACES = 200;

interface LiveEdit {
  graph: CodeGraph;
  manifest: Manifest;
  parsed: number;
  /** Which nodes of the graph before did not change in any way. Undefined where rows cannot be compared. */
  kept: KeptNodes | undefined;
}

export interface LiveIndex {
  /** The generation on disk that it goes on from; any other makes it worthless. */
  readonly generation: number;
  readonly manifest: Manifest;
  /** Whether the disk lacks what it holds. */
  readonly isAhead: boolean;
  /**
   * Takes an edit in. Clusters and flows of the graph are those of before, without what is gone: `settleGroups` finds them.
   * The memory of a graph is used again by the second edit after it.
   * @param before the graph as it was last given, or opened
   * @param started by `performance.now()`
   * @returns undefined where a whole index is needed; this one is then of no use any more
   */
  edit(
    look: Look,
    commit: string,
    before: CodeGraph,
    grammars: Grammars,
    started?: number,
  ): Promise<LiveEdit | undefined>;
  /** The graph with its clusters and flows; undefined where it has them. */
  settleGroups(): CodeGraph | undefined;
  keys(): KeyIndex;
  /** Writes it to disk as a generation; groups must be settled. */
  write(): Manifest;
}

/** What is known after an edit, and before the next. */
interface State {
  files: readonly CachedFile[];
  sources: readonly SourceFile[];
  resolution: Resolution;
  laid: Laid;
  /** A graph that has the symbols of `laid` as its nodes, in the same rows: it is asked for names. */
  named: CodeGraph;
  look: Look;
}

/** What an edit made, beyond that; until the first, the disk has it all. */
type Made = Indexed & Pick<State, "files" | "sources"> & { groups: Groups | undefined };

/**
 * @param graph of the current generation
 * @returns undefined when that generation cannot be read, is another one's, or is too large
 */
export async function openLiveIndex(
  root: string,
  store: GraphStore,
  look: Look,
  graph: CodeGraph,
  limits = ANSWERING,
): Promise<LiveIndex | undefined> {
  const [known, current] = [store.manifest(), store.current()];
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

/** Makes the structure again, and takes over from disk what resolution found. @returns undefined where that does not fit */
function layOutAgain(repo: Repository, store: GraphStore, graph: CodeGraph): Laid | undefined {
  const snapshot = store.snapshot();
  const laid = snapshot && layOut(repo, graph);
  return laid && takeEdges(laid, readFoundEdges(snapshot), repo.files.length) ? laid : undefined;
}

/** Takes over what was found; its rows are the same. @returns false where it does not fit */
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
  /** What the disk lacks. */
  let made: Made | undefined;
  /** As the latest edit has them. */
  let latest = opened.sources;
  const mentions = createMentions(latest.length, (file) => latest[file]!.facts);
  const surfaces = new Map<number, Surface>();
  /** Of the edit before the latest: nobody reads a graph that two edits have followed. */
  let spare: Laid | undefined;

  function resolved(edited: readonly { path: string; facts: Uint8Array }[], look: Look) {
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
    // What others see of few files is kept for their next edit.
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

  /** Edges of each file: those of before, and new ones where the edit can have changed them. */
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
      const next = found && resolved(found.edited, look);
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
      // Where they lie now. What was read of them stays in memory as it is.
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

/** Copies the edges of files that an edit leaves as they are, and tells of which files they lead to what is gone. */
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
    /** Of some files in a row. */
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

/** Clusters and flows without what is gone; nothing new is in one. */
function movedGroups({ communities, processes }: CodeGraph, moved: Int32Array): Groups {
  const still = (rows: readonly number[]): number[] => {
    const left: number[] = [];
    for (const row of rows) {
      const now = moved[row] ?? -1;
      if (now >= 0) left.push(now);
    }
    return left;
  };
  return {
    communities: communities
      .map((one) => ({ ...one, members: still(one.members) }))
      .filter(({ members }) => members.length > 0),
    processes: processes.flatMap((one) => {
      const steps = still(one.steps);
      return steps.length === one.steps.length ? [{ ...one, steps }] : [];
    }),
  };
}

/** @param before where the symbols of each file were. @param now and where they are */
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
