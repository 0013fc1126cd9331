/**
 * Passes files of a workspace to a command as open descriptors. The command then opens no path, which could lead
 * elsewhere by that time.
 */
import type { OpenFile } from "../../../working-copy/folder.ts";
import { resolvePlace } from "../workspace-path.ts";

interface HandedFiles extends Disposable {
  /** Descriptors for the child, numbered from `FIRST` on. */
  descriptors: number[];
  /** Paths by which the child opens the descriptors, in the same order. */
  arguments: string[];
  /** Replaces these paths by the files' own names at the beginning of lines. */
  restoreNames(output: string): string;
}

/** Number of the first descriptor after a child's standard streams. */
const FIRST = 3;
const FOLDER = process.platform === "linux" ? "/proc/self/fd/" : "/dev/fd/";
const AT_LINE_START = new RegExp(`^${FOLDER}(\\d+)(?=[:-])`, "gm");

/** Opens files. A path that is not, or no longer, a regular file inside the workspace is left out. */
export function openFiles(root: string, paths: readonly string[]): HandedFiles {
  const opened = paths.flatMap((path) => {
    const file = open(root, path);
    return file ? [{ path, file }] : [];
  });
  const nameOf = (number: string): string | undefined => opened[Number(number) - FIRST]?.path;
  return {
    descriptors: opened.map(({ file }) => file.descriptor),
    arguments: opened.map((_, at) => `${FOLDER}${at + FIRST}`),
    restoreNames: (output) =>
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
