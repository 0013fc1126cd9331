/** Copies source folders for benchmarks, and edits the copies. */
import { appendFileSync, cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, extname, join, relative } from "node:path";

const AUTHOR = ["-c", "user.name=b", "-c", "user.email=b@b"];

/** Runs git in a folder. @throws Error when it fails. */
export function runGit(cwd: string, ...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["git", ...AUTHOR, ...args], { cwd });
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
}

/** A copy that is a separate repository, so that the measured folder is not changed. */
export function copyOf(path: string, folder: string): string {
  const copy = join(folder, basename(path));
  cpSync(path, copy, {
    recursive: true,
    filter: (from) => !/\/(\.git|node_modules)(\/|$)/.test(from.slice(path.length)),
  });
  runGit(copy, "init", "-q");
  runGit(copy, "add", "-A");
  runGit(copy, "commit", "-qm", "all");
  return copy;
}

/**
 * How to write a function in a language in which a function that calls another one can be added at the end of a file.
 */
interface Writing {
  /** Finds functions that can be called by their plain name, which is the first group. */
  definition: RegExp;
  call(name: string, callee: string): string;
}

const ECMASCRIPT: Writing = {
  definition: /^(?:export )?(?:async )?function (\w+)\s*\(/m,
  call: (name, callee) => `\nfunction ${name}() {\n  return ${callee}();\n}\n`,
};
const C: Writing = {
  definition: /^(?:static )?(?:int|void|long|size_t|char \*)\s*\*?(\w+)\([^;{}()]*\)\s*\{/m,
  call: (name, callee) => `\nvoid ${name}(void) {\n  ${callee}();\n}\n`,
};
const WRITINGS: Record<string, Writing> = {
  ".ts": ECMASCRIPT,
  ".tsx": ECMASCRIPT,
  ".js": ECMASCRIPT,
  ".mjs": ECMASCRIPT,
  ".c": C,
  ".cpp": C,
  ".py": {
    definition: /^def (\w+)\(/m,
    call: (name, callee) => `\n\ndef ${name}():\n    return ${callee}()\n`,
  },
  ".go": { definition: /^func (\w+)\(/m, call: (name, callee) => `\nfunc ${name}() {\n\t${callee}()\n}\n` },
  ".rs": { definition: /^(?:pub )?fn (\w+)\(/m, call: (name, callee) => `\nfn ${name}() {\n    ${callee}();\n}\n` },
  ".php": {
    definition: /^(?:final |abstract )?class (\w+)/m,
    call: (name, callee) => `\nfunction ${name}()\n{\n    return new ${callee}();\n}\n`,
  },
  ".java": {
    definition: /^public (?:final )?class (\w+)/m,
    call: (name, callee) => `\nclass ${name} {\n  Object made() {\n    return new ${callee}();\n  }\n}\n`,
  },
  ".cs": {
    definition: /^public (?:sealed |partial )*class (\w+)/m,
    call: (name, callee) => `\nclass ${name}\n{\n    object Made() => new ${callee}();\n}\n`,
  },
};

const MAX_BYTES = 200_000;

export interface Editable {
  /** Absolute path of the file. */
  path: string;
  /** Adds a function with that name that calls one of the file's functions. */
  addFunction(name: string): void;
  /** Adds an empty line, which changes nothing but the number of lines. */
  addLine(): void;
}

/**
 * Files to which a function can be added, sorted by path. Only files of the most frequent language, so that an edit is
 * typical of the folder. Files in git's own folders and tests are left out.
 */
export function editableFiles(copy: string): Editable[] {
  const byEnding = new Map<string, Editable[]>();
  for (const path of (readdirSync(copy, { recursive: true }) as string[]).sort()) {
    const ending = extname(path);
    const writing = WRITINGS[ending];
    if (!writing || /(^|\/)(\.git|tests?|vendor|deps|third_party)\/|\.d\.ts$|\.min\./.test(path)) continue;
    const full = join(copy, path);
    if (statSync(full).size > MAX_BYTES) continue;
    const callee = writing.definition.exec(readFileSync(full, "utf8"))?.[1];
    if (callee === undefined) continue;
    const files = byEnding.get(ending) ?? [];
    byEnding.set(ending, files);
    files.push({
      path: full,
      addFunction: (name) => appendFileSync(full, writing.call(name, callee)),
      addLine: () => appendFileSync(full, "\n"),
    });
  }
  const [most] = [...byEnding.values()].sort((a, b) => b.length - a.length);
  if (!most) throw new Error(`no source that an edit could be made in: ${copy}`);
  return most;
}

/** Leaves a working tree with edited, staged, new and renamed files, as in the middle of somebody's work. */
export function leaveWorkUnderWay(copy: string): void {
  const files = editableFiles(copy);
  const [edited, staged, renamed] = [files.slice(0, 3), files.slice(3, 5), files[5]];
  for (const [i, file] of edited.entries()) file.addFunction(`edited_${i}`);
  for (const [i, file] of staged.entries()) {
    file.addFunction(`staged_${i}`);
    runGit(copy, "add", relative(copy, file.path));
  }
  for (const [i, file] of files.slice(6, 8).entries())
    writeFileSync(file.path.replace(/(\.\w+)$/, `_new_${i}$1`), readFileSync(file.path));
  if (!renamed) return;
  runGit(copy, "mv", relative(copy, renamed.path), relative(copy, renamed.path.replace(/(\.\w+)$/, "_renamed$1")));
}
