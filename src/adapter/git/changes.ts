/** The changes between two commits: the files, and the hunks of one file. */
import { eachField, type GitCommand } from "./command.ts";
import { assertRef } from "./names.ts";

interface Range {
  from: string;
  to: string;
}

type FileStatus = "added" | "modified" | "deleted" | "type_changed";

interface ChangedPath {
  path: string;
  status: FileStatus;
  /** Null for a binary file, as is `deletions`. */
  insertions: number | null;
  deletions: number | null;
}

export interface Hunk {
  /** `@@ -1,2 +1,3 @@ …` */
  header: string;
  /** Each begins with ` `, `+`, `-` or `\`. */
  lines: string[];
}

/** File statuses by git's letters. */
const STATUSES = new Map<string | undefined, FileStatus>([
  ["A", "added"],
  ["M", "modified"],
  ["D", "deleted"],
  ["T", "type_changed"],
]);
/** Most characters of one file's patch that are read. */
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
const toOptions = (repository: string) => ({
  cwd: repository,
  gitDir: repository,
  env: { GIT_LITERAL_PATHSPECS: "1" },
});
function toCommitArgs({ from, to }: Range): string[] {
  assertRef(from);
  assertRef(to);
  return [`${from}^{commit}`, `${to}^{commit}`, "--"];
}

export interface ChangedPart {
  files: ChangedPath[];
  /** Totals of all changed files, listed or not. */
  stats: { files: number; insertions: number; deletions: number };
}

/** Which changed files to list: one, or up to `limit` files after a path (null: from the first), in git's order. */
export type Wanted = { path: string } | { after: string | null; limit: number };

/** Lists changed files. There may be very many with very long names, so only the wanted ones are held in memory. */
export async function changedPaths(
  git: GitCommand,
  repository: string,
  range: Range,
  wanted: Wanted,
): Promise<ChangedPart> {
  const stats = { files: 0, insertions: 0, deletions: 0 };
  const found = new Map<string, ChangedPath>();
  let isThere = "path" in wanted || wanted.after === null;
  let status: FileStatus | undefined;
  const takeChange = (path: string, as: FileStatus): void => {
    stats.files++;
    const isWanted = "path" in wanted ? path === wanted.path : isThere && found.size < wanted.limit;
    if (isWanted) found.set(path, { path, status: as, insertions: null, deletions: null });
    if ("after" in wanted && path === wanted.after) isThere = true;
  };
  const takeCounts = (field: string): void => {
    const [plus = "-", minus = "-"] = field.split("\t", 2);
    if (plus === "-") return;
    const [insertions, deletions] = [Number(plus), Number(minus)];
    stats.insertions += insertions;
    stats.deletions += deletions;
    const file = found.get(field.slice(plus.length + minus.length + 2));
    if (file) Object.assign(file, { insertions, deletions });
  };
  await eachField(git, [...diff("--raw", "--numstat", "-z"), ...toCommitArgs(range)], toOptions(repository), (text) => {
    if (status) takeChange(text, status);
    else if (!text.startsWith(":")) return takeCounts(text);
    status = status ? undefined : STATUSES.get(/^:\d+ \d+ \S+ \S+ ([AMDT])/.exec(text)?.[1]);
  });
  return { files: [...found.values()], stats };
}

/** Unified diff of these files, or of all when `paths` is empty; cut after `maxBytes`. */
export async function patchOf(
  git: GitCommand,
  repository: string,
  range: Range,
  options: { paths?: readonly string[]; maxBytes: number },
): Promise<{ patch: string; cut: boolean }> {
  const { paths = [], maxBytes } = options;
  const args = [...diff("--patch", "--binary", "--full-index"), ...toCommitArgs(range), ...paths];
  const { stdout, cut } = await git(args, { ...toOptions(repository), cutAt: maxBytes });
  return { patch: stdout, cut };
}

/** Hunks of one file. */
export async function hunksOf(
  git: GitCommand,
  repository: string,
  range: Range,
  path: string,
): Promise<{ hunks: Hunk[]; cut: boolean }> {
  const args = [...diff("--patch"), ...toCommitArgs(range), path];
  const { stdout, cut } = await git(args, { ...toOptions(repository), cutAt: FILE_PATCH_CHARACTERS });
  const hunks: Hunk[] = [];
  for (const text of stdout.split("\n")) {
    if (text.startsWith("@@ ")) hunks.push({ header: text.slice(0, 500), lines: [] });
    else if (text !== "") hunks.at(-1)?.lines.push(text);
  }
  return { hunks, cut };
}
