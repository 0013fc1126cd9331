/** Measures folders that agents write, in a separate process, because walking a large tree would block other work. */
import { openFolder } from "../working-copy/folder.ts";
import { walkBeneath } from "../working-copy/walk.ts";

export interface FolderSize {
  name: string;
  files: number;
  bytes: number;
}

interface Order {
  /** Path of the folder that contains the folders to measure. */
  folder: string;
  names: readonly string[];
}

/** Counting stops here: beyond every limit, an exact number is not needed. */
const MOST_FILES = 5_000_000;
const TIME_LIMIT_MS = 600_000;

/** Runs until its one order is carried out, or its parent process is gone. */
export function runMeasureWorker(): void {
  if (!process.send) throw new Error("measure-worker is started by the server, over IPC");
  process.on("disconnect", () => process.exit(0));
  process.on("message", async ({ folder, names }: Order) => {
    for (const name of names) process.send?.((await sizeOfFolder(folder, name)) ?? { name, gone: true });
    process.exit(0);
  });
}

/** Links count as files and are not followed. @returns undefined when there is no such folder. */
export async function sizeOfFolder(parent: string, name: string): Promise<FolderSize | undefined> {
  const size: FolderSize = { name, files: 0, bytes: 0 };
  try {
    using all = openFolder(parent, "latin1");
    if (all.find(name)?.kind !== "folder") return undefined;
    using top = all.folder(name);
    for await (const { folder, entries } of walkBeneath(top, { leaveOut: "nothing" }))
      for (const { name: file, kind } of entries) {
        if (kind === "folder") continue;
        size.files++;
        size.bytes += folder.findListed(file)?.size ?? 0;
        if (size.files >= MOST_FILES) return size;
      }
  } catch {
    // A folder was removed, or replaced by a link, meanwhile. The next measurement will be right.
  }
  return size;
}

/**
 * @param command line of a measure worker.
 * @returns a function that measures folders of `parent`. `onFound` gets each in turn, with null for a missing one.
 *   Rejects when the process fails, is too slow, or is aborted.
 */
export const createMeasuring =
  (command: readonly string[], parent: string) =>
  (
    names: readonly string[],
    onFound: (name: string, size: FolderSize | null) => void,
    signal?: AbortSignal | undefined,
  ): Promise<void> =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      let left = names.length;
      const child = Bun.spawn([...command], {
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
        env: {},
        ipc(answer: FolderSize | { name: string; gone: true }) {
          left--;
          onFound(answer.name, "gone" in answer ? null : answer);
        },
        onExit(_, code, killedBy) {
          clearTimeout(late);
          signal?.removeEventListener("abort", stop);
          if (left === 0) resolve();
          else reject(new Error(`the process that measures workspaces ended early (${killedBy ?? code})`));
        },
      });
      const stop = () => child.kill("SIGKILL");
      const late = setTimeout(stop, TIME_LIMIT_MS);
      signal?.addEventListener("abort", stop, { once: true });
      child.send({ folder: parent, names: [...names] } satisfies Order);
    });
