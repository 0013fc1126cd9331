/** An index job that also imports a SCIP index from beside the graph, and uses the references of earlier ones. */
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

/** Larger SCIP indexes are refused, bytes. */
const MAX_SCIP_BYTES = 512 * 1024 * 1024;

export interface ScipIndexReport extends IndexReport {
  /** The result of importing a SCIP index, if this job did. */
  scip?: ScipReport;
  /** Why the SCIP index that the set-up names is not used. */
  scipError?: string;
}

/**
 * Brings the graph up to date. If a SCIP index waits beside it, the index is matched with the graph and removed, and
 * the files are resolved again.
 * @param setUp path of a SCIP index in the repository. It is imported if it changed; if it cannot be used, the report
 * says why.
 * @throws GraphError if an index that a person sent cannot be used. It is removed, and the graph stays without it.
 */
export async function indexWithScip(options: IndexOptions, setUp?: string): Promise<ScipIndexReport> {
  const { folder } = options.store;
  // `indexRepository` also creates the folder, unless the graph was removed meanwhile.
  const report = await indexRepository(options);
  const failed = offerSetUp(options.root, folder, setUp);
  const scip = takeIn(options.root, options.store, failed);
  const scipError = setUpError(folder);
  if (!scip) return { ...report, ...(scipError === undefined ? {} : { scipError }) };
  const again = await indexRepository({ ...options, force: false });
  return { ...again, parsed: report.parsed, changed: report.changed || again.changed, scip };
}

/** @param onFailure if given, gets the reason why the index could not be used; otherwise the reason is thrown */
function takeIn(root: string, store: GraphStore, onFailure?: (error: string) => void): ScipReport | undefined {
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
    if (onFailure) return void onFailure(error.message);
    throw new GraphError("invalid", `the SCIP index cannot be used: ${error.message}`);
  } finally {
    rmSync(path, { force: true });
  }
}

function nothingFits({ stale, stale_count }: ScipReport): string {
  if (stale_count === 0) return "it names no file of the folder";
  return `none of its ${stale_count} documents fits a file as it is now, such as ${stale[0]}; make it again from these sources`;
}
