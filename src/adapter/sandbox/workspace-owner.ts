/** Who owns a workspace: the user its container runs as, never root. */
import { lchownSync, lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { errorCode, type Folder, type Owner, openFolder } from "./workspace-path.ts";

/** The user of containers when the server runs as root; in no distribution's range of real users. */
export const SANDBOX_OWNER: Owner = { uid: 10_001, gid: 10_001 };

/** The user a container runs as: the server's own, or the fixed one when that is root. */
export function sandboxOwner(server: Owner): Owner {
  return server.uid === 0 ? SANDBOX_OWNER : server;
}

/**
 * Gives everything in the workspace to `owner` (links themselves, not what they point to). Only root can and need do
 * this. Safe beside a running container of the same workspace: every step is relative to an open folder.
 */
export async function giveWorkspace(root: string, owner: Owner): Promise<void> {
  const folder = await openFolder(root);
  try {
    const { uid, gid } = await folder.handle.stat();
    if (uid !== owner.uid || gid !== owner.gid) await folder.handle.chown(owner.uid, owner.gid);
    await giveEntries(folder, owner);
  } finally {
    await folder.handle.close();
  }
}

/** Entries looked at before others get their turn: looking is microseconds, handing each to a thread is far more. */
const ENTRIES_AT_ONCE = 256;

async function giveEntries(folder: Folder, owner: Owner): Promise<void> {
  for (const [index, entry] of (await readdir(folder.path, { withFileTypes: true })).entries()) {
    if (index % ENTRIES_AT_ONCE === ENTRIES_AT_ONCE - 1) await new Promise((next) => setImmediate(next));
    const path = `${folder.path}/${entry.name}`;
    try {
      const { uid, gid } = lstatSync(path);
      if (uid !== owner.uid || gid !== owner.gid) lchownSync(path, owner.uid, owner.gid);
      if (!entry.isDirectory()) continue;
      const below = await openFolder(path);
      try {
        await giveEntries(below, owner);
      } finally {
        await below.handle.close();
      }
    } catch (error) {
      // Gone or replaced meanwhile by a container that works on the same files.
      if (!["ENOENT", "ENOTDIR", "ELOOP"].includes(errorCode(error))) throw error;
    }
  }
}
