/** How near two files are to each other. */

/** How many characters of folders two paths begin with alike. */
export function sharedFolders(left: string, right: string): number {
  let same = 0;
  for (let i = 0; i < left.length && left[i] === right[i]; i++) if (left[i] === "/") same = i + 1;
  return same;
}
