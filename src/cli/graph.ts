/** `skep graph …` and `skep mcp PATH`: the code graph of any folder, without a server. */
import { type Command, Option } from "commander";
import { badUsage } from "../core/errors.ts";
import { isObject } from "../core/is-object.ts";
import { jsonIn } from "../core/json-reader.ts";
import type { PhaseReport } from "../graph/index/phases.ts";
import { type ExportFormat, exportLines } from "../graph/serve/export.ts";
import { createFreshAnswers } from "../graph/serve/fresh-answers.ts";
import type { GraphStatus } from "../graph/serve/session.ts";
import { changesText, contextText, impactText, queryText } from "../graph/serve/tools.ts";
import {
  type Common,
  clientOf,
  createWholeParser,
  leave,
  open,
  placeOf,
  print,
  printFound,
  TERMINAL_BYTES,
  withCommon,
  wrapAction,
} from "./graph-command.ts";
import { wholeQuestions } from "./graph-questions.ts";
import { scipCommand } from "./graph-scip.ts";
import { serveGraph } from "./mcp/serve.ts";
import { formatCount } from "./terminal/table.ts";

const MAX_NAMED_FAILURES = 20;

/** Adds the `graph` commands to a program. */
export function graphCommands(program: Command): void {
  const graph = program.command("graph").description("index the code of a folder as a graph, and ask the graph");
  indexCommand(graph);
  questionCommands(graph);
  wholeQuestions(graph);
  exportCommand(graph);
  scipCommand(graph);
}

/** `skep mcp PATH`. The first tool call waits for the index. Later changes are indexed while questions are answered. */
export async function serveFolder(path: string, options: Pick<Common, "store">): Promise<void> {
  const place = placeOf(path, options);
  const client = clientOf(options);
  const fresh = createFreshAnswers(client);
  // Start indexing before the first question. If indexing fails, that question answers with the failure.
  void fresh.update(place);
  await serveGraph((name, args) => fresh.tool(place, name, args));
  await client.close();
  leave(0);
}

function indexCommand(graph: Command): void {
  withCommon(graph.command("index").description("index a folder, or bring its index up to date"))
    .argument("[path]", "repository or folder", ".")
    .option("--force", "parse all files again")
    .action(
      wrapAction(async (path: string, options: Common & { force?: boolean }) => {
        const show = !options.json && process.stderr.isTTY ? createProgressBars() : undefined;
        const client = clientOf(options);
        const graph = client.project(placeOf(path, options));
        const report = await graph.index({ force: options.force === true, progress: show, prepare: false });
        await client.close();
        const { manifest } = report;
        const { files, skipped, skippedCount, failed, unread } = manifest;
        if (options.json) {
          const { phases, parsed, changed } = report;
          const named = { files, skipped, skipped_count: skippedCount, failed, unread };
          await print(JSON.stringify({ state: "succeeded", percent: 100, phases, parsed, changed, report: named }));
          return;
        }
        await print(
          report.changed
            ? `${formatCount(files, "file")} (${report.parsed} parsed), ${manifest.nodes} nodes, ${manifest.relationships} relationships, ${manifest.communities} communities, ${manifest.processes} processes in ${(manifest.durationMs / 1000).toFixed(1)} s`
            : `${formatCount(files, "file")}, nothing changed`,
        );
        for (const file of failed.slice(0, MAX_NAMED_FAILURES)) await print(`failed: ${file.path}: ${file.error}`);
        if (failed.length > MAX_NAMED_FAILURES) await print(`failed: ${failed.length - MAX_NAMED_FAILURES} more`);
        if (unread.files > 0) await print(unreadText(unread));
        if (skipped.length > 0)
          await print(
            `skipped: ${formatCount(skippedCount, "file")} (${[...new Set(skipped.map((file) => file.reason))].join(", ")})`,
          );
      }),
    );
}

const MAX_NAMED_UNREAD = 5;

function unreadText({ files, lines, share, worst }: GraphStatus["unread"]): string {
  const named = worst.slice(0, MAX_NAMED_UNREAD).map((file) => `${file.path} (${file.lines} of ${file.of})`);
  const more = files > named.length ? ", …" : "";
  return `not understood: ${lines} lines of ${files} files, ${(share * 100).toFixed(1)} % of all: ${named.join(", ")}${more}`;
}

const BAR_WIDTH = 24;

/** Progress bars: one line per phase, redrawn in place. */
function createProgressBars(): (phases: readonly PhaseReport[]) => void {
  let drawn = 0;
  return (phases) => {
    const lines = phases.map((phase) => {
      const filled = Math.round((phase.percent / 100) * BAR_WIDTH);
      const count = phase.total > 1 ? ` ${phase.done}/${phase.total}` : "";
      return `${phase.name.replaceAll("_", " ").padEnd(20)} ${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)} ${String(phase.percent).padStart(3)} %${count}\u001b[K`;
    });
    process.stderr.write(`${drawn > 0 ? `\u001b[${drawn}A` : ""}${lines.join("\n")}\n`);
    drawn = lines.length;
  };
}

function questionCommands(graph: Command): void {
  withCommon(graph.command("status").description("show what is indexed, and whether the index is up to date"))
    .argument("[path]", "repository or folder", ".")
    .action(
      wrapAction(async (path: string, options: Common) => {
        const status = await open(path, options).status();
        const counts = `${formatCount(status.files, "file")}, ${status.nodes} nodes, ${status.relationships} relationships`;
        await print(
          options.json
            ? JSON.stringify(status)
            : status.state === "not_indexed"
              ? `not indexed; index it with: skep graph index ${path}`
              : `${status.state}: ${counts}`,
        );
        if (!options.json && status.unread.files > 0) await print(unreadText(status.unread));
      }),
    );
  withCommon(graph.command("query").description("search the graph for symbols and flows"))
    .argument("<path>", "repository or folder")
    .argument("<words...>", "words to search for")
    .option("--limit <n>", "highest number of results, from 1 to 100", createWholeParser(1, 100), 10)
    .option("--code", "also print the first lines of each result")
    .action(
      wrapAction(async (path: string, words: string[], options: Common & { limit: number; code?: boolean }) => {
        const answer = open(path, options).query({
          query: words.join(" "),
          limit: options.limit,
          includeCode: options.code === true,
        });
        await print(options.json ? JSON.stringify(answer) : queryText(answer, TERMINAL_BYTES));
      }),
    );
  withCommon(graph.command("context").description("show the callers, callees, flows and cluster of a symbol"))
    .argument("<path>", "repository or folder")
    .argument("<symbol>", "name, qualified name or id of the symbol")
    .option("--file <path>", "file of the symbol, when several symbols have the name")
    .action(
      wrapAction(async (path: string, symbol: string, options: Common & { file?: string }) => {
        const answer = open(path, options).context(symbol, options.file);
        const text = contextText(answer, TERMINAL_BYTES);
        await printFound(answer, options, { json: ({ context }) => context, text });
      }),
    );
  impactCommand(graph);
  withCommon(graph.command("changes").description("show the symbols and flows that uncommitted changes touch"))
    .argument("[path]", "repository", ".")
    .option("--base <commit>", "compare with this commit instead of HEAD")
    .action(
      wrapAction(async (path: string, options: Common & { base?: string }) => {
        const changes = await open(path, options).changes(options.base);
        await print(options.json ? JSON.stringify(changes) : changesText(changes, TERMINAL_BYTES));
      }),
    );
  cypherCommand(graph);
}

function impactCommand(graph: Command): void {
  withCommon(graph.command("impact").description("show what a change of a symbol affects"))
    .argument("<path>", "repository or folder")
    .argument("<symbol>", "name, qualified name or id of the symbol")
    .addOption(
      new Option(
        "--direction <direction>",
        "upstream: what depends on the symbol; downstream: what the symbol depends on",
      )
        .choices(["upstream", "downstream"])
        .default("upstream"),
    )
    .option("--depth <n>", "how many steps to follow, from 1 to 10", createWholeParser(1, 10), 3)
    .option("--min-confidence <n>", "lowest confidence of an edge to follow, from 0 to 1", Number, 0)
    .option("--file <path>", "file of the symbol, when several symbols have the name")
    .action(
      wrapAction(
        async (
          path: string,
          symbol: string,
          options: Common & {
            direction: "upstream" | "downstream";
            depth: number;
            minConfidence: number;
            file?: string;
          },
        ) => {
          const answer = open(path, options).impact({
            target: symbol,
            direction: options.direction,
            maxDepth: options.depth,
            minConfidence: options.minConfidence,
            filePath: options.file,
          });
          const text = impactText(answer, TERMINAL_BYTES);
          await printFound(answer, options, { json: ({ impact }) => impact, text });
        },
      ),
    );
}

function cypherCommand(graph: Command): void {
  withCommon(graph.command("cypher").description("query the graph in Cypher; queries can only read"))
    .argument("<path>", "repository or folder")
    .argument("<query>", "query in Cypher")
    .option("--limit <n>", "highest number of rows, from 1 to 1000", createWholeParser(1, 1000), 100)
    .option("--params <json>", "parameters of the query, as a JSON object")
    .action(
      wrapAction(async (path: string, query: string, options: Common & { limit: number; params?: string }) => {
        const params = paramsOf(options.params);
        const answer = await open(path, options).cypher(query, params, options.limit);
        if (options.json) await print(JSON.stringify(answer));
        else {
          await print(answer.columns.join("\t"));
          for (const row of answer.rows)
            await print(
              row
                .map((cell) => (typeof cell === "object" && cell !== null ? JSON.stringify(cell) : String(cell)))
                .join("\t"),
            );
          if (answer.truncated) await print("… more rows left out");
        }
      }),
    );
}

function paramsOf(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  const params = jsonIn(text);
  if (isObject(params)) return params;
  throw badUsage("--params takes a JSON object.");
}

function exportCommand(graph: Command): void {
  graph
    .command("export")
    .description("write the whole graph to standard output")
    .argument("[path]", "repository or folder", ".")
    .addOption(new Option("--format <format>", "format of the output").choices(["jsonl", "graphml"]).default("jsonl"))
    .option("--store <dir>", "folder of the graph (default: in the user's cache folder)")
    .action(
      wrapAction(async (path: string, options: Common & { format: ExportFormat }) => {
        const session = open(path, options);
        if ((await session.status()).state === "not_indexed") await session.index({ force: false });
        let chunk: string[] = [];
        for (const line of exportLines(session.graph(), options.format)) {
          chunk.push(line);
          if (chunk.length < 2_000) continue;
          await print(chunk.join("\n"));
          chunk = [];
        }
        if (chunk.length > 0) await print(chunk.join("\n"));
      }),
    );
}
