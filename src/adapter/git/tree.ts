/** Files of a commit, by name: nothing of a working copy is read. */
import { createLineSplitter } from "../../core/line-splitter.ts";
import type { GitCommand } from "./command.ts";
import { assertRef } from "./names.ts";

interface TreeFile {
  path: string;
  bytes: number;
}

const PATH_BYTES = 16 * 1024;

/**
 * The regular files of a commit that are wanted, in git's order; links and submodules are none.
 * @param most files in all; those after them are left out.
 */
export async function filesIn(
  git: GitCommand,
  repository: string,
  commit: string,
  { wanted, most }: { wanted(path: string): boolean; most: number },
): Promise<TreeFile[]> {
  assertRef(commit);
  const found: TreeFile[] = [];
  const entries = createLineSplitter({
    maxBytes: PATH_BYTES,
    end: 0,
    onLine({ text }) {
      const [, bytes, path] = /^100\d+ blob [0-9a-f]{40,64} +(\d+)\t(.*)$/s.exec(text) ?? [];
      if (path === undefined || found.length >= most || path.includes("\ufffd") || !wanted(path)) return;
      found.push({ path, bytes: Number(bytes) });
    },
  });
  await git(["ls-tree", "-r", "-l", "-z", commit], { cwd: repository, gitDir: repository, onOutput: entries.add });
  return found;
}
