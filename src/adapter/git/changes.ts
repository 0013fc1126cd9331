/** The change between two commits: its files, and their hunks a page at a time. */
import { takeTurns } from "../../core/turns.ts";
import type { GitCommand } from "./command.ts";
import { assertRef } from "./names.ts";

export interface Range {
  from: string;
  to: string;
}

type FileStatus = "added" | "modified" | "deleted" | "type_changed";

export interface ChangedPath {
  path: string;
  status: FileStatus;
  /** Null for a binary file. */
  insertions: number | null;
  deletions: number | null;
}

export interface Hunk {
  /** `@@ -1,2 +1,3 @@ …` */
  header: string;
  /** Each begins with ` `, `+`, `-` or `\`. */
  lines: string[];
}

/** By git's letter for each. */
const STATUSES = new Map<string | undefined, FileStatus>([
  ["A", "added"],
  ["M", "modified"],
  ["D", "deleted"],
  ["T", "type_changed"],
]);
/** Of one file's patch. */
export const FILE_PATCH_CHARACTERS = 200_000;

const diff = (...shape: string[]) => [
  "diff-tree",
  "-r",
  "--no-ext-diff",
  "--no-textconv",
  "--no-renames",
  "--no-color",
  "--ignore-submodules=all",
  ...shape,
];
const at = (repository: string) => ({ cwd: repository, gitDir: repository, env: { GIT_LITERAL_PATHSPECS: "1" } });
function commits({ from, to }: Range): string[] {
  assertRef(from);
  assertRef(to);
  return [`${from}^{commit}`, `${to}^{commit}`, "--"];
}

/** All files that differ, in git's order. */
export async function changedPaths(git: GitCommand, repository: string, range: Range): Promise<ChangedPath[]> {
  const { stdout } = await git([...diff("--raw", "--numstat", "-z"), ...commits(range)], at(repository));
  const found = new Map<string, ChangedPath>();
  const fields = stdout.split("\0");
  const turn = takeTurns();
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!;
    await turn();
    const status = STATUSES.get(/^:\d+ \d+ \S+ \S+ ([AMDT])/.exec(field)?.[1]);
    if (status) {
      const path = fields[++i]!;
      found.set(path, { path, status, insertions: null, deletions: null });
      continue;
    }
    const [, plus, minus, path] = /^(\d+|-)\t(\d+|-)\t([\s\S]*)$/.exec(field) ?? [];
    const file = path === undefined ? undefined : found.get(path);
    if (file && plus !== "-") Object.assign(file, { insertions: Number(plus), deletions: Number(minus) });
  }
  return [...found.values()];
}

/** Unified diff of these files; cut after `maxBytes`. */
export async function patchOf(
  git: GitCommand,
  repository: string,
  range: Range,
  options: { paths?: readonly string[]; maxBytes: number },
): Promise<{ patch: string; cut: boolean }> {
  const { paths = [], maxBytes } = options;
  const args = [...diff("--patch", "--binary", "--full-index"), ...commits(range), ...paths];
  const { stdout, cut } = await git(args, { ...at(repository), cutAt: maxBytes });
  return { patch: stdout, cut };
}

/** Hunks of one file. */
export async function hunksOf(
  git: GitCommand,
  repository: string,
  range: Range,
  path: string,
): Promise<{ hunks: Hunk[]; cut: boolean }> {
  const args = [...diff("--patch"), ...commits(range), path];
  const { stdout, cut } = await git(args, { ...at(repository), cutAt: FILE_PATCH_CHARACTERS });
  const hunks: Hunk[] = [];
  for (const text of stdout.split("\n")) {
    if (text.startsWith("@@ ")) hunks.push({ header: text.slice(0, 500), lines: [] });
    else if (text !== "") hunks.at(-1)?.lines.push(text);
  }
  return { hunks, cut };
}
