/** Lists files of a commit without reading a working copy. */
import { eachField, type GitCommand } from "./command.ts";
import { assertRef } from "./names.ts";

interface TreeFile {
  path: string;
  bytes: number;
}

/**
 * Lists the regular files of a commit that `isWanted` accepts, in git's order; links and submodules are left out.
 * @param most files to list; those after them are left out.
 */
export async function filesIn(
  git: GitCommand,
  repository: string,
  commit: string,
  { isWanted, most }: { isWanted(path: string): boolean; most: number },
): Promise<TreeFile[]> {
  assertRef(commit);
  const found: TreeFile[] = [];
  const at = { cwd: repository, gitDir: repository };
  await eachField(git, ["ls-tree", "-r", "-l", "-z", commit], at, (text) => {
    const [, bytes, path] = /^100\d+ blob [0-9a-f]{40,64} +(\d+)\t(.*)$/s.exec(text) ?? [];
    if (path === undefined || found.length >= most || path.includes("\ufffd") || !isWanted(path)) return;
    found.push({ path, bytes: Number(bytes) });
  });
  return found;
}
