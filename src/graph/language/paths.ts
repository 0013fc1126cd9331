/** Paths of a repository: relative to the root, with forward slashes; "" is the root itself. */

export function dirname(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}

export function basename(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Joins and normalizes. A path that leads above the root exists nowhere ("../x"). */
export function join(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of `${folder}/${path}`.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/");
}

/** How near two files are: the number of characters in the folders with which both paths begin. */
export function sharedFolders(left: string, right: string): number {
  let same = 0;
  for (let i = 0; i < left.length && left[i] === right[i]; i++) if (left[i] === "/") same = i + 1;
  return same;
}
