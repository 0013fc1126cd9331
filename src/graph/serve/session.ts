/**
 * One repository and its graph, opened for questions and indexing. Switches to a new generation by itself; keeps only
 * what can be read again.
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
import { refusal } from "../query/cypher-guard.ts";
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

/** A repository and where its graph is kept. */
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
  /** How many were skipped, named or not. */
  skipped_count: number;
  failed: Manifest["failed"];
  /** Lines that a parser could not read: what stands there may be missing. */
  unread: Manifest["unread"];
  /** Files whose calls a compiler knows, by a SCIP index, and how many edges come from it. */
  exact: Manifest["exact"] & { error?: string };
  languages: Record<string, number>;
  /** ISO time. */
  indexed_at?: string;
  /** Commit of the index, and of the working tree now. */
  commit?: string;
  head?: string;
  /** True when files differ from what was indexed. */
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
    /** Folder of another graph of the same sources, to start from when there is none yet. */
    seed?: string | undefined;
    /** Path in the sources of a SCIP index to take in, from the set-up. */
    scip?: string | undefined;
  }): Promise<ScipIndexReport>;
  /**
   * Takes an edit of a few files into the graph that answers. Its clusters and flows follow when they are asked for.
   * @param looked the last `status` found it: files are not looked at again
   * @returns undefined where an index is needed
   */
  edit(looked: boolean): Promise<ScipIndexReport | undefined>;
  /** Gets ready for an edit while nobody waits, where the last `status` found none and no other session is ready for one. */
  expectEdit(): void;
  /** Writes to disk what edits made. */
  write(): void;
  status(): Promise<GraphStatus>;
  query(options: SearchOptions): SearchAnswer;
  /** @param limit neighbours in each list */
  context(symbol: string, filePath?: string, limit?: number): ContextAnswer;
  /** A part of one of the context's lists. */
  related(symbol: string, relation: Relation, window: Window, filePath?: string): RelatedAnswer;
  impact(options: ImpactOptions): ImpactAnswer;
  /** A question about the graph as a whole, or about several symbols. @throws GraphError when its subject is missing. */
  ask(options: AskOptions): AskAnswer;
  changes(base?: string): Promise<Changes>;
  cypher(query: string, params: Readonly<Record<string, unknown>>, limit: number): Promise<CypherAnswer>;
  graphData(options: GraphDataOptions): GraphData;
  /** @throws GraphError for a focus that names none or several. */
  graphColumns(options: GraphColumnsOptions): GraphColumns;
  communities(window: Window): Windowed<CommunityDetail>;
  processes(window: Window, symbol?: string): Windowed<ProcessDetail>;
  /** The graph itself, for exports; to be read before a second edit follows. Throws when there is none. */
  graph(): CodeGraph;
  /** Makes the Kuzu database of the current graph if it is missing. */
  prepareCypher(): void;
  /** Opens a new generation in short steps, while the one before answers. */
  warm(): Promise<void>;
  close(): void;
}

const CYPHER_TIMEOUT_MS = 10_000;
const MAX_ROWS = 1_000;

/** @param slot of all sessions of the process */
export function createGraphSession(place: GraphPlace, slot: LiveSlot = createLiveSlot()): GraphSession {
  const { root } = place;
  const store = createGraphStore(place.store);
  const reader = createGraphReader(store);
  const graph = () => reader.open().graph;
  /** With the clusters and flows that it has now. */
  const settled = () => {
    live.settleGroups();
    return graph();
  };
  let loaded: Promise<Grammars> | undefined;
  const grammars = () => {
    loaded ??= createGrammars();
    return loaded;
  };
  const looker = createLooker(place, place.store);
  const live = createLiveGraph({ place, store, reader, looker, grammars, slot });
  let kuzu: { generation: number; reader: KuzuReader } | undefined;

  const readLines = (path: string, from: number, to: number) => sourceLines(root, path, from, to);

  const unreadOf = (path: string) => {
    const found = live.manifest()?.unread.worst.find((file) => file.path === path);
    return found ? { lines: found.lines, of: found.of } : null;
  };

  const keys = () => {
    const current = store.current();
    const found = live.keys() ?? (current && readKeyIndex(current.folder));
    if (!found) throw new GraphError("not_indexed", "the index of keys cannot be read: index again");
    return found;
  };

  /** The database of the current generation, made when it is missing. */
  function cypherPath(): { generation: number; path: string } {
    live.write();
    const [manifest, files] = [store.manifest(), store.current()];
    // The graph itself is not opened where its database is there already.
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
      // As it is after the look: an index may have ended meanwhile.
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
    context: (symbol, filePath, limit) => contextOf(graph(), symbol, { filePath, limit }, readLines, unreadOf),
    related: (symbol, relation, window, filePath) => relatedOf(graph(), symbol, relation, window, filePath),
    impact: (options) => impactOf(graph(), options),
    ask(options) {
      const { graph, words } = reader.open();
      using sources = openSources(root);
      try {
        const readText = (path: string) => sources.text(path) ?? "";
        return ask({ graph, words: words.now(), keys, readText }, options);
      } catch (error) {
        throw error instanceof RangeError ? new GraphError("invalid", error.message) : error;
      }
    },
    async changes(base) {
      // Throws where there is none.
      graph();
      const loaded = await grammars();
      const now = (paths: readonly string[]) => structureOnDisk(root, paths, loaded);
      const before = (texts: ReadonlyMap<string, string>) => structureOfTexts(texts, loaded);
      const changes = await changesOf(graph, { place, folder: place.store, now, before }, base);
      if (!changes) throw new GraphError("no_repository", "the project is not a git repository");
      return changes;
    },
    async cypher(query, params, limit) {
      const refused = refusal(query);
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
    graphData: (options) => graphData(settled(), options),
    graphColumns: (options) => graphColumns(settled(), options),
    communities: (window) => communityDetails(settled(), window),
    processes: (window, symbol) => processDetails(settled(), window, symbol),
    graph: settled,
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

/** A value of the graph database as JSON can hold it. */
function plainValue(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainValue(member)]));
}

export type { EdgeType, NodeLabel };
