/** Resolves PHP's names to name spaces of the repository, and includes to files if their path is written out. */
import type { ImportResolver, ImportTarget, ProjectFiles } from "../language.ts";
import { dirname, join } from "../paths.ts";

export function createPhpResolver(project: ProjectFiles): ImportResolver {
  return {
    resolve(module, _name, fromFile) {
      if (module.startsWith("./")) {
        const file = project.fileAt(join(dirname(project.pathOf(fromFile)), module));
        return file < 0 ? { kind: "external" } : ({ kind: "file", file } satisfies ImportTarget);
      }
      return project.spaceExists(module) ? { kind: "space", name: module } : { kind: "external" };
    },
  };
}
