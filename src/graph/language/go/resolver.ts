/** Resolves Go imports to packages of the repository's modules. `replace` directives are followed. */
import { EXTERNAL, rememberTargets } from "../import-targets.ts";
import type { ImportResolver, ImportTarget, ProjectFiles } from "../language.ts";
import { dirname, join } from "../paths.ts";

interface Module {
  /** Import path of the module. */
  path: string;
  folder: string;
}

export function createGoResolver(project: ProjectFiles): ImportResolver {
  const modules = modulesOf(project);

  function find(path: string): ImportTarget {
    for (const module of modules) {
      if (path !== module.path && !path.startsWith(`${module.path}/`)) continue;
      const folder = join(module.folder, path.slice(module.path.length));
      const files = project.filesIn(folder).filter((file) => {
        const name = project.pathOf(file);
        return name.endsWith(".go") && !name.endsWith("_test.go");
      });
      if (files.length > 0) return { kind: "files", files };
    }
    return EXTERNAL;
  }

  return rememberTargets((module) => module, find);
}

/** Modules and replaced modules, the longest import path first. */
function modulesOf(project: ProjectFiles): Module[] {
  const modules: Module[] = [];
  for (const config of project.configsNamed("go.mod")) {
    const text = (project.readConfig(config) ?? "").replace(/\/\/.*$/gm, "");
    const folder = dirname(config);
    const own = /^[ \t]*module[ \t]+"?([^\s"]+)/m.exec(text);
    if (own) modules.push({ path: own[1]!, folder });
    for (const match of text.matchAll(
      /^[ \t]*(?:replace[ \t]+)?([^\s(]+)(?:[ \t]+v\S+)?[ \t]*=>[ \t]*(\.{1,2}(?:\/\S*)?)/gm,
    ))
      modules.push({ path: match[1]!, folder: join(folder, match[2]!) });
  }
  if (modules.length === 0) modules.push(...guessedModules(project));
  return modules.sort((a, b) => b.path.length - a.path.length);
}

/** Modules without a go.mod (GOPATH, vendored trees): the folders in `src/`. */
function guessedModules(project: ProjectFiles): Module[] {
  return project.folderExists("src") ? topFolders(project).map((path) => ({ path, folder: `src/${path}` })) : [];
}

function topFolders(project: ProjectFiles): string[] {
  const found = new Set<string>();
  for (let file = 0; project.pathOf(file) !== ""; file++) {
    const parts = project.pathOf(file).split("/");
    if (parts[0] === "src" && parts.length > 2) found.add(parts[1]!);
  }
  return [...found];
}
