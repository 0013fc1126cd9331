/**
 * Who may open the data folder. Everything in it is for its owner alone: folders 0700, files 0600 (or 0700 where the
 * owner may execute them), whatever they were made with or copied from.
 *
 * Working copies of projects and runs are closed at their own folder: what is below belongs to agents, and a path there
 * is never followed.
 */
import { closeSync, constants, fchmodSync, lstatSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Parts whose entries are working copies and what belongs to them. */
const SHALLOW = new Set(["projects", "workspaces"]);
const OTHERS = 0o077;
const NO_LINK = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Files and folders that other users have any right to, as paths from the data folder ("." is the folder itself). */
export function exposedPaths(root: string): string[] {
  const found: string[] = [];
  const look = (path: string, depth: number): void => {
    const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (!stat || !(stat.isFile() || stat.isDirectory())) return;
    if (stat.mode & OTHERS) found.push(path);
    if (!stat.isDirectory() || depth === 0) return;
    for (const name of namesIn(join(root, path))) {
      const below = path === "." ? name : join(path, name);
      look(below, path === "." && SHALLOW.has(name) ? 1 : depth - 1);
    }
  };
  look(".", Number.POSITIVE_INFINITY);
  return found;
}

/** Empty for a folder that this user may not list. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Takes every right of other users away. @returns what was open, and what of it could not be closed. */
export function closeToOthers(root: string): { closed: string[]; failed: string[] } {
  const closed: string[] = [];
  const failed: string[] = [];
  for (const path of exposedPaths(root)) (closeOne(join(root, path)) ? closed : failed).push(path);
  return { closed, failed };
}

function closeOne(path: string): boolean {
  try {
    const file = openSync(path, NO_LINK);
    try {
      fchmodSync(file, lstatSync(path).mode & 0o700);
    } finally {
      closeSync(file);
    }
    // Some file systems accept the call but keep their own rights.
    return (lstatSync(path).mode & OTHERS) === 0;
  } catch {
    return false;
  }
}
