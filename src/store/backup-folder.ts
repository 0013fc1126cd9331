/** Where scheduled backups go: a folder that an administrator named. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { sep } from "node:path";
import { codeOf } from "../core/errors.ts";

/**
 * What is wrong with that folder, as a sentence; undefined: nothing. It is never made here: where a disk is not mounted, the
 * backups would fill the disk below.
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
