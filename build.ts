/**
 * Writes dist/skep: one executable with server, database, graph, grammars, migrations, shipped agents and pages.
 *
 *   bun build.ts [--target linux-x64|linux-arm64|darwin-arm64|darwin-x64] [--outfile PATH]
 *                [--version X.Y.Z]    default: package.json's
 *                [--baseline]         for x64 processors without AVX2, as releases are
 */
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { BunPlugin } from "bun";
import manifest from "./package.json" with { type: "json" };
import { buildDashboard, embeddedModule } from "./scripts/dashboard/build.ts";
import { newDatabaseModule } from "./scripts/new-database.ts";

const TARGETS = ["linux-x64", "linux-arm64", "darwin-arm64", "darwin-x64"] as const;
type Target = (typeof TARGETS)[number];

function readOption(name: string): string | undefined {
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
const target = (readOption("target") ?? host) as Target;
if (!TARGETS.includes(target)) fail(`--target takes ${TARGETS.join(", ")}`);
const baseline = process.argv.includes("--baseline");
if (baseline && !target.endsWith("x64")) fail("--baseline is for x64 only");
const outfile = resolve(readOption("outfile") ?? (target === host ? "dist/skep" : `dist/skep-${target}`));

/**
 * The target's native add-ons: embedded as files, and unpacked and loaded by src/process/addons.ts at their first use.
 */
const ADDONS = {
  sqlite: resolve(`node_modules/better-sqlite3/prebuilds/${target}.node`),
  kuzu: resolve(`node_modules/kuzu/prebuilt/kuzujs-${target}.node`),
};
const natives: BunPlugin = {
  name: "natives",
  setup(build) {
    build.onResolve({ filter: /^better-sqlite3$/ }, () => ({
      path: resolve(`node_modules/better-sqlite3/lib/${target}.js`),
    }));
    build.onLoad({ filter: new RegExp(`node_modules/better-sqlite3/lib/${target}\\.js$`) }, () => ({
      loader: "js",
      contents: `module.exports = require("./database")(() => require("addon:sqlite"), false);
        module.exports.SqliteError = require("./sqlite-error");`,
    }));
    build.onResolve({ filter: /^kuzu$/ }, () => ({ path: resolve("node_modules/kuzu/index.js") }));
    build.onLoad({ filter: /node_modules\/kuzu\/kuzu_native\.js$/ }, () => ({
      loader: "js",
      contents: `module.exports = new Proxy({}, { get: (_, name) => require("addon:kuzu")[name] });`,
    }));
    build.onResolve({ filter: /^addon:/ }, ({ path }) => ({ path: path.split(":")[1]!, namespace: "addon" }));
    build.onLoad({ filter: /.*/, namespace: "addon" }, ({ path: name }) => {
      const file = ADDONS[name as keyof typeof ADDONS];
      const quote = (value: string) => JSON.stringify(value);
      return {
        loader: "js",
        contents: `import embedded from ${quote(file)} with { type: "file" };
          import { loadAddon } from ${quote(resolve("src/process/addons.ts"))};
          module.exports = loadAddon({ name: ${quote(name)}, sha256: ${quote(sha256(file))}, embedded });`,
      };
    });
    // Parts of the Docker client that Skep never uses: engines over ssh, whose native module does not exist for every
    // machine, and BuildKit's sessions, whose gRPC takes half a megabyte to load.
    build.onResolve({ filter: /^(cpu-features|ssh2|@grpc\/.*|protobufjs)$/ }, ({ path }) => ({
      path,
      namespace: "absent",
    }));
    build.onLoad({ filter: /.*/, namespace: "absent" }, () => ({ loader: "js", contents: "module.exports = {};" }));
  },
};

/** Embeds the dashboard's files; a server run from source reads them from a folder. */
const dashboard: BunPlugin = {
  name: "dashboard",
  setup(build) {
    build.onLoad({ filter: /feature\/dashboard\/files\.ts$/ }, () => ({ loader: "ts", contents: embeddedModule() }));
  },
};

/** Embeds the database of new instances, so that no first start must create it. */
const newDatabase: BunPlugin = {
  name: "new-database",
  setup(build) {
    build.onLoad({ filter: /store\/new-database\.ts$/ }, () => ({ loader: "js", contents: newDatabaseModule() }));
  },
};

function sha256(path: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");
}

/** Build time: now, or what `SOURCE_DATE_EPOCH` says (seconds), so that the same sources give the same bytes. */
function builtAt(): Date {
  const seconds = process.env.SOURCE_DATE_EPOCH;
  return seconds ? new Date(Number(seconds) * 1_000) : new Date();
}

const git = Bun.which("git");
const commit = (git && Bun.spawnSync([git, "rev-parse", "--short=12", "HEAD"]).stdout.toString().trim()) || "unknown";
mkdirSync(dirname(outfile), { recursive: true });
const started = performance.now();
await buildDashboard();
const result = await Bun.build({
  entrypoints: ["src/main.ts"],
  compile: {
    target: `bun-${target}${baseline ? "-baseline" : ""}`,
    outfile,
    autoloadDotenv: false,
    autoloadBunfig: false,
    // Code that only a start runs is not worth compiling; src/process/jit.ts ends this mode after the start.
    jitPolicy: 8,
    // Puts the code that a start runs together, in the order recorded by scripts/start-order.ts.
    bytecodeOrder: target === host && "scripts/start.order",
  },
  // Code that is imported at its first use costs neither reading time nor memory until then.
  splitting: true,
  minify: { whitespace: true, syntax: true, identifiers: false },
  sourcemap: "none",
  // Bytecode, because a start is mostly parsing otherwise. It only runs on the system that produced it.
  bytecode: target === host,
  format: "esm",
  plugins: [natives, dashboard, newDatabase],
  define: {
    SKEP_VERSION: JSON.stringify(readOption("version") ?? manifest.version),
    SKEP_COMMIT: JSON.stringify(commit),
    SKEP_BUILT_AT: JSON.stringify(builtAt().toISOString()),
    "process.env.NODE_ENV": '"production"',
    // Otherwise the executable would contain this build's folder, and builds in other folders would differ.
    __dirname: '"/"',
    __filename: '"/"',
  },
});
if (!result.success) fail(result.logs.map(String).join("\n"));
const megabytes = (statSync(outfile).size / 1e6).toFixed(1);
console.log(`${outfile}  ${megabytes} MB  ${target}  ${((performance.now() - started) / 1_000).toFixed(1)} s`);
