/** Shared by the import resolvers of the languages. */
import type { ImportResolver, ImportTarget, ProjectFiles } from "./language.ts";
import { dirname } from "./paths.ts";

export const EXTERNAL: ImportTarget = { kind: "external" };

/** A resolver that finds each target once. @param keyOf a key of everything that the target depends on */
export function rememberTargets(
  keyOf: (module: string, fromFile: number) => string,
  find: (module: string, fromFile: number) => ImportTarget,
): ImportResolver {
  const known = new Map<string, ImportTarget>();
  return {
    resolve(module, _name, fromFile) {
      const key = keyOf(module, fromFile);
      let target = known.get(key);
      if (!target) {
        target = find(module, fromFile);
        known.set(key, target);
      }
      return target;
    },
  };
}

/** A key for modules that mean the same in all files of a folder. */
export const inFolder =
  (project: ProjectFiles) =>
  (module: string, fromFile: number): string =>
    `${dirname(project.pathOf(fromFile))}\n${module}`;

/** The target for a dotted name: a name space, or a path inside of the longest name space that the name begins with. */
export function findInSpaces(project: ProjectFiles, name: string): ImportTarget {
  if (project.spaceExists(name)) return { kind: "space", name };
  const parts = name.split(".");
  for (let cut = parts.length - 1; cut > 0; cut--) {
    const space = parts.slice(0, cut).join(".");
    if (project.spaceExists(space)) return { kind: "inside", file: -1, space, path: parts.slice(cut) };
  }
  return EXTERNAL;
}
