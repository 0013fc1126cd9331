/**
 * A repository and its graph, opened for questions and indexing. The session switches to a new generation by itself. It
 * keeps only data that can be read again.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import { messageOf } from "../../core/errors.ts";
import type { CodeGraph } from "../code-graph.ts";
import { GraphError } from "../graph-error.ts";
import { structureOfTexts, structureOnDisk } from "../index/file-structure.ts";
import type { GitPlace } from "../index/git.ts";
import type { PhaseReport } from "../index/phases.ts";
import { createLooker } from "../index/quick-look.ts";
import { openSources } from "../index/source-files.ts";
import { sourceLines } from "../index/source-lines.ts";
import { createGrammars, type Grammars } from "../language/grammar.ts";
import type { EdgeType, NodeLabel } from "../model.ts";
import { type AskAnswer, type AskOptions, ask } from "../query/ask/ask.ts";
import { type Changes, changesOf } from "../query/changes.ts";
import { type ContextAnswer, contextOf, type RelatedAnswer, type Relation, relatedOf } from "../query/context.ts";
import { explainFailure } from "../query/cypher-failure.ts";
import { findRefusal } from "../query/cypher-guard.ts";
import { type GraphColumns, type GraphColumnsOptions, graphColumns } from "../query/graph-columns.ts";
import { type GraphData, type GraphDataOptions, graphData } from "../query/graph-data.ts";
import {
  type CommunityDetail,
  communityDetails,
  type ProcessDetail,
  processDetails,
  type Window,
  type Windowed,
} from "../query/groups.ts";
import { type ImpactAnswer, type ImpactOptions, impactOf } from "../query/impact.ts";
import { type SearchAnswer, type SearchOptions, searchGraph } from "../query/search.ts";
import { setUpError } from "../scip/set-up.ts";
import { indexWithScip, type ScipIndexReport } from "../scip/take-in.ts";
import { createGraphStore, type Manifest } from "../store/graph-store.ts";
import { readKeyIndex } from "../store/key-index.ts";
import { type KuzuReader, openKuzu, writeKuzu } from "../store/kuzu.ts";
import { createGraphReader } from "./graph-reader.ts";
import { createLiveGraph, lookWithCommit } from "./live-graph.ts";
import { createLiveSlot, type LiveSlot } from "./live-slot.ts";

/** A repository, and the folder in which its graph is kept. */
export interface GraphPlace extends GitPlace {
  /** Folder of the graph. */
  store: string;
}

export interface GraphStatus {
  state: "not_indexed" | "ready" | "stale";
  nodes: number;
  relationships: number;
  by_label: Record<string, number>;
  by_type: Record<string, number>;
  communities: number;
  processes: number;
  files: number;
  skipped: Manifest["skipped"];
  /** How many files were skipped. `skipped` names the first of them. */
  skipped_count: number;
  failed: Manifest["failed"];
  /** Lines that a parser could not read. Symbols in them may be missing. */
  unread: Manifest["unread"];
  /** How many files and edges come from a SCIP index, and why the set-up's index is not used. */
  exact: Manifest["exact"] & { error?: string };
  languages: Record<string, number>;
  /** ISO time. */
  indexed_at?: string;
  /** The commit of the index (`commit`), and that of the working tree now (`head`). */
  commit?: string;
  head?: string;
  /** True if files differ from the index. */
  dirty: boolean;
  duration_ms?: number;
}

export interface CypherAnswer {
  columns: string[];
  rows: unknown[][];
  truncated: boolean;
  duration_ms: number;
}

export interface GraphSession {
  index(options: {
    force: boolean;
    progress?: (phases: readonly PhaseReport[]) => void;
    signal?: AbortSignal;
    /** Folder of another graph of the same sources. The index starts from it if there is no graph yet. */
    seed?: string | undefined;
    /** Path in the sources of a SCIP index to import, from the set-up. */
    scip?: string | undefined;
  }): Promise<ScipIndexReport>;
  /**
   * Applies an edit of a few files to the graph that answers. Its new clusters and flows are found when they are asked
   * for.
   * @param looked the last `status` found the edit, so that files are not looked at again
   * @returns undefined if a whole index is needed
   */
  edit(looked: boolean): Promise<ScipIndexReport | undefined>;
  /**
   * Prepares for an edit in the background, if the last `status` found none and no other session is prepared for one.
   */
  expectEdit(): void;
  /** Writes edits that are only in memory to disk. */
  write(): void;
  status(): Promise<GraphStatus>;
  query(options: SearchOptions): SearchAnswer;
  /** @param limit the most neighbors in each list */
  context(symbol: string, filePath?: string, limit?: number): ContextAnswer;
  /** A part of one of the lists in `context`. */
  related(symbol: string, relation: Relation, window: Window, filePath?: string): RelatedAnswer;
  impact(options: ImpactOptions): ImpactAnswer;
  /** Answers a question about several symbols or the graph as a whole. @throws GraphError if the subject is missing */
  ask(options: AskOptions): AskAnswer;
  changes(base?: string): Promise<Changes>;
  cypher(query: string, params: Readonly<Record<string, unknown>>, limit: number): Promise<CypherAnswer>;
  graphData(options: GraphDataOptions): GraphData;
  /** @throws GraphError if the focus names no symbol or several */
  graphColumns(options: GraphColumnsOptions): GraphColumns;
  communities(window: Window): Windowed<CommunityDetail>;
  processes(window: Window, symbol?: string): Windowed<ProcessDetail>;
  /** The graph itself, for exports. It must be read before a second edit follows. Throws if there is no graph. */
  graph(): CodeGraph;
  /** Makes the Kuzu database of the current graph, unless it exists. */
  prepareCypher(): void;
  /** Opens a new generation in short steps, while the generation before answers. */
  warm(): Promise<void>;
  close(): void;
}

const CYPHER_TIMEOUT_MS = 10_000;
const MAX_ROWS = 1_000;

/** @param slot shared by all sessions of the process */
export function createGraphSession(place: GraphPlace, slot: LiveSlot = createLiveSlot()): GraphSession {
  const { root } = place;
  const store = createGraphStore(place.store);
  const reader = createGraphReader(store);
  const openGraph = () => reader.open().graph;
  /** The graph with up-to-date clusters and flows. */
  const settleGraph = () => {
    live.settleGroups();
    return openGraph();
  };
  let loaded: Promise<Grammars> | undefined;
  const loadGrammars = () => {
    loaded ??= createGrammars();
    return loaded;
  };
  const looker = createLooker(place, place.store);
  const live = createLiveGraph({ place, store, reader, looker, loadGrammars, slot });
  let kuzu: { generation: number; reader: KuzuReader } | undefined;

  const readLines = (path: string, from: number, to: number) => sourceLines(root, path, from, to);

  const unreadOf = (path: string) => {
    const found = live.manifest()?.unread.worst.find((file) => file.path === path);
    return found ? { lines: found.lines, of: found.of } : null;
  };

  const loadKeys = () => {
    const current = store.current();
    const found = live.keys() ?? (current && readKeyIndex(current.folder));
    if (!found) throw new GraphError("not_indexed", "the index of keys cannot be read: index again");
    return found;
  };

  /** The path of the current generation's database. It is made if it does not exist. */
  function cypherPath(): { generation: number; path: string } {
    live.write();
    const [manifest, files] = [store.readManifest(), store.current()];
    // If the database exists, the graph itself need not be opened.
    if (manifest && files && existsSync(files.kuzu)) return { generation: manifest.generation, path: files.kuzu };
    const { generation, graph, kuzuPath } = reader.open();
    const aside = `${kuzuPath}.${process.pid}`;
    try {
      rmSync(aside, { recursive: true, force: true });
      writeKuzu(aside, graph);
      if (!existsSync(kuzuPath)) renameSync(aside, kuzuPath);
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
    return { generation, path: kuzuPath };
  }

  function kuzuNow(): KuzuReader {
    const { generation, path } = cypherPath();
    if (kuzu?.generation !== generation) kuzu = { generation, reader: openKuzu(path, CYPHER_TIMEOUT_MS) };
    return kuzu.reader;
  }

  return {
    index({ force, progress, signal, seed, scip }) {
      if (seed !== undefined) store.seedFrom(seed);
      return indexWithScip({ ...place, store, force, progress, signal }, scip);
    },
    edit: (looked) => live.edit(looked),
    expectEdit: () => live.expectEdit(),
    write: () => live.write(),
    async status() {
      if (!live.manifest()) return emptyStatus();
      const { look, commit: head } = await lookWithCommit(place, looker);
      live.keepLook(look, head);
      // Read after the look, as an index job may have ended meanwhile.
      const manifest = live.manifest();
      if (!manifest) return emptyStatus();
      const dirty = look.fingerprint !== manifest.fingerprint;
      const error = setUpError(place.store);
      const status = statusOf(manifest, head, dirty);
      return error === undefined ? status : { ...status, exact: { ...status.exact, error } };
    },
    query: (options) => {
      const { graph, words } = reader.open();
      return searchGraph(graph, words.now(), options, readLines);
    },
    context: (symbol, filePath, limit) => contextOf(openGraph(), symbol, { filePath, limit }, readLines, unreadOf),
    related: (symbol, relation, window, filePath) => relatedOf(openGraph(), symbol, relation, window, filePath),
    impact: (options) => impactOf(openGraph(), options),
    ask(options) {
      const { graph, words } = reader.open();
      using sources = openSources(root);
      try {
        const readText = (path: string) => sources.text(path) ?? "";
        return ask({ graph, words: words.now(), loadKeys, readText }, options);
      } catch (error) {
        throw error instanceof RangeError ? new GraphError("invalid", error.message) : error;
      }
    },
    async changes(base) {
      // Throws if there is no graph.
      openGraph();
      const loaded = await loadGrammars();
      const parseNow = (paths: readonly string[]) => structureOnDisk(root, paths, loaded);
      const parseBefore = (texts: ReadonlyMap<string, string>) => structureOfTexts(texts, loaded);
      const changes = await changesOf(openGraph, { place, folder: place.store, parseNow, parseBefore }, base);
      if (!changes) throw new GraphError("no_repository", "the project is not a git repository");
      return changes;
    },
    async cypher(query, params, limit) {
      const refused = findRefusal(query);
      if (refused) throw new GraphError("invalid", refused);
      const reading = kuzuNow();
      const started = performance.now();
      try {
        const answer = await reading.query(query, params, Math.min(limit, MAX_ROWS));
        return {
          ...answer,
          rows: answer.rows.map((row) => row.map(plainValue)),
          duration_ms: Math.round(performance.now() - started),
        };
      } catch (error) {
        throw new GraphError("invalid", explainFailure(messageOf(error)));
      }
    },
    graphData: (options) => graphData(settleGraph(), options),
    graphColumns: (options) => graphColumns(settleGraph(), options),
    communities: (window) => communityDetails(settleGraph(), window),
    processes: (window, symbol) => processDetails(settleGraph(), window, symbol),
    graph: settleGraph,
    prepareCypher: () => void cypherPath(),
    async warm() {
      await reader.warm();
    },
    close() {
      live.drop();
      looker.forget();
      reader.close();
    },
  };
}

function emptyStatus(): GraphStatus {
  return {
    state: "not_indexed",
    nodes: 0,
    relationships: 0,
    by_label: {},
    by_type: {},
    communities: 0,
    processes: 0,
    files: 0,
    skipped: [],
    skipped_count: 0,
    failed: [],
    unread: { files: 0, lines: 0, share: 0, worst: [] },
    exact: { files: 0, calls: 0 },
    languages: {},
    dirty: false,
  };
}

function statusOf(manifest: Manifest, head: string, dirty: boolean): GraphStatus {
  return {
    state: dirty || head !== manifest.commit ? "stale" : "ready",
    nodes: manifest.nodes,
    relationships: manifest.relationships,
    by_label: manifest.byLabel,
    by_type: manifest.byType,
    communities: manifest.communities,
    processes: manifest.processes,
    files: manifest.files,
    skipped: manifest.skipped,
    skipped_count: manifest.skippedCount,
    failed: manifest.failed,
    unread: manifest.unread,
    exact: manifest.exact,
    languages: manifest.languages,
    indexed_at: new Date(manifest.indexedAt).toISOString(),
    ...(manifest.commit ? { commit: manifest.commit } : {}),
    ...(head ? { head } : {}),
    dirty,
    duration_ms: manifest.durationMs,
  };
}

/** Converts a value of the graph database into one that JSON can represent. */
function plainValue(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainValue(member)]));
}

export type { EdgeType, NodeLabel };
