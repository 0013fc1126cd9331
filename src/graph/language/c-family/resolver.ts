/** Resolves includes, and the name spaces in `using`. */
import { EXTERNAL, findInSpaces, inFolder, rememberTargets } from "../import-targets.ts";
import type { ImportResolver, ImportTarget, ProjectFiles } from "../language.ts";
import { basename, dirname, join, sharedFolders } from "../paths.ts";

/** Headers of the C library. In angle brackets, these names do not mean a file of the repository. */
const STANDARD =
  /^(assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|tgmath|threads|time|uchar|unistd|wchar|wctype|dirent|fcntl|getopt|grp|netdb|poll|pthread|pwd|regex|sched|semaphore|syslog|termios|utime|dlfcn|endian|alloca|malloc|memory)\.h$/;

export function createIncludeResolver(project: ProjectFiles): ImportResolver {
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
      const score = sharedFolders(candidate, from) * 1000 - candidate.length;
      if (best < 0 || score > near) {
        best = file;
        near = score;
      }
    }
    return best < 0 ? EXTERNAL : { kind: "file", file: best };
  }

  const inSameFolder = inFolder(project);
  return rememberTargets(
    (module, fromFile) => (module.startsWith("::") ? module : inSameFolder(module, fromFile)),
    (module, fromFile) =>
      module.startsWith("::")
        ? findInSpaces(project, module.slice(2))
        : include(module.replace(/^[<"]|[>"]$/g, ""), module.startsWith("<"), project.pathOf(fromFile)),
  );
}
