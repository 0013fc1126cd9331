/**
 * Reads files of a repository by path. Only regular files of a bounded size are read, never through a link that leads
 * outside.
 */
import { FileError, type OpenFile, openFolder } from "../../working-copy/folder.ts";

/** Larger files, in bytes, are not source that people read. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** An open repository. Close it when its files have been read. */
export interface SourceFiles extends Disposable {
  /** Opens a file. @throws FileError `EFBIG` for a file over the limit, and the errors of `Folder.openFile` */
  open(path: string): OpenFile;
  /** The text of a file; undefined if it cannot be read. */
  text(path: string): string | undefined;
}

/** Reads configuration files of a folder as `text` does. Each file is read once, and nothing stays open. */
export function createConfigReader(root: string): (path: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (path) => {
    if (!known.has(path)) {
      using sources = openSources(root);
      known.set(path, sources.text(path));
    }
    return known.get(path);
  };
}

/** @param root absolute path. @throws when it is not a folder. */
export function openSources(root: string): SourceFiles {
  const top = openFolder(root);
  return {
    open(path) {
      const file = top.openFile(path);
      if (file.stat.size <= MAX_FILE_BYTES) return file;
      file[Symbol.dispose]();
      throw new FileError("EFBIG", "read");
    },
    text(path) {
      try {
        return top.readFile(path, MAX_FILE_BYTES).toString();
      } catch {
        return undefined;
      }
    },
    [Symbol.dispose]: () => top.close(),
  };
}
