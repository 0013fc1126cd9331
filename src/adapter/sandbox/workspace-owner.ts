/** The owner of a workspace: the user that its container runs as, never root. */
import { takeTurns } from "../../core/turns.ts";
import { FileError, type Folder, type Owner, openFolder } from "../../working-copy/folder.ts";
import { walkBeneath } from "../../working-copy/walk.ts";

/** The user of containers when the server runs as root. No distribution gives this number to real users. */
const SANDBOX_OWNER: Owner = { uid: 10_001, gid: 10_001 };

/** The user that a container runs as: the server's own, or a fixed one when the server runs as root. */
export function sandboxOwner(server: Owner): Owner {
  return server.uid === 0 ? SANDBOX_OWNER : server;
}

/**
 * Gives everything in the workspace to `owner`; links are changed themselves, not their targets. Only root can do this,
 * and only root needs to. It is safe while a container uses the workspace, because every step starts from an open
 * folder.
 */
export async function giveWorkspace(root: string, owner: Owner): Promise<void> {
  using top = openFolder(root, "latin1");
  const turn = takeTurns();
  give(top, "", owner);
  for await (const { folder, entries } of walkBeneath(top, { leaveOut: "nothing" }))
    for (const { name } of entries) {
      const pause = turn();
      if (pause) await pause;
      give(folder, name, owner);
    }
}

function give(folder: Folder, name: string, owner: Owner): void {
  try {
    const stat = folder.find(name);
    if (stat && (stat.uid !== owner.uid || stat.gid !== owner.gid)) folder.chown(name, owner);
  } catch (error) {
    // A container that works on the same files has removed or replaced the entry.
    if (!(error instanceof FileError) || !["ENOENT", "ENOTDIR", "ELOOP"].includes(error.code)) throw error;
  }
}
