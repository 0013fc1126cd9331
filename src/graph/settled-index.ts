/**
 * A copy of a repository's git index whose times git trusts.
 *
 * Git reads every file again that was written in the second in which its index was: after a clone that is all of them,
 * half a second for each comparison of 9,000 files, until something writes the index anew. The repository is not ours to
 * write to, so a copy is written anew, once for each state of the index.
 */
import { copyFileSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type GitPlace, git, gitWithoutFilters } from "./git.ts";

export interface SettledIndex {
  /** Path of the copy, brought up to date; undefined where there is no index or no room for a copy. */
  path(): Promise<string | undefined>;
}

/** @param folder where the copy is kept */
export function createSettledIndex(place: GitPlace, folder: string): SettledIndex {
  const copy = join(folder, "git-index");
  const stampFile = `${copy}.stamp`;
  let original: string | undefined;
  let last: Promise<string | undefined> = Promise.resolve(undefined);

  async function indexPath(): Promise<string | undefined> {
    const path = (await git(place, ["rev-parse", "--git-path", "index"]))?.trim();
    return path ? resolve(place.root, path) : undefined;
  }

  async function settled(): Promise<string | undefined> {
    try {
      original ??= await indexPath();
      if (original === undefined) return undefined;
      const { ino, size, mtimeMs, atime, mtime } = statSync(original);
      const stamp = `${ino} ${size} ${mtimeMs}`;
      if (readStamp() === stamp) return copy;
      rmSync(stampFile, { force: true });
      copyFileSync(original, copy);
      // With its own time: what was written in the same second is read once more, by the next command.
      utimesSync(copy, atime, mtime);
      const written = await gitWithoutFilters(place, ["update-index", "-q", "--force-write-index"], copy);
      if (written === undefined) return undefined;
      writeFileSync(stampFile, stamp);
      return copy;
    } catch {
      return undefined;
    }
  }

  function readStamp(): string {
    try {
      return statSync(copy).size > 0 ? readFileSync(stampFile, "utf8") : "";
    } catch {
      return "";
    }
  }

  return {
    path() {
      last = last.then(settled);
      return last;
    },
  };
}
