/**
 * Resolves ECMAScript imports: relative paths (`.js` may stand for `.ts`), tsconfig `paths` and `baseUrl`, packages of
 * the same repository by their package.json, and `#imports`. A package.json often names built files; tsconfig's
 * `outDir` and `rootDir` tell what they are built from.
 */
import { EXTERNAL, inFolder, rememberTargets } from "../import-targets.ts";
import type { ImportResolver, ImportTarget, ProjectFiles } from "../language.ts";
import { dirname, join } from "../paths.ts";
import { createPackageModules } from "./packages.ts";
import { createTsconfigs, type PathMap } from "./tsconfig.ts";

/** The target for a file. JavaScript and the declarations beside it are one module; the declarations come first. */
function moduleOf(project: ProjectFiles, file: number): ImportTarget {
  const path = project.pathOf(file);
  const made = /\.d\.([mc]?)ts$/.exec(path);
  const bare = made ? path.slice(0, made.index) : path.replace(/\.([mc]?)jsx?$/, "");
  if (bare === path) return { kind: "file", file };
  const form = made ? made[1]! : (/\.([mc])jsx?$/.exec(path)?.[1] ?? "");
  const declared = project.fileAt(`${bare}.d.${form}ts`);
  const [written = -1] = [`${bare}.${form}js`, `${bare}.jsx`].map(project.fileAt).filter((row) => row >= 0);
  return declared < 0 || written < 0 ? { kind: "file", file } : { kind: "files", files: [declared, written] };
}

interface FolderMaps {
  maps: readonly PathMap[];
  /** The file for each module that was looked up; -1 if there is none. */
  files: Map<string, number>;
}

export function createEcmascriptResolver(project: ProjectFiles): ImportResolver {
  const tsconfigs = createTsconfigs(project);
  const { moduleAt, packageModule } = createPackageModules(project, tsconfigs);
  const mapsByFolder = new Map<string, FolderMaps>();
  const mapsByFolders = new Map<string, FolderMaps>();

  /** The path maps that apply to the files of a folder. Folders with the same maps share one result. */
  function mapsFor(folder: string): FolderMaps {
    const known = mapsByFolder.get(folder);
    if (known) return known;
    const maps = tsconfigs.readPathMaps(folder);
    const key = maps.map((map) => map.folder).join("\n");
    const found = mapsByFolders.get(key) ?? { maps, files: new Map() };
    mapsByFolders.set(key, found);
    mapsByFolder.set(folder, found);
    return found;
  }

  function findMapped(module: string, fromPath: string): number {
    const { maps, files } = mapsFor(dirname(fromPath));
    const file = files.get(module) ?? searchMaps(maps, module);
    files.set(module, file);
    return file;
  }

  function searchMaps(maps: readonly PathMap[], module: string): number {
    for (const map of maps) {
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

  function findFile(module: string, fromPath: string): number {
    const bare = module.replace(/[?!][\s\S]*$/, "");
    if (bare.startsWith("./") || bare.startsWith("../") || bare === "." || bare === "..")
      return moduleAt(join(dirname(fromPath), bare));
    if (bare.startsWith("/")) return moduleAt(bare.slice(1));
    const byPath = findMapped(bare, fromPath);
    return byPath >= 0 ? byPath : packageModule(bare, fromPath);
  }

  return rememberTargets(inFolder(project), (module, fromFile) => {
    const file = findFile(module, project.pathOf(fromFile));
    return file >= 0 ? moduleOf(project, file) : EXTERNAL;
  });
}
