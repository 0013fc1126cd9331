/**
 * Bundles the dashboard into dist/web: hashed files under assets/, each beside its brotli form, index.html and sizes.json.
 * Does nothing when nothing that goes in has changed.
 *
 *   bun scripts/dashboard/build.ts [--types]    only src/api/*.gen.ts
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { BuildArtifact } from "bun";
import type { PartFiles } from "../../src/web/ui/part-files.ts";
import { type ApiDocument, apiTypes, staleAnswers } from "./api-types.ts";
import { drawIcon, ICONS, readIcon } from "./icon-png.ts";
import { strictStyles } from "./strict-styles.ts";
import { checkSinks, withoutDom } from "./trusted-types.ts";
import { visibleText } from "./visible-text.ts";

const ROOT = resolve(import.meta.dir, "../..");
const WEB = join(ROOT, "src/web");
const OUT = join(ROOT, "dist/web");
const ASSETS = join(OUT, "assets");
const TYPES = join(ROOT, "src/api/schema.gen.ts");
const STALE = join(ROOT, "src/api/stale.gen.ts");
const FONT = join(ROOT, "node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2");

const hashOf = (...parts: (string | Uint8Array)[]): string => {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const part of parts) hasher.update(part).update("\0");
  return hasher.digest("hex").slice(0, 16);
};

function filesOf(folder: string, wanted: RegExp): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && wanted.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

const keyOf = (files: string[]): string =>
  hashOf(...files.flatMap((file) => [relative(ROOT, file), readFileSync(file)]));
const isUnchanged = (file: string, key: string): boolean => existsSync(file) && readFileSync(file, "utf8") === key;

/** Writes the API's types, and which answers its events make outdated, from the server's own OpenAPI document. */
function writeApiTypes(): void {
  const sources = filesOf(join(ROOT, "src"), /^(?!.*\.(test|gen)\.ts$).*\.ts$/).filter((file) => !file.startsWith(WEB));
  const key = keyOf([...sources, import.meta.path, join(import.meta.dir, "api-types.ts")]);
  const mark = join(ROOT, "dist/web-types.key");
  if (existsSync(TYPES) && existsSync(STALE) && isUnchanged(mark, key)) return;
  const { stdout, exitCode, stderr } = Bun.spawnSync([process.execPath, join(import.meta.dir, "api-document.ts")], {
    cwd: ROOT,
    stderr: "pipe",
  });
  if (exitCode !== 0) throw new Error(`the API's document was not had:\n${stderr}`);
  const document = JSON.parse(stdout.toString()) as ApiDocument;
  writeFileSync(TYPES, apiTypes(document));
  writeFileSync(STALE, staleAnswers(document));
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  writeFileSync(mark, key);
}

function write(name: string, bytes: string | Uint8Array): string {
  const path = join(ASSETS, name);
  if (existsSync(path)) return name;
  writeFileSync(path, bytes);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  if (!/\.(woff2|png)$/.test(name)) writeFileSync(`${path}.br`, brotliCompressSync(bytes, quality));
  return name;
}

function writeHashed(name: string, bytes: string | Uint8Array): string {
  const [stem, extension] = name.split(/\.(?=[^.]+$)/);
  return write(`${stem}-${hashOf(bytes).slice(0, 8)}.${extension}`, bytes);
}

async function bundle(entrypoints: string[], format: "esm" | "iife") {
  const result = await Bun.build({
    entrypoints: entrypoints.map((entry) => join(WEB, entry)),
    target: "browser",
    format,
    splitting: format === "esm",
    minify: true,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [strictStyles, visibleText, withoutDom],
    metafile: true,
    throw: false,
  });
  if (!result.success) throw new Error(result.logs.map(String).join("\n"));
  checkSinks(Object.keys(result.metafile?.inputs ?? {}).map((path) => resolve(path)));
  return result;
}

function buildStyle(font: string): string {
  const out = join(OUT, "style.css");
  const { exitCode, stderr } = Bun.spawnSync(
    [
      process.execPath,
      join(ROOT, "node_modules/.bin/tailwindcss"),
      "-i",
      join(WEB, "style.css"),
      "-o",
      out,
      "--minify",
    ],
    { cwd: ROOT, stderr: "pipe" },
  );
  if (exitCode !== 0) throw new Error(`the style sheet was not made:\n${stderr}`);
  const text = readFileSync(out, "utf8").replaceAll("inter.woff2", font);
  rmSync(out);
  return text;
}

interface Meta {
  outputs: Record<string, { imports: { path: string; kind: string }[] }>;
}

/** The chunks that a file loads at once, with the file itself first. */
function staticChunks(entry: string, meta: Meta): string[] {
  const seen = new Set<string>();
  const visit = (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    const output = Object.entries(meta.outputs).find(([path]) => basename(path) === name)?.[1];
    for (const { path, kind } of output?.imports ?? []) if (kind === "import-statement") visit(basename(path));
  };
  visit(entry);
  return [...seen];
}

/** The files of each part that is loaded later, without those of the first view. */
function partFiles(meta: Meta, first: string[]): PartFiles {
  const imported = Object.values(meta.outputs).flatMap(({ imports }) => imports);
  const scripts = imported.flatMap(({ path, kind }) => (kind === "dynamic-import" ? basename(path) : []));
  const files: string[] = [];
  const placeOf = (name: string): number => (files.includes(name) ? files.indexOf(name) : files.push(name) - 1);
  const parts = [...new Set(scripts)].map((script) => {
    const chunks = staticChunks(script, meta).filter((name) => !first.includes(name));
    return { script, places: chunks.map(placeOf) };
  });
  return {
    files,
    parts: Object.fromEntries(parts.map(({ script, places }) => [script, places])),
    pages: pagesOf(scripts),
  };
}

/** The inline script of the page. The server's policy allows it by its hash. */
async function inlineScript(outputs: BuildArtifact[]): Promise<string> {
  const [script] = await Promise.all(outputs.map((one) => one.text()));
  if (script === undefined || outputs.length > 1) throw new Error("the script of the page is not one file");
  if (/<\/script|<!--/i.test(script)) throw new Error("the script of the page holds what ends a script in HTML");
  return script.trim();
}

/** The script of each page, as routes.ts imports it. */
function pagesOf(scripts: string[]): Record<string, string> {
  const routes = readFileSync(join(WEB, "routes.ts"), "utf8");
  const pages = [...routes.matchAll(/definePage\("([^"]+)", "[^"]+", \(\) => import\("([^"]+)\.tsx"\)/g)];
  if (pages.length === 0) throw new Error("no page is found in routes.ts");
  return Object.fromEntries(
    pages.map(([, address = "", file = ""]) => {
      const script = scripts.find((name) => name.replace(/-\w+\.js$/, "") === basename(file));
      if (!script) throw new Error(`the page ${address} has no script ${basename(file)}`);
      return [address, script];
    }),
  );
}

/** Builds the dashboard if necessary. @returns whether anything was built. */
export async function buildDashboard(): Promise<boolean> {
  writeApiTypes();
  const inputs = [
    ...filesOf(WEB, /./),
    ...readdirSync(import.meta.dir).map((name) => join(import.meta.dir, name)),
    join(ROOT, "package-lock.json"),
  ];
  const key = keyOf(inputs);
  const mark = join(OUT, "inputs.key");
  if (isUnchanged(mark, key)) return false;
  mkdirSync(ASSETS, { recursive: true });
  rmSync(mark, { force: true });
  const app = await bundle(["main.tsx"], "esm");
  const theme = await bundle(["theme.ts"], "iife");
  const kept = new Set<string>();
  const keep = (name: string): string => {
    kept.add(name);
    return name;
  };
  const nameOf = (artifact: BuildArtifact) => basename(artifact.path);
  for (const artifact of app.outputs) {
    const kind = artifact.path.endsWith(".js") ? ".js" : "";
    if (kind) keep(write(nameOf(artifact), await artifact.text()));
  }
  const font = keep(writeHashed("inter.woff2", readFileSync(FONT)));
  const css = keep(writeHashed("style.css", buildStyle(font)));
  const svg = readFileSync(join(WEB, "icon.svg"), "utf8");
  const icon = keep(writeHashed("icon.svg", svg));
  const drawing = readIcon(svg);
  const drawn = Object.entries(ICONS).map(([name, look]) => keep(writeHashed(name, drawIcon(drawing, look))));
  const touch = drawn.find((name) => name.startsWith("apple-touch")) ?? "";
  const entryOf = (outputs: BuildArtifact[]) => nameOf(outputs.find(({ kind }) => kind === "entry-point")!);
  const main = entryOf(app.outputs);
  const meta = app.metafile as unknown as Meta;
  const first = staticChunks(main, meta);
  const parts = JSON.stringify(partFiles(meta, first));
  const names = { main, theme: await inlineScript(theme.outputs), css, font, icon, touch, parts };
  const page = readFileSync(join(WEB, "index.html"), "utf8")
    .replace(/\{\{(\w+)\}\}/g, (whole, name: string) => names[name as keyof typeof names] ?? whole)
    .replace(
      "<!-- chunks -->",
      first
        .slice(1)
        .map((name) => `<link rel="modulepreload" href="{{base}}assets/${name}">`)
        .join("\n"),
    );
  writeFileSync(join(OUT, "index.html"), page);
  for (const name of readdirSync(ASSETS)) if (!kept.has(name.replace(/\.br$/, ""))) rmSync(join(ASSETS, name));
  const measureGzip = (name: string) => gzipSync(readFileSync(join(ASSETS, name))).length;
  const sizes = {
    first: [
      { name: "index.html", gzip: gzipSync(page).length },
      ...[...first, css].map((name) => ({ name, gzip: measureGzip(name) })),
    ],
    lazy: [...kept]
      .filter((name) => name.endsWith(".js") && !first.includes(name))
      .map((name) => ({ name, gzip: measureGzip(name) })),
  };
  writeFileSync(join(OUT, "sizes.json"), JSON.stringify(sizes, null, 2));
  writeFileSync(`${mark}.new`, key);
  renameSync(`${mark}.new`, mark);
  return true;
}

/**
 * The source of a module whose default export contains every file of the dashboard, for embedding into the executable
 * by a build plugin.
 */
export function embeddedModule(): string {
  const names = ["index.html", ...readdirSync(ASSETS).map((name) => `assets/${name}`)];
  const imports = names.map(
    (name, at) => `import f${at} from ${JSON.stringify(join(OUT, name))} with { type: "file" };`,
  );
  const entries = names.map((name, at) => `${JSON.stringify(name)}: f${at}`);
  return `${imports.join("\n")}\nexport const dashboardFiles = () => ({ ${entries.join(", ")} });\n`;
}

if (import.meta.main) {
  const started = performance.now();
  if (process.argv.includes("--types")) writeApiTypes();
  else {
    const made = await buildDashboard();
    const { first } = JSON.parse(readFileSync(join(OUT, "sizes.json"), "utf8")) as { first: { gzip: number }[] };
    const kilobytes = (first.reduce((sum, { gzip }) => sum + gzip, 0) / 1_000).toFixed(1);
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    console.log(`dist/web  ${made ? "made" : "unchanged"}  first view ${kilobytes} kB gzipped  ${seconds} s`);
  }
}
