/** `skep graph import-scip`: imports a compiler's SCIP index of calls into the graph of a folder. */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { badUsage, Problem } from "../core/errors.ts";
import { putScip, removeExactReferences } from "../graph/scip/exact-references.ts";
import { type Common, clientOf, placeOf, print, withCommon, wrapAction } from "./graph-command.ts";
import { assertPath } from "./read-input.ts";
import { formatCount } from "./terminal/table.ts";

/** How many stale documents are named. */
const MAX_NAMED = 5;

/** Adds `import-scip` to the `graph` commands. */
export function scipCommand(graph: Command): void {
  withCommon(
    graph.command("import-scip").description("import the exact calls that a compiler knows, from a SCIP index"),
  )
    .argument("[file]", "SCIP index to import, such as index.scip; leave out with --forget")
    .argument("[path]", "repository or folder that the index was made from (default: the current folder)")
    .option("--forget", "remove all SCIP indexes of the folder instead")
    .action(
      wrapAction(
        async (first: string | undefined, second: string | undefined, options: Common & { forget?: boolean }) => {
          const [file, path = "."] = options.forget ? [undefined, first] : [first, second];
          if (file === undefined && !options.forget) throw badUsage("Name the SCIP index, or give --forget.");
          const place = placeOf(path, options);
          if (file === undefined) removeExactReferences(place.store);
          else await putScip(place.store, requireFile(file));
          const client = clientOf(options);
          const { scip, manifest } = await client.project(place).index({ force: false, prepare: false });
          await client.close();
          if (options.json) return print(JSON.stringify({ ...(scip ? { scip } : {}), exact: manifest.exact }));
          if (!scip) return print("no calls of SCIP indexes any more");
          await print(
            `${formatCount(scip.calls, "call")} of ${formatCount(scip.files, "file")} ${scip.calls === 1 ? "is" : "are"} exact now`,
          );
          if (scip.stale_count > 0) await print(staleText(scip.stale, scip.stale_count));
        },
      ),
    );
}

function requireFile(file: string): string {
  assertPath(file);
  const path = resolve(file);
  if (existsSync(path) && statSync(path).isFile()) return path;
  throw new Problem(404, "bad_usage", `There is no file ${path}.`);
}

function staleText(stale: readonly string[], count: number): string {
  const named = stale.slice(0, MAX_NAMED).join(", ");
  return `left out: ${count} documents do not fit their file as it is now: ${named}${count > MAX_NAMED ? ", …" : ""}`;
}
