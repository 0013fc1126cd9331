/** Where C# usings lead: name spaces of the repository, and for `using static` the classes inside them. */
import type { ImportResolver, ImportTarget, ProjectFiles } from "../language.ts";

export function createCSharpResolver(project: ProjectFiles): ImportResolver {
  function find(module: string): ImportTarget {
    if (project.spaceExists(module)) return { kind: "space", name: module };
    const parts = module.split(".");
    for (let cut = parts.length - 1; cut > 0; cut--) {
      const space = parts.slice(0, cut).join(".");
      if (project.spaceExists(space)) return { kind: "inside", file: -1, space, path: parts.slice(cut) };
    }
    return { kind: "external" };
  }

  const cache = new Map<string, ImportTarget>();
  return {
    resolve(module) {
      let target = cache.get(module);
      if (!target) {
        target = find(module);
        cache.set(module, target);
      }
      return target;
    },
  };
}
