/**
 * Who may open the data folder. Everything in it is for its owner alone: folders 0700, files 0600 (or 0700 where the
 * owner may execute them), whatever they were made with or copied from.
 *
 * Folders of projects, runs, chats and tool servers are closed themselves: what is below belongs to agents and tool
 * servers, which may be at work, and is reached by nobody else through a closed folder. All is done by descriptors, and no
 * link is followed.
 */
import { join } from "node:path";
import { type Folder, openFolder } from "../working-copy/folder.ts";
import { joined } from "../working-copy/walk.ts";

/** Parts whose entries are folders that a container can write. */
const SHALLOW = new Set(["projects", "workspaces", "mcp"]);
const OTHERS = 0o077;

/** Files and folders that other users have any right to, as paths from the data folder ("." is the folder itself). */
export function exposedPaths(root: string): string[] {
  using top = openRoot(root);
  return top ? exposedIn(top) : [];
}

/** Takes every right of other users away. @returns what was open, and what of it could not be closed. */
export function closeToOthers(root: string): { closed: string[]; failed: string[] } {
  const closed: string[] = [];
  const failed: string[] = [];
  using top = openRoot(root);
  if (top) for (const path of exposedIn(top)) (closeOne(top, path === "." ? "" : path) ? closed : failed).push(path);
  return { closed, failed };
}

/** Undefined where there is none, and for one that this user may not list. */
function openRoot(root: string): Folder | undefined {
  try {
    return openFolder(join(root, "."));
  } catch {
    return undefined;
  }
}

function exposedIn(top: Folder): string[] {
  const found = top.stat("").mode & OTHERS ? ["."] : [];
  const waiting = [""];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const above = path;
    look(top, above, (name, { kind, mode }) => {
      const below = joined(above, name);
      if (mode & OTHERS) found.push(below);
      if (kind === "folder" && !SHALLOW.has(above)) waiting.push(below);
    });
  }
  return found;
}

type Seen = ReturnType<Folder["stat"]>;

/** Nothing in a folder that this user may not list, or that is gone. */
function look(top: Folder, path: string, see: (name: string, stat: Seen) => void): void {
  try {
    using folder = top.folder(path);
    for (const { name } of folder.list()) {
      const stat = folder.findListed(name);
      if (stat?.kind === "file" || stat?.kind === "folder") see(name, stat);
    }
  } catch {}
}

function closeOne(top: Folder, path: string): boolean {
  try {
    // Some file systems accept the call but keep their own rights.
    return (top.restrict(path, 0o700) & OTHERS) === 0;
  } catch {
    return false;
  }
}
