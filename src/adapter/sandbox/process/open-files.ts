/** Files of a workspace handed to a command as open descriptors: it opens no name, which could lead elsewhere by then. */
import type { OpenFile } from "../../../working-copy/folder.ts";
import { resolvePlace } from "../workspace-path.ts";

interface HandedFiles extends Disposable {
  /** To be the child's, from `FIRST` on. */
  descriptors: number[];
  /** What the child calls them, in this order. */
  arguments: string[];
  /** The output with files by their own names where a line begins. */
  named(output: string): string;
}

/** After a child's standard streams. */
const FIRST = 3;
const FOLDER = process.platform === "linux" ? "/proc/self/fd/" : "/dev/fd/";
const AT_LINE_START = new RegExp(`^${FOLDER}(\\d+)(?=[:-])`, "gm");

/** What is not, or no longer, a regular file inside the workspace is left out. */
export function openFiles(root: string, paths: readonly string[]): HandedFiles {
  const opened = paths.flatMap((path) => {
    const file = open(root, path);
    return file ? [{ path, file }] : [];
  });
  const nameOf = (number: string): string | undefined => opened[Number(number) - FIRST]?.path;
  return {
    descriptors: opened.map(({ file }) => file.descriptor),
    arguments: opened.map((_, at) => `${FOLDER}${at + FIRST}`),
    named: (output) =>
      opened.length === 0 ? output : output.replace(AT_LINE_START, (shown, number) => nameOf(number) ?? shown),
    [Symbol.dispose]() {
      for (const { file } of opened) file[Symbol.dispose]();
    },
  };
}

function open(root: string, path: string): OpenFile | undefined {
  try {
    using place = resolvePlace(root, path);
    return place.folder.openFile(place.name);
  } catch {
    return undefined;
  }
}
