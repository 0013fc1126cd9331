/**
 * The code graph on real source. An index from nothing, without changes, and after one changed file is compared with
 * only parsing the same files. Also measures memory, and the latency of questions over the HTTP API while the server is
 * idle and while it indexes.
 *
 *   scripts/bench graph [--rounds N] [--peers] [--no-questions] [PATH…]
 *
 * A PATH is a folder of sources. A folder of unpacked Debian source packages (folders with debian/control) stands for
 * each of these. Default: package sources in node_modules. Questions are asked about the last PATH.
 *
 * The same run also measures universal-ctags and ripgrep, if they are installed. They do less (names, and text), but
 * show how fast this machine is. With --peers, it also measures other programs that build code graphs (graph-peers.ts).
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { skepCommand } from "../src/testing/server.ts";
import { median } from "./bench-figures.ts";
import { findPeers, oneLine, type Peer } from "./graph-peers.ts";
import { measureQuestions } from "./graph-questions.ts";
import { type Command, type Peak, type Ran, run, watchMemory } from "./measured-run.ts";
import { copyOf, type Editable, editableFiles } from "./source-copy.ts";

const present = (program: string) => Bun.which(program) !== null;
const formatSeconds = (runs: readonly Ran[]) =>
  runs.length === 0 ? "–" : median(runs.map((one) => one.seconds)).toFixed(2);
const formatMegabytes = ({ peaks }: Runs) => {
  const formatHighest = (name: keyof Peak) => Math.max(...peaks.map((one) => one[name])).toFixed(0);
  return `${formatHighest("megabytes")} (${formatHighest("megabytesOnce")})`;
};

/** The measurements of one program on one folder, one per round. */
class Runs {
  readonly cold: Ran[] = [];
  readonly edited: Ran[] = [];
  readonly same: Ran[] = [];
  /** Memory peaks of an index from nothing, in separate runs whose time is not measured. */
  readonly peaks: Peak[] = [];
}

interface Measured {
  files: number;
  skep: Runs;
  /** Updates after one empty line was added. */
  line: Ran[];
  parse: Ran[];
  ctags: Ran[];
  ripgrep: Ran[];
  peers: Map<string, Runs>;
  failed: Set<Peer>;
  problems: string[];
}

/** Measures an index from nothing, an update without changes, and an update after a function was added. */
async function round(runs: Runs, peer: Peer, copy: string, file: Editable, name: string): Promise<void> {
  peer.forget(copy);
  runs.peaks.push(await watchMemory(peer.index(copy)));
  peer.forget(copy);
  runs.cold.push(await run(peer.index(copy)));
  runs.same.push(await run(peer.update(copy)));
  file.addFunction(name);
  runs.edited.push(await run(peer.update(copy)));
}

const fileOf = (copy: string): Editable => {
  const files = editableFiles(copy);
  return files[Math.floor(files.length / 2)]!;
};

async function measure(path: string, rounds: number, peers: readonly Peer[], folder: string): Promise<Measured> {
  const store = join(folder, "store");
  const copy = copyOf(path, join(folder, "skep"));
  const toCommand = (...args: string[]): Command => ({
    command: skepCommand("graph", ...args, "--store", store, "--json"),
    cwd: copy,
  });
  const skep: Peer = {
    name: "skep",
    forget: () => rmSync(store, { recursive: true, force: true }),
    index: () => toCommand("index", copy),
    update: () => toCommand("index", copy),
  };
  const measured: Measured = {
    files: 0,
    skep: new Runs(),
    line: [],
    parse: [],
    ctags: [],
    ripgrep: [],
    peers: new Map(),
    failed: new Set(),
    problems: [],
  };
  const file = fileOf(copy);
  for (let at = 1; at <= rounds; at++) {
    measured.parse.push(await bareParse(copy));
    await round(measured.skep, skep, copy, file, `added_by_bench_${at}`);
    await assertCalls(toCommand, copy, `added_by_bench_${at}`);
    file.addLine();
    measured.line.push(await run(skep.update(copy)));
    if (present("ctags"))
      measured.ctags.push(await run({ command: ["ctags", "-R", "-f", "/dev/null", "."], cwd: copy }));
    if (present("rg"))
      measured.ripgrep.push(await run({ command: ["rg", "-c", "function|def |class ", "."], cwd: copy }));
    // Takes turns with the other programs, so that other load on the machine affects all equally.
    await peersRound(path, peers, folder, `added_by_bench_${at}`, measured);
  }
  measured.files = (JSON.parse(measured.skep.cold[0]!.stdout) as { report: { files: number } }).report.files;
  return measured;
}

/** Runs a round of each peer on its own copy. A peer that fails is removed from the folder's table and reported. */
async function peersRound(path: string, peers: readonly Peer[], folder: string, name: string, measured: Measured) {
  for (const peer of peers) {
    if (measured.failed.has(peer)) continue;
    const own = join(folder, peer.name.replace(/\W/g, "-"));
    const copy = existsSync(own) ? join(own, basename(path)) : copyOf(path, own);
    const runs = measured.peers.get(peer.name) ?? new Runs();
    measured.peers.set(peer.name, runs);
    await round(runs, peer, copy, fileOf(copy), name).catch((error: unknown) => {
      measured.peers.delete(peer.name);
      measured.failed.add(peer);
      measured.problems.push(`${peer.name} on ${basename(path)}: ${oneLine(error)}`);
    });
  }
}

/** Wall time of the parsing alone, without starting the process. */
async function bareParse(copy: string): Promise<Ran> {
  const ran = await run({ command: [process.execPath, join(import.meta.dir, "bare-parse.ts"), copy], cwd: copy });
  return { ...ran, seconds: (JSON.parse(ran.stdout) as { seconds: number }).seconds };
}

/** An index that missed the edit would be fast, so check that the graph contains the added function and its call. */
async function assertCalls(graph: (...args: string[]) => Command, copy: string, name: string): Promise<void> {
  const found = JSON.parse((await run(graph("context", copy, name))).stdout) as {
    callees?: unknown[];
    members?: unknown[];
  };
  if (!found.callees?.length && !found.members?.length) throw new Error(`${name} was not indexed in ${copy}`);
}

function rowOf(path: string, { files, skep, line, parse, ctags, ripgrep }: Measured): string {
  const ratio = median(skep.cold.map((one) => one.seconds)) / median(parse.map((one) => one.seconds));
  const times = [skep.cold, skep.edited, line, skep.same].map(formatSeconds);
  const cells = [basename(path), files, formatSeconds(parse), ...times, ratio.toFixed(2), formatMegabytes(skep)];
  return `| ${[...cells, formatSeconds(ctags), formatSeconds(ripgrep)].join(" | ")} |`;
}

function peerRows(path: string, { skep, peers }: Measured): string[] {
  return [["skep", skep] as const, ...peers].map(
    ([name, runs]) =>
      `| ${[basename(path), name, formatSeconds(runs.cold), formatSeconds(runs.edited), formatSeconds(runs.same), formatMegabytes(runs)].join(" | ")} |`,
  );
}

/** The folder itself, or the source packages in it. */
function corporaIn(path: string): string[] {
  const packages = readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(path, entry.name, "debian/control")))
    .map(({ name }) => join(path, name));
  return packages.length > 0 ? packages : [path];
}

async function main(argv: readonly string[]): Promise<void> {
  const at = argv.indexOf("--rounds");
  const rounds = at < 0 ? 3 : Number(argv[at + 1]);
  const named = argv.filter((arg, i) => !arg.startsWith("--") && (at < 0 || i !== at + 1)).map((path) => resolve(path));
  const given = named.length > 0 ? named : ["ai", "drizzle-orm", "elysia"].map((name) => resolve("node_modules", name));
  const paths = given.flatMap(corporaIn);
  const folder = mkdtempSync(join(tmpdir(), "skep-bench-graph-"));
  try {
    const { peers, missing } = argv.includes("--peers") ? await findPeers(folder) : { peers: [], missing: [] };
    console.log(`median of ${rounds}, wall seconds; load ${loadavg()[0]!.toFixed(1)} at the start\n`);
    console.log(
      "| source | files | bare parse | from nothing | function added | line added | nothing changed | from nothing / parse | peak MB (shared pages once) | ctags | ripgrep |",
    );
    console.log("|---|---|---|---|---|---|---|---|---|---|---|");
    const beside: string[] = [];
    for (const [i, path] of paths.entries()) {
      const own = join(folder, String(i));
      const measured = await measure(path, rounds, peers, own);
      rmSync(own, { recursive: true, force: true });
      console.log(rowOf(path, measured));
      beside.push(...peerRows(path, measured));
      missing.push(...measured.problems);
    }
    if (peers.length > 0) {
      console.log(
        "\n| source | program | from nothing | function added | nothing changed | peak MB (shared pages once) |",
      );
      console.log(`|---|---|---|---|---|---|\n${beside.join("\n")}`);
    }
    for (const line of missing) console.log(line);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (argv.includes("--no-questions")) return;
  console.log(
    "\n| question over HTTP | times | p50 ms | p99 ms | longest ms | largest answer kB |\n|---|---|---|---|---|---|",
  );
  for (const row of await measureQuestions(paths.at(-1)!)) console.log(row);
}

await main(process.argv.slice(2));
