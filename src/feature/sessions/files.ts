/** The files of sessions that belong to no run, as those of chats: a folder each, which goes with the session or its user. */
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Store } from "../../store/store.ts";
import { type Copied, copyTree } from "../../working-copy/copy.ts";
import { openFolder, removeFolder } from "../../working-copy/folder.ts";

export interface SessionFiles {
  /** Copies the files of a session into the folder of another, which has none yet. */
  copy(from: string, to: string): Promise<Copied>;
  /** Removes the folders of sessions that are gone, or whose user is. */
  sweep(signal?: AbortSignal): Promise<void>;
}

const BOUNDS = {
  files: LIMITS.forkFiles,
  bytes: LIMITS.forkBytes,
  bytesOfFile: LIMITS.forkFileBytes,
};
const NOTHING: Copied = { files: 0, bytes: 0, leftOut: 0 };

/** @param folder of all working copies. */
export function createSessionFiles(store: Store, folder: string): SessionFiles {
  /** A session that nobody owns belongs to this machine's own user. */
  const isKept = (id: string): boolean =>
    store
      .statement(
        `SELECT 1 FROM sessions WHERE id = ? AND (user_id IS NULL OR EXISTS (SELECT 1 FROM users WHERE id = user_id)
           OR NOT EXISTS (SELECT 1 FROM users))`,
      )
      .get(id) !== undefined;
  return {
    async copy(from, to) {
      using all = openFolder(folder, "latin1");
      if (all.find(from)?.kind !== "folder") return NOTHING;
      using source = all.folder(from);
      await mkdir(join(folder, to), { mode: 0o755 });
      try {
        using target = all.folder(to);
        return await copyTree(source, target, BOUNDS);
      } catch (error) {
        await removeFolder(join(folder, to));
        throw error;
      }
    },
    async sweep(signal) {
      for (const name of await readdir(folder)) {
        if (signal?.aborted) return;
        if (isId("session", name) && !isKept(name)) await removeFolder(join(folder, name));
      }
    },
  };
}
