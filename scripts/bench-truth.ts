/**
 * The quality of the graph's CALLS edges: recall and precision against the TypeScript compiler's own answer.
 *
 *   bun scripts/bench-truth.ts PATH [--misses N] [--false N] [--json] [--modules DIR]
 *
 * A call counts if the compiler resolves it to something that is declared in the repository and is a node of the graph.
 * An edge counts as false if the compiler resolves the call elsewhere. Calls that the compiler itself cannot resolve
 * are reported separately ("unjudged"). For `new C`, both the class and its constructor are right.
 */
import { join, resolve } from "node:path";
import { truthOf } from "./truth-score.ts";

interface Options {
  root: string;
  misses: number;
  falseEdges: number;
  json: boolean;
  /** Where to look for packages that the checkout imports but does not contain. */
  modules: string;
}

function parseOptions(argv: string[]): Options {
  const readNumber = (flag: string, fallback: number) => {
    const at = argv.indexOf(flag);
    return at < 0 ? fallback : Number(argv[at + 1]);
  };
  const root = argv.find((arg, i) => !arg.startsWith("--") && !/^--(misses|false|modules)$/.test(argv[i - 1] ?? ""));
  if (!root) throw new Error("usage: bench-truth PATH [--misses N] [--false N] [--json] [--modules DIR]");
  return {
    root: resolve(root),
    misses: readNumber("--misses", 30),
    falseEdges: readNumber("--false", 30),
    json: argv.includes("--json"),
    modules: argv.includes("--modules")
      ? resolve(argv[argv.indexOf("--modules") + 1]!)
      : join(import.meta.dir, "../node_modules"),
  };
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  const { score, lists } = await truthOf(options.root, options.modules);
  if (options.json) {
    console.log(JSON.stringify({ ...score, ...lists }, null, 1));
    return;
  }
  const sample = (list: string[], count: number) =>
    list.filter((_, i) => i % Math.max(1, Math.floor(list.length / Math.max(1, count))) === 0).slice(0, count);
  console.log(`missed (${lists.missed.length}):\n  ${sample(lists.missed, options.misses).join("\n  ")}`);
  console.log(`false (${lists.wrong.length}):\n  ${sample(lists.wrong, options.falseEdges).join("\n  ")}`);
  console.log(`not nodes (${lists.missing_nodes.length}):\n  ${sample(lists.missing_nodes, 10).join("\n  ")}`);
  console.log(JSON.stringify(score, null, 1));
}

if (import.meta.main) {
  await main();
}
