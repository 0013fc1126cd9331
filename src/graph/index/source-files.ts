/** Reads files of a repository by path: regular files of a bounded size, never through a link that leads outside. */
import { FileError, type OpenFile, openFolder } from "../../working-copy/folder.ts";

/** Files over this many bytes are not source that people read. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** An open repository; close it when its files are read. */
export interface SourceFiles extends Disposable {
  /** @throws FileError `EFBIG` for a larger one, and as `Folder.openFile`. */
  open(path: string): OpenFile;
  /** Undefined for what cannot be read. */
  text(path: string): string | undefined;
}

/** Reads configuration files of a folder as `text` does, each of them once; nothing stays open. */
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
