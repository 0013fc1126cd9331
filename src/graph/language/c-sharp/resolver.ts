/** Resolves C# usings: to name spaces of the repository and, for `using static`, to classes in them. */
import { findInSpaces, rememberTargets } from "../import-targets.ts";
import type { ImportResolver, ProjectFiles } from "../language.ts";

export function createCSharpResolver(project: ProjectFiles): ImportResolver {
  return rememberTargets(
    (module) => module,
    (module) => findInSpaces(project, module),
  );
}
