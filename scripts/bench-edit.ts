/**
 * The cost of an edit for a running graph server: a function is added to a file, and then the server is asked for it.
 * Measures the processor time of all its processes until the answer contains the function, and until the server has
 * nothing left to do.
 *
 *   scripts/bench edit [--rounds N] PATH…
 *
 * A PATH is a folder of sources, which is copied. The first round, in which the server loads what it then keeps, is
 * shown apart.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { skepCommand } from "../src/testing/server.ts";
import { median } from "./bench-figures.ts";
import { copyOf, editableFiles } from "./source-copy.ts";

/** A clock tick of the kernel's accounting, in ms. */
const TICK_MS = 10;
/** Remaining work after an answer begins within this time, and its pauses are shorter, in ms. */
const QUIET_MS = 5_000;
/** Fraction of a processor that an idle server uses. */
const IDLE_PART = 0.08;

interface Spent {
  /** Processor time in ms: until the answer (`answered`), and in total (`all`). */
  answered: number;
  all: number;
  /** Time until the answer, in ms. */
  waited: number;
  /** Resident memory at the answer, in MB. */
  megabytes: number;
}

interface Accounts {
  /** Process id of its parent. */
  parent: number;
  ticks: number;
  pages: number;
}

/** The kernel's accounting of a process, including the time of its ended children. */
function accountsOf(pid: string): Accounts | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const cells = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const ticks = cells.slice(11, 15).reduce((sum, one) => sum + one, 0);
    return { parent: cells[1] ?? 0, ticks, pages: cells[21] ?? 0 };
  } catch {
    return undefined;
  }
}

/** Processor time and memory of a process and all its descendants. */
function usedBy(root: number): { ms: number; megabytes: number } {
  const known = new Map<number, Accounts>();
  for (const name of readdirSync("/proc")) {
    const accounts = /^\d+$/.test(name) ? accountsOf(name) : undefined;
    if (accounts) known.set(Number(name), accounts);
  }
  const isOwn = (pid: number): boolean => pid === root || (pid > 1 && isOwn(known.get(pid)?.parent ?? 0));
  const own = [...known].filter(([pid]) => isOwn(pid)).map(([, one]) => one);
  const sum = (of: (one: Accounts) => number) => own.reduce((all, one) => all + of(one), 0);
  return { ms: sum(({ ticks }) => ticks) * TICK_MS, megabytes: (sum(({ pages }) => pages) * 4_096) / 1e6 };
}

/**
 * Waits until the server is idle. @returns the processor time that it had used when the quiet began, and by now, in ms.
 */
async function waitUntilIdle(pid: number): Promise<{ begun: number; now: number }> {
  for (let last = -1; ; await Bun.sleep(QUIET_MS)) {
    const { ms } = usedBy(pid);
    // An idle server still checks its timers and collects garbage.
    if (last >= 0 && ms - last <= IDLE_PART * QUIET_MS) return { begun: last, now: ms };
    last = ms;
  }
}

async function measure(path: string, rounds: number): Promise<Spent[]> {
  const folder = mkdtempSync(join(tmpdir(), "skep-bench-edit-"));
  const copy = copyOf(path, folder);
  const [command = "", ...args] = skepCommand("mcp", copy, "--store", join(folder, "store"));
  const transport = new StdioClientTransport({ command, args, stderr: "ignore" });
  const client = new Client({ name: "bench", version: "1" });
  try {
    await client.connect(transport);
    const pid = transport.pid ?? 0;
    const ask = async (name: string) =>
      JSON.stringify(
        await client.callTool({ name: "code_graph_context", arguments: { symbol_name: name } }, { timeout: 600_000 }),
      );
    await ask("nothing");
    // Search once, so that the search index is kept up to date as well.
    await client.callTool({ name: "code_graph_query", arguments: { query: "main" } });
    const files = editableFiles(copy);
    const spent: Spent[] = [];
    for (let round = 0; round <= rounds; round++) {
      const name = `added_by_bench_${round}`;
      // Use the value at the end of the quiet time, because what an idle server uses does not belong to the edit.
      const { now: before } = await waitUntilIdle(pid);
      files[Math.floor((files.length * (round + 1)) / (rounds + 2))]?.addFunction(name);
      const begun = performance.now();
      // An answer without the function names similar ones, or says that the index is older.
      while (!(await ask(name)).includes(`${name} `)) await Bun.sleep(10);
      const waited = performance.now() - begun;
      const { ms, megabytes } = usedBy(pid);
      spent.push({ answered: ms - before, all: (await waitUntilIdle(pid)).begun - before, waited, megabytes });
    }
    return spent;
  } finally {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowOf(name: string, spent: readonly Spent[]): string {
  const formatMedian = (what: keyof Spent) => median(spent.map((one) => one[what])).toFixed(0);
  return `| ${name} | ${formatMedian("answered")} | ${formatMedian("all")} | ${formatMedian("waited")} | ${formatMedian("megabytes")} |`;
}

async function main(argv: readonly string[]): Promise<void> {
  const at = argv.indexOf("--rounds");
  const rounds = at < 0 ? 3 : Number(argv[at + 1]);
  const paths = argv.filter((_, i) => at < 0 || (i !== at && i !== at + 1)).map((path) => resolve(path));
  if (paths.length === 0) throw new Error("which folder of sources?");
  console.log(`load ${loadavg()[0]?.toFixed(1)}\n`);
  console.log("| source | processor ms until the answer | ms in all | waited ms | MB |\n|---|---|---|---|---|");
  for (const path of paths) {
    const [first, ...others] = await measure(path, rounds);
    if (first) console.log(rowOf(`${basename(path)}, first edit`, [first]));
    console.log(rowOf(`${basename(path)}, ${rounds} more, median`, others));
  }
}

await main(process.argv.slice(2));
