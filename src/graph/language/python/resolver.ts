/**
 * Resolves Python imports. Relative imports start at the importing file's package. Absolute ones start at folders from
 * which programs of the repository may run: the importing file's own root, the repository's root, `src`, `lib`, and
 * every folder that contains a package.
 */
import { EXTERNAL, inFolder, rememberTargets } from "../import-targets.ts";
import type { ImportResolver, ImportTarget, ProjectFiles } from "../language.ts";
import { basename, dirname, join, sharedFolders } from "../paths.ts";
import { STANDARD_MODULES } from "./standard-modules.ts";
import { CONFTEST } from "./test-fixtures.ts";

export function createPythonResolver(project: ProjectFiles): ImportResolver {
  let packageRoots: Map<string, string[]> | undefined;

  const isPackage = (folder: string) => project.fileAt(join(folder, "__init__.py")) >= 0;

  /** Folders that contain a top-level package, by the package's name. */
  function rootsOf(name: string): readonly string[] {
    if (!packageRoots) {
      packageRoots = new Map();
      for (const file of project.filesNamed("__init__.py")) {
        const folder = dirname(project.pathOf(file));
        const root = dirname(folder);
        if (folder === "" || (root !== "" && isPackage(root))) continue;
        packageRoots.set(basename(folder), [...(packageRoots.get(basename(folder)) ?? []), root]);
      }
    }
    return packageRoots.get(name) ?? [];
  }

  /** The nearest folder above a file that is not a package. The modules of the file's program are found there. */
  function ownRoot(path: string): string {
    let folder = dirname(path);
    while (folder !== "" && isPackage(folder)) folder = dirname(folder);
    return folder;
  }

  function findAt(root: string, parts: readonly string[]): ImportTarget | undefined {
    const folder = join(root, parts.join("/"));
    const init = project.fileAt(join(folder, "__init__.py"));
    if (init >= 0) return { kind: "file", file: init };
    const file = parts.length === 0 ? -1 : project.fileAt(`${folder}.py`);
    if (file >= 0) return { kind: "file", file };
    return project.folderExists(folder) ? { kind: "folder", folder } : undefined;
  }

  function findAbsolute(parts: readonly string[], from: string): ImportTarget {
    const first = [parts[0]!];
    const roots = [ownRoot(from), "", "src", "lib"];
    for (const root of roots) {
      const top = findAt(root, first);
      if (top && top.kind === "file") return findAt(root, parts) ?? EXTERNAL;
    }
    if (STANDARD_MODULES.has(parts[0]!)) return EXTERNAL;
    const far = [...rootsOf(parts[0]!)].sort((a, b) => sharedFolders(b, from) - sharedFolders(a, from));
    for (const root of far) {
      const target = findAt(root, parts);
      if (target) return target;
    }
    // A folder without __init__.py is a package too, unless something better has the name.
    for (const root of roots) {
      const target = findAt(root, first) ? findAt(root, parts) : undefined;
      if (target && (target.kind === "file" || parts.length === 1)) return target;
    }
    return EXTERNAL;
  }

  /** The `conftest.py` files in a file's folder and in the folders above it, nearest first. */
  function findConftests(from: string): ImportTarget {
    const files: number[] = [];
    for (let folder = dirname(from); ; folder = dirname(folder)) {
      const file = project.fileAt(join(folder, "conftest.py"));
      if (file >= 0) files.push(file);
      if (folder === "") break;
    }
    return { kind: "files", files };
  }

  function find(module: string, fromFile: number): ImportTarget {
    const from = project.pathOf(fromFile);
    if (module === CONFTEST) return findConftests(from);
    const dots = /^\.*/.exec(module)![0].length;
    const parts = module.slice(dots).split(".").filter(Boolean);
    if (dots === 0) return parts.length === 0 ? EXTERNAL : findAbsolute(parts, from);
    let folder = dirname(from);
    for (let i = 1; i < dots; i++) folder = dirname(folder);
    return findAt(folder, parts) ?? EXTERNAL;
  }

  return rememberTargets(inFolder(project), find);
}
