/**
 * Creates a TypeScript program for a checkout as its authors have it after an install. It contains every file of the
 * graph, links workspace packages by name, resolves module names with each folder's own tsconfig, and has the types of
 * Node.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript-api";

const ENDINGS = [".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs"];
const MAX_FOLDER_DEPTH = 6;

interface WorkspacePackages {
  /** Folders of packages by package name. */
  folders: ReadonlyMap<string, string>;
}

function readPackages(root: string): WorkspacePackages {
  const folders = new Map<string, string>();
  const visit = (folder: string, depth: number) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.name === "node_modules" || entry.name.startsWith(".")) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (depth < MAX_FOLDER_DEPTH) visit(path, depth + 1);
      } else if (entry.name === "package.json") {
        const { name } = parse(path) as { name?: unknown };
        if (typeof name === "string" && !folders.has(name)) folders.set(name, folder);
      }
    }
  };
  visit(root, 0);
  return { folders };
}

function parse(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return {};
  }
}

/** Finds the options of the nearest tsconfig of a folder, within the root. */
function createOptionsOf(root: string): (folder: string) => ts.CompilerOptions {
  const known = new Map<string, ts.CompilerOptions>();
  // Which files a config includes does not matter here, and finding them takes long.
  const host: ts.ParseConfigHost = { ...ts.sys, readDirectory: () => [] };
  const optionsOf = (folder: string): ts.CompilerOptions => {
    let options = known.get(folder);
    if (options) return options;
    const path = ["tsconfig.json", "jsconfig.json"].map((name) => join(folder, name)).find(ts.sys.fileExists);
    if (path) {
      const read = ts.readConfigFile(path, ts.sys.readFile);
      options = ts.parseJsonConfigFileContent(read.config ?? {}, host, folder).options;
    } else options = folder.length > root.length ? optionsOf(dirname(folder)) : {};
    known.set(folder, options);
    return options;
  };
  return optionsOf;
}

/**
 * Declaration files that nothing imports belong only to their own project, but here all projects form one program. Only
 * those that the root's tsconfig includes are kept, so that one package's globals do not affect another.
 */
function createIsIncluded(root: string): (file: string) => boolean {
  let included: Set<string> | undefined;
  return (file) => {
    const path = join(root, "tsconfig.json");
    if (!/\.d\.[mc]?ts$/.test(file) || !ts.sys.fileExists(path)) return true;
    for (let folder = dirname(file); folder.length > root.length; folder = dirname(folder))
      if (ts.sys.fileExists(join(folder, "tsconfig.json"))) return false;
    if (!included) {
      const read = ts.readConfigFile(path, ts.sys.readFile);
      included = new Set(ts.parseJsonConfigFileContent(read.config ?? {}, ts.sys, root).fileNames);
    }
    return included.has(file);
  };
}

/** A file system in which the workspace packages appear in the root's node_modules. */
function createLinkedSystem(root: string, packages: WorkspacePackages) {
  const link = /\/node_modules\/((?:@[^/]+\/)?[^/@]+)(.*)$/;
  const resolveLink = (path: string): string => {
    const match = link.exec(path);
    const folder = match && path.startsWith(root) ? packages.folders.get(match[1]!) : undefined;
    return folder === undefined ? path : folder + match![2]!;
  };
  return {
    fileExists: (path: string) => ts.sys.fileExists(resolveLink(path)),
    readFile: (path: string) => ts.sys.readFile(resolveLink(path)),
    directoryExists: (path: string) => path === join(root, "node_modules") || ts.sys.directoryExists(resolveLink(path)),
    realpath: (path: string) => resolveLink(path),
  };
}

/**
 * @param root absolute path of the checkout
 * @param files absolute paths of its source files
 * @param modules a node_modules folder for packages that the checkout imports but does not contain
 */
export function createProgram(root: string, files: string[], modules: string): ts.Program {
  const packages = readPackages(root);
  const optionsOf = createOptionsOf(root);
  const linked = createLinkedSystem(root, packages);
  const top = optionsOf(root);
  const options: ts.CompilerOptions = {
    ...top,
    target: ts.ScriptTarget.ESNext,
    module: top.module ?? ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    jsx: top.jsx ?? ts.JsxEmit.Preserve,
    lib: ["lib.esnext.full.d.ts"],
    types: ["node"],
    typeRoots: [join(modules, "@types")],
    noEmit: true,
    skipLibCheck: true,
    allowJs: files.some((file) => /\.[mc]?jsx?$/.test(file)),
    maxNodeModuleJsDepth: 0,
    composite: false,
    incremental: false,
    strict: true,
    allowImportingTsExtensions: true,
  };
  if (options.module === ts.ModuleKind.CommonJS) options.module = ts.ModuleKind.ESNext;
  const host = ts.createCompilerHost(options);
  Object.assign(host, linked);
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map((literal) => ({ resolvedModule: resolveModule(literal.text, from) }));

  const known = new Map<string, ts.ResolvedModuleFull | undefined>();
  function resolveModule(name: string, from: string): ts.ResolvedModuleFull | undefined {
    const key = `${dirname(from)}\n${name}`;
    if (known.has(key)) return known.get(key);
    const own = optionsOf(dirname(from));
    const local: ts.CompilerOptions = { ...options, paths: own.paths, baseUrl: own.baseUrl };
    if (own.customConditions) local.customConditions = own.customConditions;
    if (own["pathsBasePath"]) local["pathsBasePath"] = own["pathsBasePath"];
    const found =
      ts.resolveModuleName(name, from, local, host).resolvedModule ??
      builtPackage(name) ??
      ts.resolveModuleName(name, join(dirname(modules), "index.ts"), options, ts.sys).resolvedModule;
    known.set(key, found);
    return found;
  }

  /** Finds the sources of a workspace package whose package.json names files that only a build would create. */
  function builtPackage(name: string): ts.ResolvedModuleFull | undefined {
    const parts = name.split("/");
    const own = name.startsWith("@") ? parts.slice(0, 2).join("/") : parts[0]!;
    const folder = packages.folders.get(own);
    if (folder === undefined) return undefined;
    const rest = name.slice(own.length + 1);
    for (const base of [`src/${rest || "index"}`, rest || "index", `src/${rest}/index`, `${rest}/index`])
      for (const ending of ENDINGS) {
        const path = join(folder, base + ending);
        if (ts.sys.fileExists(path)) {
          const extension = ending === ".d.ts" ? ts.Extension.Dts : (ending as ts.Extension);
          return { resolvedFileName: path, extension, isExternalLibraryImport: false };
        }
      }
    return undefined;
  }

  return ts.createProgram(files.filter(createIsIncluded(root)), options, host);
}
