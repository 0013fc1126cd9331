/**
 * The files of sessions that belong to no run, such as chats. Each session has a folder, which is removed with the
 * session or its user.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { unavailable } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Store } from "../../store/store.ts";
import { type Copied, type CopyOptions, copyTree } from "../../working-copy/copy.ts";
import { openFolder, removeFolder } from "../../working-copy/folder.ts";
import { COPY_JOB } from "./model.ts";

export type SessionFiles = ReturnType<typeof createSessionFiles>;

const BOUNDS = {
  files: LIMITS.forkFiles,
  bytes: LIMITS.forkBytes,
  bytesOfFile: LIMITS.forkFileBytes,
};
const NOTHING: Copied = { files: 0, bytes: 0, leftOut: 0 };
/** Prefix of the name of a copied folder that is not complete. */
const DRAFT = "copying-";

/** @param folder the folder of all working copies. */
export function createSessionFiles(store: Store, folder: string) {
  /** Whether the session's files are kept. A session without an owner belongs to this machine's own user. */
  const isKept = (id: string): boolean =>
    store
      .statement(
        `SELECT 1 FROM sessions WHERE id = ? AND (user_id IS NULL OR EXISTS (SELECT 1 FROM users WHERE id = user_id)
           OR NOT EXISTS (SELECT 1 FROM users))`,
      )
      .get(id) !== undefined;
  const isCopying = (id: string): boolean =>
    store.statement("SELECT 1 FROM jobs WHERE kind = ? AND key = ? AND finished_at IS NULL").get(COPY_JOB, id) !==
    undefined;
  const isFolder = (id: string): boolean => {
    using all = openFolder(folder, "latin1");
    return all.find(id)?.kind === "folder";
  };
  return {
    /** Whether the session has a folder. */
    exist: isFolder,
    /** @throws Problem 503 `workspace_busy` while files are being copied into the session's folder. */
    assertComplete(id: string): void {
      if (isCopying(id)) throw unavailable("workspace_busy", "The files of the chat are still being copied.");
    },
    /**
     * Copies the files of a session into the folder of another one. The folder appears once it is complete; after a
     * crash, the copy may begin again.
     * @returns undefined when the folder exists already or its session is gone.
     */
    async copy(from: string, to: string, options?: CopyOptions): Promise<Copied | undefined> {
      if (isFolder(to) || !isKept(to)) return undefined;
      if (!isFolder(from)) return NOTHING;
      const draft = DRAFT + to;
      // Removes the draft of a process that was killed.
      await removeFolder(join(folder, draft));
      using all = openFolder(folder, "latin1");
      all.makeFolder(draft);
      try {
        using source = all.folder(from);
        using target = all.folder(draft);
        const copied = await copyTree(source, target, BOUNDS, options);
        options?.signal?.throwIfAborted();
        if (!isKept(to)) return undefined;
        all.rename(draft, to);
        return copied;
      } finally {
        await removeFolder(join(folder, draft));
      }
    },
    /** Copies the files that lie beside the project's repository from one working copy to another. May be repeated. */
    async copyBeside(from: string, to: string, options?: CopyOptions): Promise<Copied> {
      using all = openFolder(folder, "latin1");
      if (!isFolder(from)) return NOTHING;
      using source = all.folder(from);
      using target = all.folder(to);
      return await copyTree(source, target, BOUNDS, { ...options, beside: true });
    },
    /** Removes the folder of a session that is gone. */
    async remove(id: string): Promise<void> {
      if (isId("session", id) && !isKept(id)) await removeFolder(join(folder, id));
    },
    /** Removes the folders of sessions that are gone or whose user is gone, and drafts of canceled copies. */
    async sweep(signal?: AbortSignal): Promise<void> {
      for (const name of await readdir(folder)) {
        if (signal?.aborted) return;
        const copy = name.startsWith(DRAFT) ? name.slice(DRAFT.length) : undefined;
        const isGone = copy === undefined ? isId("session", name) && !isKept(name) : !isCopying(copy);
        if (isGone) await removeFolder(join(folder, name));
      }
    },
  };
}
