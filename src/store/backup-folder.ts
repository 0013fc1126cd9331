/** Checks the folder for scheduled backups, which an administrator named. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { sep } from "node:path";
import { codeOf } from "../core/errors.ts";

/**
 * What is wrong with the folder, as a sentence; undefined when it is usable. The folder is never created here: when its
 * disk is not mounted, the backups would fill the disk below the mount point.
 * @param data the data folder.
 */
export function wrongBackupFolder(path: string, data: string): string | undefined {
  try {
    if (!statSync(path).isDirectory()) return `${path} is not a folder`;
    accessSync(path, constants.W_OK | constants.X_OK);
    const [real, root] = [realpathSync(path), realpathSync(data)];
    const isInside = real === root || real.startsWith(root + sep);
    if (isInside) return `${path} is in the data folder: name one outside, on another disk if there is one`;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return `There is no folder ${path}: make it, or mount its disk`;
    return `${path} cannot be written by the server (${codeOf(error) ?? error})`;
  }
  return undefined;
}
