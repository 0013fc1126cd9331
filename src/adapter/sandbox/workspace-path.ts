/**
 * Paths inside a workspace, resolved so that nothing leads out of it, also while an agent moves things about. Every
 * step opens one component relative to the folder opened before, never following a link; links are read and resolved
 * here, against the workspace's root. On Linux "relative to an open folder" is `/proc/self/fd/N/name`, which holds
 * against races. Elsewhere plain paths are used: there only the process sandbox without a shell works on the host's
 * files directly, and its tools cannot make links.
 */
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readlink } from "node:fs/promises";
import { platform } from "node:process";
import { badRequest, forbidden, Problem } from "../../core/errors.ts";

/** Where the workspace is mounted in a container; understood in every sandbox. */
export const MOUNT_POINT = "/workspace";
const MAX_LINKS = 40;
const MAX_PATH_CHARACTERS = 4_096;

export interface Owner {
  uid: number;
  gid: number;
}

/** An open folder. */
export interface Folder {
  handle: FileHandle;
  /** Put before `/name` to reach an entry of exactly this folder. */
  path: string;
}

/** One entry of an open folder; `name` is `.` for the workspace itself. */
export interface Place {
  /** To be used with O_NOFOLLOW (or calls that do not follow links). */
  path: string;
  /** Of the folder that holds it, for a neighbour's name. */
  folderPath: string;
  name: string;
  /** Relative to the workspace, links resolved. */
  relative: string;
  close(): Promise<void>;
}

export const outside = (path: string) =>
  forbidden(`The path ${JSON.stringify(path)} leads out of the workspace.`, "outside_workspace");
export const missing = (path: string) => new Problem(404, "file_not_found", `There is no ${JSON.stringify(path)}.`);

export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** A path as a caller gives it, as components from the root. Throws 403 for an absolute path elsewhere. */
function componentsOf(root: string, path: string): string[] {
  if (path.includes("\0") || path.length > MAX_PATH_CHARACTERS) throw badRequest("This is no usable path.");
  if (!path.startsWith("/")) return path.split("/");
  for (const base of [MOUNT_POINT, root])
    if (path === base || path.startsWith(`${base}/`)) return path.slice(base.length).split("/");
  throw outside(path);
}

/** Opens a folder; fails with ELOOP or ENOTDIR when the last component is a link. The caller closes the handle. */
export async function openFolder(path: string): Promise<Folder> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  return { handle, path: platform === "linux" ? `/proc/self/fd/${handle.fd}` : path };
}

/** The link's target, undefined when it is no link or nothing at all. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (["EINVAL", "ENOENT", "UNKNOWN"].includes(errorCode(error))) return undefined;
    throw error;
  }
}

async function enter(folder: Folder, name: string, make: Owner | boolean): Promise<Folder> {
  const path = `${folder.path}/${name}`;
  try {
    return await openFolder(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || make === false) throw error;
  }
  await mkdir(path, { mode: 0o755 }).catch((error) => {
    if (errorCode(error) !== "EEXIST") throw error;
  });
  const made = await openFolder(path);
  if (typeof make === "object") await made.handle.chown(make.uid, make.gid);
  return made;
}

/**
 * Opens the folder that holds `path` and names the entry in it, which is no link at that moment and need not exist.
 * `make`: missing folders on the way are made (and given to that owner). The caller closes the place.
 * Throws Problem 403 `outside_workspace`, 404 `file_not_found`, 400.
 */
export async function resolvePlace(root: string, path: string, make: Owner | boolean = false): Promise<Place> {
  const stack: { folder: Folder; name: string }[] = [{ folder: await openRoot(root), name: "" }];
  const close = async () => {
    await Promise.all(stack.splice(0).map(({ folder }) => folder.handle.close()));
  };
  const pop = async () => {
    if (stack.length === 1) throw outside(path);
    await stack.pop()?.folder.handle.close();
  };
  const place = (name: string): Place => {
    const folderPath = stack.at(-1)!.folder.path;
    const relative = [...stack.slice(1).map((step) => step.name), name].filter((part) => part !== ".").join("/");
    // "/." behind the folder's own path: that path may itself be a link, which O_NOFOLLOW would refuse.
    return { path: `${folderPath}/${name}`, folderPath, name, relative, close };
  };
  try {
    let links = 0;
    const queue = componentsOf(root, path).filter((part) => part !== "" && part !== ".");
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      if (name === "..") {
        await pop();
        continue;
      }
      const { folder } = stack.at(-1)!;
      const target = await linkTarget(`${folder.path}/${name}`);
      if (target === undefined) {
        if (queue.length === 0) return place(name);
        stack.push({ folder: await enter(folder, name, make), name });
        continue;
      }
      if (++links > MAX_LINKS) throw badRequest(`Too many symbolic links in ${JSON.stringify(path)}.`);
      if (target.startsWith("/")) while (stack.length > 1) await pop();
      queue.unshift(...componentsOf(root, target).filter((part) => part !== "" && part !== "."));
    }
    const last = stack.pop()!;
    if (stack.length === 0) {
      stack.push(last);
      return place(".");
    }
    await last.folder.handle.close();
    return place(last.name);
  } catch (error) {
    await close();
    throw asPathProblem(error, path);
  }
}

async function openRoot(root: string): Promise<Folder> {
  try {
    return await openFolder(root);
  } catch {
    // Its host path is nobody's business inside.
    throw new Problem(503, "workspace_missing", "The workspace's folder is not there.");
  }
}

/** Failures of the file system on the way to a path, said without the host's paths. */
export function asPathProblem(error: unknown, path: string): unknown {
  const shown = JSON.stringify(path);
  switch (errorCode(error)) {
    case "ENOENT":
      return missing(path);
    case "ELOOP":
      return outside(path);
    case "ENOTDIR":
      return badRequest(`A part of ${shown} is no folder.`, "not_a_folder");
    case "EISDIR":
      return badRequest(`${shown} is a folder.`, "is_a_folder");
    case "ENXIO":
      return badRequest(`${shown} is no regular file.`, "not_a_file");
    case "ENAMETOOLONG":
      return badRequest("The path is too long.");
    case "EACCES":
    case "EPERM":
      return forbidden(`Permission denied: ${shown}.`, "permission_denied");
    case "ENOSPC":
    case "EDQUOT":
      return new Problem(507, "disk_full", "There is no space left for the workspace.");
    default:
      return error;
  }
}
