/**
 * Resolves paths inside a workspace so that nothing leads out of it, even while an agent moves files. It goes folder by
 * folder through open descriptors (working-copy/folder.ts), which follow no link. Links are resolved here against the
 * workspace's root, as the agent's container sees them.
 */
import { badRequest, forbidden, Problem } from "../../core/errors.ts";
import { type Folder, type Owner, openFolder } from "../../working-copy/folder.ts";

export type { Owner };

/** Path at which containers mount the workspace; every sandbox accepts it. */
export const MOUNT_POINT = "/workspace";
const MAX_LINKS = 40;
const MAX_PATH_CHARACTERS = 4_096;

/** One entry of an open folder, which the caller disposes of. */
export interface Place extends Disposable {
  /** The folder that contains the entry. */
  folder: Folder;
  /** Name of the entry. It was not a link when it was checked, and need not exist. "" is the workspace itself. */
  name: string;
  /** Path relative to the workspace, with links resolved. */
  relative: string;
}

const createOutsideProblem = (path: string) =>
  forbidden(`The path ${JSON.stringify(path)} leads out of the workspace.`, "outside_workspace");
const createMissingProblem = (path: string) =>
  new Problem(404, "file_not_found", `There is no ${JSON.stringify(path)}.`);

/** Splits a caller's path into components from the workspace's root. Throws 403 for an absolute path elsewhere. */
function componentsOf(root: string, path: string): string[] {
  if (path.includes("\0") || path.length > MAX_PATH_CHARACTERS) throw badRequest("This is not a usable path.");
  const splitPath = (text: string) => text.split("/").filter((part) => part !== "" && part !== ".");
  if (!path.startsWith("/")) return splitPath(path);
  for (const base of [MOUNT_POINT, root])
    if (path === base || path.startsWith(`${base}/`)) return splitPath(path.slice(base.length));
  throw createOutsideProblem(path);
}

/**
 * Opens the folder that contains `path`.
 * @param make whether to make missing parent folders, and their owner
 * @throws Problem 403 `outside_workspace`, 404 `file_not_found`, 503 `workspace_missing`, 400
 */
export function resolvePlace(root: string, path: string, make: Owner | boolean = false): Place {
  const stack = [{ folder: openRoot(root), name: "" }];
  const pop = () => {
    if (stack.length === 1) throw createOutsideProblem(path);
    stack.pop()!.folder.close();
  };
  const placeOf = (name: string): Place => {
    const { folder } = stack.at(-1)!;
    const relative = [...stack.slice(1).map((step) => step.name), name].filter((part) => part !== "").join("/");
    return { folder, name, relative, [Symbol.dispose]: () => closeAll(stack) };
  };
  try {
    let links = 0;
    const queue = componentsOf(root, path);
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      if (name === "..") {
        pop();
        continue;
      }
      const { folder } = stack.at(-1)!;
      const found = folder.find(name);
      if (found?.kind !== "link") {
        if (queue.length === 0) return placeOf(name);
        stack.push({ folder: found || make === false ? folder.folder(name) : makeFolder(folder, name, make), name });
        continue;
      }
      if (++links > MAX_LINKS) throw badRequest(`Too many symbolic links in ${JSON.stringify(path)}.`);
      const target = folder.readLink(name);
      if (target.startsWith("/")) while (stack.length > 1) pop();
      queue.unshift(...componentsOf(root, target));
    }
    const last = stack.at(-1)!;
    if (stack.length === 1) return placeOf("");
    stack.pop();
    last.folder.close();
    return placeOf(last.name);
  } catch (error) {
    closeAll(stack);
    throw asPathProblem(error, path);
  }
}

function closeAll(stack: readonly { folder: Folder }[]): void {
  for (const { folder } of stack) folder.close();
}

function makeFolder(parent: Folder, name: string, owner: Owner | true): Folder {
  try {
    parent.makeFolder(name);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
  const made = parent.folder(name);
  if (owner !== true) made.chown("", owner);
  return made;
}

function openRoot(root: string): Folder {
  try {
    return openFolder(root);
  } catch {
    // The message must not tell the host's path inside the sandbox.
    throw new Problem(503, "workspace_missing", "The workspace's folder does not exist.");
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Turns file system errors about a path into Problems, without the host's paths. */
export function asPathProblem(error: unknown, path: string): unknown {
  const shown = JSON.stringify(path);
  switch (errorCode(error)) {
    case "ENOENT":
      return createMissingProblem(path);
    case "ELOOP":
    case "EXDEV":
      return createOutsideProblem(path);
    case "ENOTDIR":
      return badRequest(`A part of ${shown} is not a folder.`, "not_a_folder");
    case "EISDIR":
      return badRequest(`${shown} is a folder.`, "is_a_folder");
    case "ENXIO":
      return badRequest(`${shown} is not a regular file.`, "not_a_file");
    case "EAGAIN":
      return new Problem(409, "file_busy", `${shown} is held by a process that writes it. Try again.`);
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
