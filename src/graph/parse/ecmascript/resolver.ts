/**
 * Where an ECMAScript import leads: relative paths (with `.js` standing for `.ts`), tsconfig `paths` and `baseUrl`,
 * packages of the same repository by their package.json, and `#imports`.
 */
import type { ImportResolver, ImportTarget, ProjectFiles } from "../language.ts";
import { dirname, join } from "../paths.ts";
import { parseJsonc } from "./jsonc.ts";

const EXTERNAL: ImportTarget = { kind: "external" };
const ENDINGS = [".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"];
/** What a compiled ending may stand for in sources. */
const SOURCE_OF: ReadonlyMap<string, readonly string[]> = new Map([
  [".js", [".ts", ".tsx", ".d.ts", ".js", ".jsx"]],
  [".jsx", [".tsx", ".jsx"]],
  [".mjs", [".mts", ".mjs"]],
  [".cjs", [".cts", ".cjs"]],
]);

interface PathMap {
  folder: string;
  baseUrl: string | undefined;
  /** The patterns in the order in which they are tried: whole names, then the longest beginning first. */
  paths: { prefix: string; suffix: string; exact: boolean; targets: string[] }[];
}
interface WorkspacePackage {
  folder: string;
  name: string;
  exports: unknown;
  imports: unknown;
  entries: string[];
}

export function createEcmascriptResolver(project: ProjectFiles): ImportResolver {
  const packages = readPackages(project);
  const byName = new Map(packages.map((entry) => [entry.name, entry]));
  const maps = readPathMaps(project);
  const cache = new Map<string, ImportTarget>();

  /** A path without certain ending → file row, or -1. */
  function fileLike(path: string): number {
    const exact = project.fileAt(path);
    if (exact >= 0) return exact;
    const dot = path.lastIndexOf(".");
    const alternatives = dot > path.lastIndexOf("/") ? SOURCE_OF.get(path.slice(dot)) : undefined;
    for (const ending of alternatives ?? []) {
      const file = project.fileAt(path.slice(0, dot) + ending);
      if (file >= 0) return file;
    }
    for (const ending of ENDINGS) {
      const file = project.fileAt(path + ending);
      if (file >= 0) return file;
    }
    return -1;
  }

  function moduleAt(path: string): number {
    const file = fileLike(path);
    if (file >= 0) return file;
    const own = packages.find((entry) => entry.folder === path);
    if (own) {
      const entry = entryOf(own);
      if (entry >= 0) return entry;
    }
    return path === "" ? fileLike("index") : fileLike(`${path}/index`);
  }

  function entryOf(entry: WorkspacePackage): number {
    for (const path of entry.entries) {
      const file = sourceOf(entry, path);
      if (file >= 0) return file;
    }
    for (const guess of ["src/index", "index", "lib/index", "source/index", "src/main"]) {
      const file = fileLike(join(entry.folder, guess));
      if (file >= 0) return file;
    }
    return -1;
  }

  /** A file named by package.json: as it is, or the source that it is built from. */
  function sourceOf(entry: WorkspacePackage, path: string): number {
    const whole = join(entry.folder, path);
    const direct = moduleLike(whole);
    if (direct >= 0) return direct;
    const built = /^(?:\.\/)?(?:dist|build|lib|out|esm|cjs)\/(?:(?:esm|cjs|src|source|types)\/)?(.*)$/.exec(path);
    if (!built) return -1;
    const rest = built[1]!.replace(/\.d\.([mc]?)ts$/, ".$1js");
    for (const folder of ["src", "source", "lib", ""]) {
      const file = moduleLike(join(entry.folder, folder ? `${folder}/${rest}` : rest));
      if (file >= 0) return file;
    }
    return -1;
  }

  function moduleLike(path: string): number {
    const file = fileLike(path);
    return file >= 0 ? file : fileLike(`${path}/index`);
  }

  function packageModule(module: string, fromPath: string): number {
    if (module.startsWith("#")) {
      const own = packages.filter((entry) => entry.folder === "" || fromPath.startsWith(`${entry.folder}/`)).at(-1);
      if (!own) return -1;
      for (const path of conditionTargets(own.imports, module)) {
        const file = sourceOf(own, path);
        if (file >= 0) return file;
      }
      return -1;
    }
    const parts = module.split("/");
    const name = module.startsWith("@") ? parts.slice(0, 2).join("/") : parts[0]!;
    const entry = byName.get(name);
    if (!entry) return -1;
    const rest = module.slice(name.length + 1);
    for (const path of conditionTargets(entry.exports, rest ? `./${rest}` : ".")) {
      const file = sourceOf(entry, path);
      if (file >= 0) return file;
    }
    if (!rest) return entryOf(entry);
    for (const folder of ["", "src", "source", "lib"]) {
      const file = moduleAt(join(join(entry.folder, folder), rest));
      if (file >= 0) return file;
    }
    return -1;
  }

  function mapped(module: string, fromPath: string): number {
    for (const map of maps) {
      if (map.folder !== "" && !fromPath.startsWith(`${map.folder}/`)) continue;
      for (const { prefix, suffix, exact, targets } of map.paths) {
        if (!module.startsWith(prefix) || !module.endsWith(suffix) || module.length < prefix.length + suffix.length)
          continue;
        if (exact && module !== prefix) continue;
        const star = module.slice(prefix.length, module.length - suffix.length);
        for (const target of targets) {
          const file = moduleAt(target.replace("*", star));
          if (file >= 0) return file;
        }
      }
      if (map.baseUrl !== undefined) {
        const file = moduleAt(join(map.baseUrl, module));
        if (file >= 0) return file;
      }
    }
    return -1;
  }

  function find(module: string, fromPath: string): number {
    const bare = module.replace(/[?!].*$/, "");
    if (bare.startsWith("./") || bare.startsWith("../") || bare === "." || bare === "..")
      return moduleAt(join(dirname(fromPath), bare));
    if (bare.startsWith("/")) return moduleAt(bare.slice(1));
    const byPath = mapped(bare, fromPath);
    return byPath >= 0 ? byPath : packageModule(bare, fromPath);
  }

  return {
    resolve(module, _name, fromFile) {
      const fromPath = project.pathOf(fromFile);
      const key = `${dirname(fromPath)}\n${module}`;
      let target = cache.get(key);
      if (!target) {
        const file = find(module, fromPath);
        target = file >= 0 ? { kind: "file", file } : EXTERNAL;
        cache.set(key, target);
      }
      return target;
    },
  };
}

function readPackages(project: ProjectFiles): WorkspacePackage[] {
  const found: WorkspacePackage[] = [];
  for (const path of project.configsNamed("package.json")) {
    const json = asRecord(parseJsonc(project.readConfig(path) ?? ""));
    const name = json["name"];
    const folder = dirname(path);
    const entries: string[] = [];
    for (const key of ["source", "types", "typings", "module", "main"]) {
      const value = json[key];
      if (typeof value === "string") entries.push(value);
    }
    found.push({
      folder,
      name: typeof name === "string" ? name : "",
      exports: json["exports"],
      imports: json["imports"],
      entries,
    });
  }
  return found.sort((a, b) => a.folder.length - b.folder.length || (a.folder < b.folder ? -1 : 1));
}

/** The paths an `exports` or `imports` field gives for a name, in the order they should be tried. */
function conditionTargets(field: unknown, name: string): string[] {
  if (typeof field === "string") return name === "." ? [field] : [];
  const record = asRecord(field);
  const keys = Object.keys(record);
  if (name === "." && keys.length > 0 && !keys.some((key) => key.startsWith("."))) return flatten(field, "");
  if (Object.hasOwn(record, name)) return flatten(record[name], "");
  for (const key of keys) {
    const star = key.indexOf("*");
    if (star < 0) continue;
    const before = key.slice(0, star);
    const after = key.slice(star + 1);
    if (name.startsWith(before) && name.endsWith(after) && name.length >= key.length - 1)
      return flatten(record[key], name.slice(star, name.length - after.length));
  }
  return [];
}

function flatten(value: unknown, star: string): string[] {
  if (typeof value === "string") return [value.replaceAll("*", star)];
  if (Array.isArray(value)) return value.flatMap((item) => flatten(item, star));
  return Object.values(asRecord(value)).flatMap((item) => flatten(item, star));
}

function readPathMaps(project: ProjectFiles): PathMap[] {
  const maps: PathMap[] = [];
  for (const name of ["tsconfig.json", "tsconfig.base.json", "jsconfig.json"]) {
    for (const path of project.configsNamed(name)) {
      const options = compilerOptions(project, path, 0);
      if (options.baseUrl === undefined && options.paths.length === 0) continue;
      maps.push({ ...options, folder: dirname(path) });
    }
  }
  return maps.sort((a, b) => b.folder.length - a.folder.length || (a.folder < b.folder ? -1 : 1));
}

const MAX_EXTENDS = 8;

function compilerOptions(project: ProjectFiles, path: string, depth: number): PathMap {
  const folder = dirname(path);
  const json = asRecord(parseJsonc(project.readConfig(path) ?? ""));
  const options = asRecord(json["compilerOptions"]);
  const result: PathMap = { folder, baseUrl: undefined, paths: [] };
  const extending = json["extends"];
  for (const parent of Array.isArray(extending) ? extending : [extending]) {
    if (typeof parent !== "string" || !parent.startsWith(".") || depth >= MAX_EXTENDS) continue;
    const base = join(folder, parent.endsWith(".json") ? parent : `${parent}.json`);
    const inherited = compilerOptions(project, base, depth + 1);
    result.baseUrl = inherited.baseUrl ?? result.baseUrl;
    if (inherited.paths.length > 0) result.paths = inherited.paths;
  }
  if (typeof options["baseUrl"] === "string") result.baseUrl = join(folder, options["baseUrl"]);
  const paths = asRecord(options["paths"]);
  if (Object.keys(paths).length > 0) {
    result.paths = Object.entries(paths).map(([pattern, targets]) => {
      const star = pattern.indexOf("*");
      const base = result.baseUrl ?? folder;
      const list = Array.isArray(targets) ? targets.filter((target) => typeof target === "string") : [];
      return {
        prefix: star < 0 ? pattern : pattern.slice(0, star),
        suffix: star < 0 ? "" : pattern.slice(star + 1),
        exact: star < 0,
        targets: list.map((target) => join(base, target)),
      };
    });
    result.paths.sort((a, b) => Number(b.exact) - Number(a.exact) || b.prefix.length - a.prefix.length);
  }
  return result;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
