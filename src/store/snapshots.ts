/** Snapshots of a folder of texts: while one answer is made, every file and folder is read only once. */
import { takeTurns } from "../core/turns.ts";
import type { FolderEntry, TextFile } from "./text-folder.ts";

/** What was found on disk, by path. */
interface Snapshot {
  lists: Map<string, readonly FolderEntry[]>;
  files: Map<string, TextFile | undefined>;
  /** Real paths of folders. */
  folders: Map<string, string | undefined>;
  /** A new object after each of our own changes. */
  moment: object;
}

const emptySnapshot = (): Snapshot => ({
  lists: new Map(),
  files: new Map(),
  folders: new Map(),
  moment: {},
});

/** Drops what was found at the path, or may have changed with it, so that it is read again. */
const forgetIn = (taken: Snapshot, path: string): void => {
  const { lists, files, folders } = taken;
  taken.moment = {};
  const isOf = (one: string) => one === path || one.startsWith(`${path}/`);
  // A folder above the path may have been created.
  const isAround = (one: string) => one === "" || isOf(one) || path.startsWith(`${one}/`);
  for (const one of lists.keys()) if (isAround(one)) lists.delete(one);
  for (const one of folders.keys()) if (isAround(one)) folders.delete(one);
  for (const one of files.keys()) if (isOf(one)) files.delete(one);
};

export function createSnapshots() {
  let snapshot: Snapshot | undefined;
  const preparing = new Set<Snapshot>();
  const runIn = <T>(taken: Snapshot, work: () => T): T => {
    const outer = snapshot;
    snapshot = taken;
    try {
      return work();
    } finally {
      snapshot = outer;
    }
  };
  return {
    /** The current snapshot; undefined outside of one. */
    current: () => snapshot,
    take<T>(work: () => T): T {
      return snapshot === undefined ? runIn(emptySnapshot(), work) : work();
    },
    async takeInTurns<T>(look: () => Iterable<void>, work: () => T): Promise<T> {
      const taken = emptySnapshot();
      preparing.add(taken);
      try {
        const turn = takeTurns();
        const steps = look()[Symbol.iterator]();
        while (!runIn(taken, () => steps.next()).done) await turn();
        return runIn(taken, work);
      } finally {
        preparing.delete(taken);
      }
    },
    /** Call it after changing a file, or a folder with its content. */
    forget(path: string): void {
      for (const one of snapshot ? [snapshot, ...preparing] : preparing) forgetIn(one, path);
    },
  };
}
