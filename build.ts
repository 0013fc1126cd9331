/**
 * Writes dist/skep: one executable with server, database, graph, grammars, migrations, shipped agents and pages.
 *
 *   bun build.ts [--target linux-x64|linux-arm64|darwin-arm64|darwin-x64] [--outfile PATH]
 */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { BunPlugin } from "bun";
import manifest from "./package.json" with { type: "json" };

const TARGETS = ["linux-x64", "linux-arm64", "darwin-arm64", "darwin-x64"] as const;
type Target = (typeof TARGETS)[number];

function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}

function fail(message: string): never {
  console.error(`build: ${message}`);
  process.exit(1);
}

const wanted = manifest.packageManager.split("@")[1];
if (Bun.version !== wanted)
  fail(`needs Bun ${wanted}, this is ${Bun.version}. Run scripts/build, which uses the pinned one.`);

const host = `${process.platform}-${process.arch}` as Target;
const target = (option("target") ?? host) as Target;
if (!TARGETS.includes(target)) fail(`--target takes ${TARGETS.join(", ")}`);
const outfile = resolve(option("outfile") ?? (target === host ? "dist/skep" : `dist/skep-${target}`));

/** The native add-ons of the target, by plain paths that the bundler can embed. */
const natives: BunPlugin = {
  name: "natives",
  setup(build) {
    build.onResolve({ filter: /^better-sqlite3$/ }, () => ({
      path: resolve(`node_modules/better-sqlite3/lib/${target}.js`),
    }));
    build.onLoad({ filter: /node_modules\/kuzu\/kuzu_native\.js$/ }, () => ({
      loader: "js",
      contents: `module.exports = require(${JSON.stringify(resolve(`node_modules/kuzu/prebuilt/kuzujs-${target}.node`))});`,
    }));
    // Only ssh:// engines need these, which Skep does not reach; they are native and not on every machine.
    build.onResolve({ filter: /^(cpu-features|ssh2)$/ }, ({ path }) => ({ path, namespace: "absent" }));
    build.onLoad({ filter: /.*/, namespace: "absent" }, () => ({ loader: "js", contents: "module.exports = {};" }));
  },
};

const WORKERS = ["src/graph/parse-worker.ts"].filter((path) => existsSync(path));

const commit = Bun.spawnSync(["git", "rev-parse", "--short=12", "HEAD"]).stdout.toString().trim() || "unknown";
mkdirSync(dirname(outfile), { recursive: true });
const started = performance.now();
const result = await Bun.build({
  entrypoints: ["src/main.ts", ...WORKERS],
  compile: {
    target: `bun-${target}`,
    outfile,
    autoloadDotenv: false,
    autoloadBunfig: false,
  },
  minify: { whitespace: true, syntax: true, identifiers: false },
  sourcemap: "none",
  plugins: [natives],
  define: {
    SKEP_VERSION: JSON.stringify(manifest.version),
    SKEP_COMMIT: JSON.stringify(commit),
    SKEP_BUILT_AT: JSON.stringify(new Date().toISOString()),
    "process.env.NODE_ENV": '"production"',
  },
});
if (!result.success) fail(result.logs.map(String).join("\n"));
const megabytes = (statSync(outfile).size / 1e6).toFixed(1);
console.log(`${outfile}  ${megabytes} MB  ${target}  ${((performance.now() - started) / 1_000).toFixed(1)} s`);
