/** An index job that also takes in a SCIP index that was put beside the graph, and uses what earlier ones said. */
import { readFileSync, rmSync, statSync } from "node:fs";
import { GraphError } from "../graph-error.ts";
import { type IndexOptions, type IndexReport, indexRepository } from "../index/indexer.ts";
import { openSources } from "../index/source-files.ts";
import { readFactCache } from "../store/fact-cache.ts";
import type { GraphStore } from "../store/graph-store.ts";
import { unpackGraph } from "../store/snapshot.ts";
import { incomingScip, writeExactReferences } from "./exact-references.ts";
import { matchScip, type ScipReport } from "./match-scip.ts";
import { ScipError } from "./read-scip.ts";
import { offerSetUp, setUpError } from "./set-up.ts";

/** Larger SCIP indexes are refused. */
const MAX_SCIP_BYTES = 512 * 1024 * 1024;

export interface ScipIndexReport extends IndexReport {
  /** What a SCIP index brought that this job took in. */
  scip?: ScipReport;
  /** Why the SCIP index that the set-up names is not in use. */
  scipError?: string;
}

/**
 * Brings the graph up to date; where a SCIP index waits beside it, matches that with the graph, removes it, and resolves
 * again.
 * @param setUp path of a SCIP index in the repository, which is taken in when it is a new one. One that cannot be used is
 * noted in the report.
 * @throws GraphError when one that a person sent cannot be used: it is removed, and the graph stands without it.
 */
export async function indexWithScip(options: IndexOptions, setUp?: string): Promise<ScipIndexReport> {
  const { folder } = options.store;
  // It makes the folder, unless the graph was removed meanwhile.
  const report = await indexRepository(options);
  const failed = offerSetUp(options.root, folder, setUp);
  const scip = takeIn(options.root, options.store, failed);
  const scipError = setUpError(folder);
  if (!scip) return { ...report, ...(scipError === undefined ? {} : { scipError }) };
  const again = await indexRepository({ ...options, force: false });
  return { ...again, parsed: report.parsed, changed: report.changed || again.changed, scip };
}

/** @param failed notes why the index could not be used, instead of throwing it */
function takeIn(root: string, store: GraphStore, failed?: (error: string) => void): ScipReport | undefined {
  const path = incomingScip(store.folder);
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) return undefined;
  try {
    if (size > MAX_SCIP_BYTES) throw new ScipError(`it is larger than ${MAX_SCIP_BYTES / 1024 / 1024} MiB`);
    const [snapshot, current] = [store.snapshot(), store.current()];
    const graph = snapshot && unpackGraph(snapshot);
    if (!graph || !current) throw new ScipError("the folder has no graph yet");
    using sources = openSources(root);
    const { files } = readFactCache(current.folder);
    const found = matchScip(readFileSync(path), { graph, files, readText: sources.text });
    if (found.files.length === 0) throw new ScipError(nothingFits(found.report));
    writeExactReferences(store.folder, found.files);
    return found.report;
  } catch (error) {
    if (!(error instanceof ScipError)) throw error;
    if (failed) return void failed(error.message);
    throw new GraphError("invalid", `the SCIP index cannot be used: ${error.message}`);
  } finally {
    rmSync(path, { force: true });
  }
}

function nothingFits({ stale, stale_count }: ScipReport): string {
  if (stale_count === 0) return "it names no file of the folder";
  return `none of its ${stale_count} documents fits a file as it is now, such as ${stale[0]}; make it again from these sources`;
}
