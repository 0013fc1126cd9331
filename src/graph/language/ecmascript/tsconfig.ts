/** What tsconfig.json and jsconfig.json say about where modules are, `extends` followed. */
import { membersOf } from "../../../core/is-object.ts";
import type { ProjectFiles } from "../language.ts";
import { dirname, join } from "../paths.ts";
import { parseJsonc } from "./jsonc.ts";

export interface PathMap {
  folder: string;
  baseUrl: string | undefined;
  /** The patterns in the order in which they are tried: whole names, then the longest beginning first. */
  paths: { prefix: string; suffix: string; exact: boolean; targets: string[] }[];
}

/** A folder that a build fills, and the folder that it is made from. Paths are the repository's. */
export interface Build {
  made: string;
  from: string;
}

interface Options extends PathMap {
  /** Folders that a build fills. */
  made: string[];
  rootDir: string | undefined;
  /** Folders whose files belong to the project; undefined where nothing says so. */
  include: string[] | undefined;
}

/** Configurations whose `paths` hold for what lies in their folder. */
const MAPS = ["tsconfig.json", "tsconfig.base.json", "jsconfig.json"];
/** Configurations of a build. */
const BUILDS = ["tsconfig.build.json", "tsconfig.json"];
const MAX_EXTENDS = 8;

export const TSCONFIG_NAMES = [...new Set([...MAPS, ...BUILDS])];

export interface Tsconfigs {
  /** The maps that hold for the files of a folder: the nearest folder's first. */
  readPathMaps(folder: string): PathMap[];
  /** What the configurations of a folder build, and from where. */
  buildsIn(folder: string): Build[];
}

/**
 * Reads a configuration when something depends on it, and once: many extend the same one, and one is asked for its paths
 * and its builds.
 */
export function createTsconfigs(project: ProjectFiles): Tsconfigs {
  const mapping = new Set(MAPS.flatMap((name) => project.configsNamed(name)));
  const known = new Map<string, Options>();
  // How deep it is counts too: of those that extend each other in a circle, each ends it elsewhere.
  const optionsAt: OptionsAt = (path, depth) => {
    const key = `${depth} ${path}`;
    const options = known.get(key) ?? readOptions(project, path, depth, optionsAt);
    known.set(key, options);
    return options;
  };
  return {
    readPathMaps(within) {
      const maps: PathMap[] = [];
      for (let folder = within; ; folder = dirname(folder)) {
        for (const name of MAPS) {
          const path = join(folder, name);
          if (!mapping.has(path)) continue;
          const { baseUrl, paths } = optionsAt(path, 0);
          if (baseUrl !== undefined || paths.length > 0) maps.push({ baseUrl, paths, folder });
        }
        if (folder === "") return maps;
      }
    },
    buildsIn(folder) {
      const builds: Build[] = [];
      for (const name of BUILDS) {
        const path = join(folder, name);
        if (project.readConfig(path) === undefined) continue;
        const { made, rootDir, include } = optionsAt(path, 0);
        // Without `rootDir` the compiler takes the folder that all inputs share.
        const from = rootDir ?? commonFolder(include ?? [folder]);
        for (const one of made) if (one !== from) builds.push({ made: one, from });
      }
      return builds;
    },
  };
}

function commonFolder(folders: readonly string[]): string {
  let [common = ""] = folders;
  for (const folder of folders)
    while (common !== "" && folder !== common && !folder.startsWith(`${common}/`)) common = dirname(common);
  return common;
}

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];

type OptionsAt = (path: string, depth: number) => Options;

function readOptions(project: ProjectFiles, path: string, depth: number, optionsAt: OptionsAt): Options {
  const folder = dirname(path);
  const json = membersOf(parseJsonc(project.readConfig(path) ?? ""));
  const options = membersOf(json["compilerOptions"]);
  const result: Options = { folder, baseUrl: undefined, paths: [], made: [], rootDir: undefined, include: undefined };
  const extending = json["extends"];
  for (const parent of Array.isArray(extending) ? extending : [extending]) {
    if (typeof parent !== "string" || !parent.startsWith(".") || depth >= MAX_EXTENDS) continue;
    const base = join(folder, parent.endsWith(".json") ? parent : `${parent}.json`);
    const inherited = optionsAt(base, depth + 1);
    result.baseUrl = inherited.baseUrl ?? result.baseUrl;
    result.rootDir = inherited.rootDir ?? result.rootDir;
    result.include = inherited.include ?? result.include;
    if (inherited.paths.length > 0) result.paths = inherited.paths;
    if (inherited.made.length > 0) result.made = inherited.made;
  }
  if (typeof options["baseUrl"] === "string") result.baseUrl = join(folder, options["baseUrl"]);
  if (typeof options["rootDir"] === "string") result.rootDir = join(folder, options["rootDir"]);
  const made = strings([options["outDir"], options["declarationDir"]]).map((one) => join(folder, one));
  if (made.length > 0) result.made = made;
  // The part of a pattern before its first wildcard, without a file's name.
  const include = strings(json["include"]).map((one) => join(folder, folderPart(one)));
  if (include.length > 0) result.include = include;
  const paths = membersOf(options["paths"]);
  if (Object.keys(paths).length > 0) result.paths = pathsOf(paths, result.baseUrl ?? folder);
  return result;
}

function pathsOf(paths: Record<string, unknown>, base: string): PathMap["paths"] {
  const found = Object.entries(paths).map(([pattern, targets]) => {
    const star = pattern.indexOf("*");
    return {
      prefix: star < 0 ? pattern : pattern.slice(0, star),
      suffix: star < 0 ? "" : pattern.slice(star + 1),
      exact: star < 0,
      targets: strings(targets).map((target) => join(base, target)),
    };
  });
  return found.sort((a, b) => Number(b.exact) - Number(a.exact) || b.prefix.length - a.prefix.length);
}

/** `src/` of `src/*.ts`, `src` of `src/main.ts`. */
function folderPart(pattern: string): string {
  const wildcard = pattern.search(/[*?]/);
  const end = wildcard === -1 ? pattern.length : wildcard;
  const slash = pattern.lastIndexOf("/", end - 1);
  const isFile = wildcard === -1 && /\.\w+$/.test(pattern.slice(slash + 1));
  return wildcard === -1 && !isFile ? pattern : pattern.slice(0, Math.max(0, slash));
}
