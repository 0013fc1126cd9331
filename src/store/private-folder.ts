/**
 * Protects the data folder from other users. Everything in it is for its owner only: folders 0700, files 0600 (or 0700
 * if the owner may execute them), however they were created or copied.
 *
 * Folders of projects, runs, chats and tool servers are closed themselves. Their content belongs to agents and tool
 * servers, which may be at work, and nobody else can reach it through a closed folder. Everything is done by
 * descriptors, and no link is followed.
 */
import { join } from "node:path";
import { type Folder, openFolder } from "../working-copy/folder.ts";
import { joinPath } from "../working-copy/walk.ts";

/** Parts whose entries are folders that containers can write; nothing below those is changed. */
const SHALLOW = new Set(["projects", "workspaces", "mcp"]);
const OTHERS = 0o077;

/** Files and folders that other users have any rights to, as paths from the data folder ("." is the folder itself). */
export function exposedPaths(root: string): string[] {
  using top = openRoot(root);
  return top ? exposedIn(top) : [];
}

/** Removes all rights of other users. @returns what they had rights to, and what of it could not be closed. */
export function closeToOthers(root: string): { closed: string[]; failed: string[] } {
  const closed: string[] = [];
  const failed: string[] = [];
  using top = openRoot(root);
  if (top) for (const path of exposedIn(top)) (closeOne(top, path === "." ? "" : path) ? closed : failed).push(path);
  return { closed, failed };
}

/** Undefined when the folder does not exist, or this user may not list it. */
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
    visit(top, above, (name, { kind, mode }) => {
      const below = joinPath(above, name);
      if (mode & OTHERS) found.push(below);
      if (kind === "folder" && !SHALLOW.has(above)) waiting.push(below);
    });
  }
  return found;
}

type Seen = ReturnType<Folder["stat"]>;

/** Visits the files and folders in a folder. Visits nothing when the folder is gone, or this user may not list it. */
function visit(top: Folder, path: string, see: (name: string, stat: Seen) => void): void {
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
    // Some file systems accept the call but do not change the rights.
    return (top.restrict(path, 0o700) & OTHERS) === 0;
  } catch {
    return false;
  }
}
