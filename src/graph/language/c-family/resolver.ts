/** Where includes lead, and the name spaces that `using` names. */
import type { ImportResolver, ImportTarget, ProjectFiles } from "../language.ts";
import { basename, dirname, join } from "../paths.ts";

const EXTERNAL: ImportTarget = { kind: "external" };
/** Headers of the C library: a file of that name in the repository is not what angle brackets mean. */
const STANDARD =
  /^(assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|tgmath|threads|time|uchar|unistd|wchar|wctype|dirent|fcntl|getopt|grp|netdb|poll|pthread|pwd|regex|sched|semaphore|syslog|termios|utime|dlfcn|endian|alloca|malloc|memory)\.h$/;

export function createIncludeResolver(project: ProjectFiles): ImportResolver {
  const cache = new Map<string, ImportTarget>();

  function likeness(a: string, b: string): number {
    let same = 0;
    for (let i = 0; i < a.length && a[i] === b[i]; i++) if (a[i] === "/") same = i + 1;
    return same;
  }

  function include(path: string, system: boolean, from: string): ImportTarget {
    const beside = project.fileAt(join(dirname(from), path));
    if (beside >= 0 && !system) return { kind: "file", file: beside };
    if (system && STANDARD.test(path)) return EXTERNAL;
    const ending = `/${join("", path.replace(/^(\.\.?\/)+/, ""))}`;
    let best = -1;
    let near = -1;
    for (const file of project.filesNamed(basename(path))) {
      const candidate = project.pathOf(file);
      if (!`/${candidate}`.endsWith(ending)) continue;
      const score = likeness(candidate, from) * 1000 - candidate.length;
      if (best < 0 || score > near) {
        best = file;
        near = score;
      }
    }
    return best < 0 ? EXTERNAL : { kind: "file", file: best };
  }

  function space(name: string): ImportTarget {
    if (project.spaceExists(name)) return { kind: "space", name };
    const parts = name.split(".");
    for (let cut = parts.length - 1; cut > 0; cut--) {
      const outer = parts.slice(0, cut).join(".");
      if (project.spaceExists(outer)) return { kind: "inside", file: -1, space: outer, path: parts.slice(cut) };
    }
    return EXTERNAL;
  }

  return {
    resolve(module, _name, fromFile) {
      const from = project.pathOf(fromFile);
      const key = module.startsWith("::") ? module : `${dirname(from)}\n${module}`;
      let target = cache.get(key);
      if (!target) {
        const system = module.startsWith("<");
        target = module.startsWith("::")
          ? space(module.slice(2))
          : include(module.replace(/^[<"]|[>"]$/g, ""), system, from);
        cache.set(key, target);
      }
      return target;
    },
  };
}
