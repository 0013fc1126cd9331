/** The repository's files, for import resolvers. */
import type { ProjectFiles } from "./language.ts";
import { basename, dirname } from "./paths.ts";

const NONE: readonly never[] = [];

interface ProjectInput {
  /** Paths of the indexed files, in the order of their rows. */
  paths: readonly string[];
  /** Paths of configuration files. */
  configs: readonly string[];
  readConfig(path: string): string | undefined;
  spaceExists(name: string): boolean;
}

export function createProjectFiles(input: ProjectInput): ProjectFiles {
  const rows = new Map<string, number>();
  const byFolder = new Map<string, number[]>();
  const byName = new Map<string, number[]>();
  const configs = new Map<string, string[]>();
  const folders = new Set<string>([""]);
  const push = <V>(map: Map<string, V[]>, key: string, value: V) => {
    const list = map.get(key);
    if (list) list.push(value);
    else map.set(key, [value]);
  };
  for (const [row, path] of input.paths.entries()) {
    rows.set(path, row);
    const folder = dirname(path);
    push(byFolder, folder, row);
    push(byName, basename(path), row);
    for (let at = folder; at !== "" && !folders.has(at); at = dirname(at)) folders.add(at);
  }
  for (const path of input.configs) push(configs, basename(path), path);
  return {
    fileAt: (path) => rows.get(path) ?? -1,
    filesIn: (folder) => byFolder.get(folder) ?? NONE,
    filesNamed: (name) => byName.get(name) ?? NONE,
    pathOf: (file) => input.paths[file] ?? "",
    folderExists: (folder) => folders.has(folder),
    configsNamed: (name) => configs.get(name) ?? NONE,
    readConfig: (path) => input.readConfig(path),
    spaceExists: (name) => input.spaceExists(name),
  };
}
