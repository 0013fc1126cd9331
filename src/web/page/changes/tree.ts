/** Changed files as rows of a tree. A folder that contains only one folder shares a row with it. */

/** A file as the API lists it. */
export interface ChangedFile {
  path: string;
  status: "added" | "modified" | "deleted" | "type_changed";
  /** Number of lines; null for a binary file. */
  insertions: number | null;
  deletions: number | null;
}

export type TreeRow =
  | { kind: "folder"; path: string; name: string; depth: number; open: boolean; files: number }
  | { kind: "file"; path: string; name: string; depth: number; file: ChangedFile };

interface Folder {
  /** Files and folders by name, in the order of the list. */
  inside: Map<string, Folder | ChangedFile>;
  /** Number of files in the folder and below it. */
  count: number;
}

const newFolder = (): Folder => ({ inside: new Map(), count: 0 });
const isFolder = (one: Folder | ChangedFile | undefined): one is Folder => one !== undefined && "inside" in one;

function treeOf(files: readonly ChangedFile[]): Folder {
  const root = newFolder();
  for (const file of files) {
    let folder = root;
    folder.count++;
    for (const name of file.path.split("/").slice(0, -1)) {
      let inner = folder.inside.get(name);
      if (!isFolder(inner)) {
        inner = newFolder();
        folder.inside.set(name, inner);
      }
      folder = inner;
      folder.count++;
    }
    folder.inside.set(`/${file.path}`, file);
  }
  return root;
}

/** @param closed paths of the folded folders. @returns the visible rows, in the order of the files. */
export function rowsOf(files: readonly ChangedFile[], closed: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  const visit = (folder: Folder, path: string, depth: number): void => {
    for (const [first, one] of folder.inside) {
      if (!isFolder(one)) {
        const name = one.path.slice(one.path.lastIndexOf("/") + 1);
        rows.push({ kind: "file", path: one.path, name, depth, file: one });
        continue;
      }
      let [name, at] = [first, one];
      for (let only = onlyFolderOf(at); only; only = onlyFolderOf(at)) [name, at] = [`${name}/${only[0]}`, only[1]];
      const whole = path === "" ? name : `${path}/${name}`;
      const open = !closed.has(whole);
      rows.push({ kind: "folder", path: whole, name, depth, open, files: at.count });
      if (open) visit(at, whole, depth + 1);
    }
  };
  visit(treeOf(files), "", 0);
  return rows;
}

function onlyFolderOf({ inside }: Folder): [string, Folder] | undefined {
  const [first] = inside;
  return inside.size === 1 && first && isFolder(first[1]) ? [first[0], first[1]] : undefined;
}

/** The files whose path contains every word. */
export function filterFiles(files: readonly ChangedFile[], text: string): readonly ChangedFile[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return files;
  return files.filter(({ path }) => {
    const whole = path.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}
