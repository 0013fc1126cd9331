/** Makes the manifest of an index. */
import type { CodeGraph } from "../code-graph.ts";
import type { SourceFile } from "../resolve/repository.ts";
import type { ExactReferences } from "../scip/exact-references.ts";
import type { CachedFile } from "../store/fact-cache.ts";
import type { Manifest, Unread } from "../store/graph-store.ts";
import { countsOf, exactOf } from "./graph-counts.ts";
import type { Look } from "./look.ts";
import type { Walk } from "./walk.ts";

/** The fields of a file that the manifest needs. */
export type NotedFile = Pick<CachedFile, "path" | "hash" | "note">;

export interface Indexed {
  graph: CodeGraph;
  /** All files of the look. */
  files: readonly NotedFile[];
  unread: Unread;
  look: Look;
  commit: string;
  /** When the job began, by `performance.now()`. */
  started: number;
  references: ExactReferences;
  /** Paths of files whose edges could not be found. */
  tangled: readonly string[];
}

type Said = Omit<Manifest, "format" | "generation" | "checksum">;

export function manifestOf(indexed: Indexed): Said {
  const { graph, files, unread, look, commit, started, references, tangled } = indexed;
  return {
    ...countsOf(graph),
    indexedAt: Date.now(),
    durationMs: Math.round(performance.now() - started),
    commit,
    fingerprint: look.fingerprint,
    unread,
    exact: exactOf(graph, files, references),
    files: files.filter((file) => file.note === "").length,
    ...skippedOf(look.walk, files),
    failed: [
      ...files.flatMap(({ path, note }) => (note === "" || note === "generated" ? [] : [{ path, error: note }])),
      ...tangled.map((path) => ({ path, error: "its types and calls are too deeply entangled: it has no edges" })),
    ],
  };
}

/** The report names at most this many files with unread lines. Further ones are only counted. */
const MAX_UNREAD = 100;

/** Counts the lines that parsers could not read. */
export function unreadOf(sources: readonly SourceFile[]): Unread {
  const found: Unread["worst"] = [];
  let total = 0;
  for (const { path, facts } of sources) {
    total += facts.lines;
    if (facts.unread > 0) found.push({ path, lines: facts.unread, of: facts.lines });
  }
  found.sort((a, b) => b.lines - a.lines || (a.path < b.path ? -1 : 1));
  const lines = found.reduce((sum, file) => sum + file.lines, 0);
  const share = Math.round((lines / Math.max(1, total)) * 10_000) / 10_000;
  return { files: found.length, lines, share, worst: found.slice(0, MAX_UNREAD) };
}

/** The report names at most this many skipped files. Further ones are only counted. */
const MAX_SKIPPED = 1_000;

function skippedOf(walk: Walk, files: readonly NotedFile[]): Pick<Manifest, "skipped" | "skippedCount"> {
  const generated = files.filter((file) => file.note === "generated");
  const all = [...walk.skipped, ...generated.map(({ path }) => ({ path, reason: "generated" as const }))];
  return { skipped: all.slice(0, MAX_SKIPPED), skippedCount: all.length };
}
