/**
 * The code graph on real source: an index from nothing, of nothing new and of one changed file, memory, and the latency of
 * questions through the HTTP API while the server is idle and while it indexes.
 *
 *   bun scripts/bench-graph.ts [--rounds N] [PATH…]     default: package sources in node_modules
 *
 * Beside it, in the same run: universal-ctags and ripgrep where they are installed. They do less (names, and text); they
 * say how fast this machine is.
 */
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { skepCommand, startServer } from "../src/testing/server.ts";
import { median, quantile } from "./bench-figures.ts";

interface Ran {
  seconds: number;
  megabytes: number;
  stdout: string;
}

/** Runs a command to its end and watches its processes' memory. */
async function run(command: string[], cwd: string): Promise<Ran> {
  const started = performance.now();
  const child = Bun.spawn(command, { cwd, stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  let peak = 0;
  const watch = setInterval(() => {
    try {
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? 0));
    } catch {
      // It has just ended.
    }
  }, 20);
  const stdout = await new Response(child.stdout).text();
  const code = await child.exited;
  clearInterval(watch);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}`);
  return { seconds: (performance.now() - started) / 1_000, megabytes: peak / 1_024, stdout };
}

const present = (program: string) => Bun.which(program) !== null;
const best = (runs: readonly Ran[]) => median(runs.map(({ seconds }) => seconds)).toFixed(2);

/** A copy, so that the measured folder is not written to. */
function copyOf(path: string, folder: string): string {
  const copy = join(folder, basename(path));
  cpSync(path, copy, {
    recursive: true,
    filter: (from) => !/\/(\.git|node_modules)(\/|$)/.test(from.slice(path.length)),
  });
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "all"],
  ])
    Bun.spawnSync(["git", ...args], { cwd: copy });
  return copy;
}

function oneSource(copy: string): string {
  const found = (readdirSync(copy, { recursive: true }) as string[]).find(
    (path) => /\.(ts|js|py|go|java|c|php)$/.test(path) && !/(^|\/)\.git\/|\.d\.ts$|\.min\./.test(path),
  );
  if (!found) throw new Error(`no source in ${copy}`);
  return join(copy, found);
}

async function measure(path: string, rounds: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "skep-bench-graph-"));
  try {
    const copy = copyOf(path, folder);
    const store = join(folder, "store");
    const index = (...more: string[]) =>
      run(skepCommand("graph", "index", copy, "--store", store, "--json", ...more), copy);
    const [cold, ctags, text, same, changed]: Ran[][] = [[], [], [], [], []];
    let files = 0;
    for (let round = 0; round < rounds; round++) {
      const first = await index("--force");
      files = (JSON.parse(first.stdout) as { report: { files: number } }).report.files;
      cold!.push(first);
      if (present("ctags")) ctags!.push(await run(["ctags", "-R", "-f", "/dev/null", "."], copy));
      if (present("rg")) text!.push(await run(["rg", "-c", "function|def |class ", "."], copy));
      same!.push(await index());
      appendFileSync(oneSource(copy), "\n");
      changed!.push(await index());
    }
    const peak = Math.max(...cold!.map(({ megabytes }) => megabytes));
    const cells = [basename(path), String(files), best(cold!), best(changed!), best(same!), peak.toFixed(0)];
    return `| ${[...cells, ctags!.length ? best(ctags!) : "–", text!.length ? best(text!) : "–"].join(" | ")} |`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const QUESTIONS = 200;

/** Latency of questions through the API, in ms; names come from the graph itself. */
async function questions(path: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "skep-bench-graph-"));
  const server = await startServer({ env: { ALLOW_LOCAL_REPOSITORIES: "true", RATE_LIMIT: "0" } });
  try {
    const copy = copyOf(path, folder);
    const made = await server.request<{ id: string }>("POST", "/v1/projects", {
      body: { name: "b", repository: copy },
    });
    const at = `/v1/projects/${made.body.id}/knowledge-graph`;
    while ((await server.request<{ state: string }>("GET", `${at}/status`)).body.state !== "ready")
      await Bun.sleep(200);
    const data = await server.request<{ nodes: { id: string; name: string }[] }>(
      "GET",
      `${at}/graph-data?labels=Function,Method,Class&limit=${QUESTIONS}`,
    );
    const asks: Record<string, (node: { id: string; name: string }) => Promise<unknown>> = {
      context: ({ id }) => server.request("GET", `${at}/context/${encodeURIComponent(id)}`),
      query: ({ name }) => server.request("POST", `${at}/query`, { body: { query: name } }),
      "impact, depth 3": ({ id }) => server.request("POST", `${at}/impact`, { body: { target: id } }),
      "healthz beside an index": () => server.request("GET", "/healthz"),
    };
    const rows: string[] = [];
    for (const [name, ask] of Object.entries(asks)) {
      if (name.endsWith("index")) await server.request("POST", `${at}/index`, { body: { force: true } });
      const times: number[] = [];
      for (const node of data.body.nodes) {
        const started = performance.now();
        await ask(node);
        times.push(performance.now() - started);
      }
      const figure = (p: number) => quantile(times, p).toFixed(1);
      rows.push(`| ${basename(path)}: ${name} | ${times.length} | ${figure(0.5)} | ${figure(0.99)} | ${figure(1)} |`);
    }
    return rows;
  } finally {
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

const args = process.argv.slice(2);
const at = args.indexOf("--rounds");
const rounds = at < 0 ? 3 : Number(args[at + 1]);
const named = args.filter((_, i) => at < 0 || (i !== at && i !== at + 1)).map((path) => resolve(path));
const paths = named.length > 0 ? named : ["ai", "drizzle-orm", "elysia"].map((name) => resolve("node_modules", name));
console.log(`median of ${rounds}, wall seconds of the whole command\n`);
console.log("| source | files | from nothing | one file changed | nothing changed | peak MB | ctags | ripgrep |");
console.log("|---|---|---|---|---|---|---|---|");
for (const path of paths) console.log(await measure(path, rounds));
console.log("\n| question over HTTP | times | p50 ms | p99 ms | longest |\n|---|---|---|---|---|");
for (const row of await questions(paths.at(-1)!)) console.log(row);
