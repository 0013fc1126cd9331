/** Where modules are, according to tsconfig.json and jsconfig.json. `extends` is followed. */
import { membersOf } from "../../../core/is-object.ts";
import type { ProjectFiles } from "../language.ts";
import { dirname, join } from "../paths.ts";
import { parseJsonc } from "./jsonc.ts";

export interface PathMap {
  folder: string;
  baseUrl: string | undefined;
  /** The patterns in the order in which to try them: exact names first, then the longest prefix. */
  paths: { prefix: string; suffix: string; exact: boolean; targets: string[] }[];
}

/**
 * A folder that a build fills (`made`), and the folder of its sources (`from`). Paths are relative to the repository.
 */
export interface Build {
  made: string;
  from: string;
}

interface Options extends PathMap {
  /** Folders that a build fills. */
  made: string[];
  rootDir: string | undefined;
  /** Folders whose files belong to the project; undefined if none are given. */
  include: string[] | undefined;
}

/** Configuration files whose `paths` apply to all files in their folder and below. */
const MAPS = ["tsconfig.json", "tsconfig.base.json", "jsconfig.json"];
/** Configuration files of builds. */
const BUILDS = ["tsconfig.build.json", "tsconfig.json"];
const MAX_EXTENDS = 8;

export const TSCONFIG_NAMES = [...new Set([...MAPS, ...BUILDS])];

export interface Tsconfigs {
  /** The path maps that apply to the files of a folder, nearest folder first. */
  readPathMaps(folder: string): PathMap[];
  /** The builds that the configuration files of a folder describe. */
  buildsIn(folder: string): Build[];
}

/**
 * Reads each configuration file once, when it is first needed. Many files may extend the same one, and the same file is
 * asked for its paths and its builds.
 */
export function createTsconfigs(project: ProjectFiles): Tsconfigs {
  const mapping = new Set(MAPS.flatMap((name) => project.configsNamed(name)));
  const known = new Map<string, Options>();
  // The depth is part of the key: a circle of `extends` ends at a different file for each starting point.
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
        // Without `rootDir`, the compiler uses the deepest folder that contains all inputs.
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

const toStrings = (value: unknown): string[] =>
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
  const made = toStrings([options["outDir"], options["declarationDir"]]).map((one) => join(folder, one));
  if (made.length > 0) result.made = made;
  // The folder part of each pattern, up to its first wildcard.
  const include = toStrings(json["include"]).map((one) => join(folder, folderPart(one)));
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
      targets: toStrings(targets).map((target) => join(base, target)),
    };
  });
  return found.sort((a, b) => Number(b.exact) - Number(a.exact) || b.prefix.length - a.prefix.length);
}

/** `src` for `src/*.ts` and for `src/main.ts`. */
function folderPart(pattern: string): string {
  const wildcard = pattern.search(/[*?]/);
  const end = wildcard === -1 ? pattern.length : wildcard;
  const slash = pattern.lastIndexOf("/", end - 1);
  const isFile = wildcard === -1 && /\.\w+$/.test(pattern.slice(slash + 1));
  return wildcard === -1 && !isFile ? pattern : pattern.slice(0, Math.max(0, slash));
}
