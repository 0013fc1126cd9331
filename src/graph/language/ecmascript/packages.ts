/**
 * Finds modules of a repository by their path or by the name of their package. A package.json often names built files;
 * they are mapped back to the sources that they are built from.
 */
import { membersOf } from "../../../core/is-object.ts";
import type { ProjectFiles } from "../language.ts";
import { dirname, join } from "../paths.ts";
import { parseJsonc } from "./jsonc.ts";
import type { Build, Tsconfigs } from "./tsconfig.ts";

const ENDINGS = [".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"];
/** For the ending of a built file, the endings that its source may have. */
const SOURCE_OF: ReadonlyMap<string, readonly string[]> = new Map([
  [".js", [".ts", ".tsx", ".d.ts", ".js", ".jsx"]],
  [".jsx", [".tsx", ".jsx"]],
  [".mjs", [".mts", ".mjs"]],
  [".cjs", [".cts", ".cjs"]],
]);

interface WorkspacePackage {
  folder: string;
  name: string;
  exports: unknown;
  imports: unknown;
  entries: string[];
  /** Where the package's sources are; found when first asked for. */
  sources: PackageSources | undefined;
}

interface PackageSources {
  /** Folders that its tsconfig files build, and from which folders. */
  builds: Build[];
  /** Folders that contain its sources, likeliest first. */
  roots: string[];
}

/** Folders that a build adds for each format of its output. Sources do not have them. */
const FORMS = /^(esm|cjs|es|mjs|types|src)$/;

/** Finds files by the names that modules use: the ending may be missing, or be that of the built file. */
function createFileLookup(project: ProjectFiles) {
  /** @returns the file row for a path with an inexact ending, or -1 */
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

  function moduleLike(path: string): number {
    const file = fileLike(path);
    return file >= 0 ? file : fileLike(`${path}/index`);
  }
  return { fileLike, moduleLike };
}

export function createPackageModules(project: ProjectFiles, tsconfigs: Tsconfigs) {
  const packages = readPackages(project);
  const byName = new Map(packages.map((entry) => [entry.name, entry]));
  // In reverse, so that of several packages in a folder the first one counts.
  const byFolder = new Map(packages.toReversed().map((entry) => [entry.folder, entry]));
  const { fileLike, moduleLike } = createFileLookup(project);

  function sourcesIn(entry: WorkspacePackage): PackageSources {
    entry.sources ??= findSources(project, tsconfigs, entry.folder);
    return entry.sources;
  }

  function moduleAt(path: string): number {
    const file = fileLike(path);
    if (file >= 0) return file;
    const own = byFolder.get(path);
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
    for (const root of sourcesIn(entry).roots) {
      const file = fileLike(join(root, "index"));
      if (file >= 0) return file;
    }
    return -1;
  }

  /** The file that package.json names or, if that does not exist, the source that it is built from. */
  function sourceOf(entry: WorkspacePackage, path: string): number {
    const whole = join(entry.folder, path);
    const direct = moduleLike(whole);
    if (direct >= 0) return direct;
    const source = whole.replace(/\.d\.([mc]?)ts$/, ".$1js");
    for (const { made, from } of sourcesIn(entry).builds) {
      const file = source.startsWith(`${made}/`) ? moduleLike(join(from, source.slice(made.length + 1))) : -1;
      if (file >= 0) return file;
    }
    return builtElsewhere(entry, source);
  }

  /** Finds the source of a bundled file in a folder that the repository does not contain. */
  function builtElsewhere(entry: WorkspacePackage, whole: string): number {
    const parts = whole.slice(entry.folder === "" ? 0 : entry.folder.length + 1).split("/");
    if (parts.length < 2 || project.folderExists(join(entry.folder, parts[0]!))) return -1;
    const inner = FORMS.test(parts[1]!) && parts.length > 2 ? [parts.slice(1), parts.slice(2)] : [parts.slice(1)];
    for (const rest of inner)
      for (const root of sourcesIn(entry).roots) {
        const file = moduleLike(join(root, rest.join("/")));
        if (file >= 0) return file;
      }
    return -1;
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
    for (const root of new Set([entry.folder, ...sourcesIn(entry).roots])) {
      const file = moduleAt(join(root, rest));
      if (file >= 0) return file;
    }
    return -1;
  }

  return { moduleAt, packageModule };
}

function readPackages(project: ProjectFiles): WorkspacePackage[] {
  const found: WorkspacePackage[] = [];
  for (const path of project.configsNamed("package.json")) {
    const json = membersOf(parseJsonc(project.readConfig(path) ?? ""));
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
      sources: undefined,
    });
  }
  return found.sort((a, b) => a.folder.length - b.folder.length || (a.folder < b.folder ? -1 : 1));
}

/** Finds where a package's sources are: the inputs of its builds, then `src`, then the package's own folder. */
function findSources(project: ProjectFiles, tsconfigs: Tsconfigs, folder: string): PackageSources {
  const builds = tsconfigs.buildsIn(folder);
  const usual = [join(folder, "src"), folder];
  const roots = new Set([...builds.map(({ from }) => from), ...usual].filter((root) => project.folderExists(root)));
  return { builds, roots: [...roots] };
}

/** The paths that an `exports` or `imports` field gives for a name, in the order in which to try them. */
function conditionTargets(field: unknown, name: string): string[] {
  if (typeof field === "string") return name === "." ? [field] : [];
  const record = membersOf(field);
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
  return Object.values(membersOf(value)).flatMap((item) => flatten(item, star));
}
