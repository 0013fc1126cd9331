/** Resolves Java imports to packages of the repository, and to classes in them. */
import { EXTERNAL, rememberTargets } from "../import-targets.ts";
import type { ImportResolver, ImportTarget, ProjectFiles } from "../language.ts";

export function createJavaResolver(project: ProjectFiles): ImportResolver {
  /** Finds the longest package of the repository that a dotted name begins with. The rest of the name are classes. */
  function find(module: string): ImportTarget {
    if (project.spaceExists(module)) return { kind: "space", name: module };
    const parts = module.split(".");
    for (let cut = parts.length - 1; cut > 0; cut--) {
      const space = parts.slice(0, cut).join(".");
      if (!project.spaceExists(space)) continue;
      const path = parts.slice(cut);
      // By convention, only class names begin with a capital. A lower-case rest belongs to a package outside of the
      // repository.
      return /^\p{Lu}/u.test(path[0]!) ? { kind: "inside", file: -1, space, path } : EXTERNAL;
    }
    return EXTERNAL;
  }

  return rememberTargets((module) => module, find);
}
